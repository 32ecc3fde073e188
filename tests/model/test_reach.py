"""What can still send a token to an inclusive join: the masks, checked by a plain search over random graphs."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from procession.model.definition import Definition, Kind
from procession.model.reach import components
from procession.testing.bpmn import process as build
from tests.model.models import codes, compiled


def upstream(definition: Definition, join: str) -> dict[str, set[str]]:
    """For each incoming flow of a join, the ids of the elements in its mask."""
    element = definition.element(join)
    return {
        definition.flows[flow].id: {other.id for other in definition.elements if mask >> other.index & 1}
        for flow, mask in zip(element.incoming, element.upstream, strict=True)
    }


def test_each_flow_is_reached_by_what_stands_before_it():
    model = (
        build("p").start().inclusive("split").when("=a").task("a").inclusive("join").end()
        .at("split").when("=b").task("b1").task("b2").to("join")
    )  # fmt: skip
    masks = upstream(compiled(model), "join")
    assert masks == {"a_join": {"start", "split", "a"}, "b2_join": {"start", "split", "b1", "b2"}}


def test_a_path_through_the_join_itself_does_not_count():
    model = (
        build("p").start().inclusive("join").user("after").exclusive("again").when("=x").to("join")
        .at("again").otherwise().end()
    )  # fmt: skip
    masks = upstream(compiled(model), "join")
    assert masks == {"start_join": {"start"}, "again_join": {"after", "again"}}


def test_a_loop_before_the_join_is_reached_as_a_whole():
    model = (
        build("p").start().parallel("fork").exclusive("m").user("t").exclusive("x").when("=again").to("m")
        .at("x").otherwise().inclusive("join").end().at("fork").user("u").to("join")
    )  # fmt: skip
    masks = upstream(compiled(model), "join")
    assert masks["x_join"] == {"start", "fork", "m", "t", "x"}
    assert masks["u_join"] == {"start", "fork", "u"}


def test_boundary_events_are_reached_from_their_host_and_links_are_followed():
    model = (
        build("p").start().parallel("fork").user("host").end("other").boundary("b", on="host", timer="PT1H")
        .throw("jump", link="L").catch("land", link="L").inclusive("join").end()
        .at("fork").user("u").to("join")
    )  # fmt: skip
    masks = upstream(compiled(model), "join")
    assert masks["land_join"] == {"start", "fork", "host", "b", "jump", "land"}


def test_elements_of_other_scopes_never_count():
    model = (
        build("p").start().parallel("fork").sub_process("sub").start("s").user("inner").end("e").done()
        .inclusive("join").end().at("fork").user("u").to("join")
    )  # fmt: skip
    masks = upstream(compiled(model), "join")
    assert masks["sub_join"] == {"start", "fork", "sub"}


def test_a_complex_join_has_masks_too():
    model = (
        build("p").start().complex("split").when("=a").complex("join").end().at("split").when("=b").user("u").to("join")
    )
    assert upstream(compiled(model), "join")["u_join"] == {"start", "split", "u"}


NODES = 9


@given(st.sets(st.tuples(st.integers(0, NODES - 1), st.integers(0, NODES - 1)), max_size=24))
def test_masks_are_those_of_a_plain_search(edges: set[tuple[int, int]]):
    model = build("p").start("n0")
    for node in range(1, NODES):
        model.apart()
        (model.inclusive if node % 2 else model.user)(f"n{node}")
    for source, target in sorted(edges | {(0, 1), (0, 3), (0, 5), (0, 7)}):
        if target != 0:
            model.at(f"n{source}").to(f"n{target}")
    definition = compiled(model, lenient=True)
    before = {element.index: [definition.flows[f].source for f in element.incoming] for element in definition.elements}
    for join in definition.elements:
        if join.kind != Kind.INCLUSIVE_GATEWAY:
            continue
        for flow, mask in zip(join.incoming, join.upstream, strict=False):
            assert mask == plain_search(before, definition.flows[flow].source, join.index)


def plain_search(before: dict[int, list[int]], source: int, join: int) -> int:
    """The same by walking backwards, one element at a time."""
    if source == join:
        return 0
    found, stack = {source}, [source]
    while stack:
        for node in before[stack.pop()]:
            if node != join and node not in found:
                found.add(node)
                stack.append(node)
    return sum(1 << node for node in found)


@given(st.dictionaries(st.integers(0, 7), st.lists(st.integers(0, 7), max_size=4), min_size=1))
def test_components_hold_what_reaches_each_other_predecessors_first(graph: dict[int, list[int]]):
    before = {node: [other for other in others if other in graph] for node, others in graph.items()}
    found = components(before)
    assert sorted(node for members in found for node in members) == sorted(graph)
    place = {node: number for number, members in enumerate(found) for node in members}
    for node, others in before.items():
        for other in others:
            assert place[other] <= place[node]
            mutual = plain_search(before, other, -1) >> node & 1
            assert (place[other] == place[node]) == bool(mutual)


def ladder(rungs: int) -> bytes:
    """Inclusive splits and joins one behind the other."""
    model = build("p").start("s")
    for number in range(rungs):
        model.inclusive(f"split{number}").when("=a").user(f"a{number}").inclusive(f"join{number}")
        model.at(f"split{number}").when("=b").user(f"b{number}").to(f"join{number}").at(f"join{number}")
    return model.end().xml()


def test_a_thousand_inclusive_joins_are_precomputed_in_a_second():
    content = ladder(1_000)
    before = time.perf_counter()
    definition = compiled(content)
    assert time.perf_counter() - before < 5  # about 0.6 s; generous for a loaded machine
    assert definition.element("join999").upstream[0].bit_count() == 4_000 - 1


def test_joins_that_need_too_much_work_are_refused_by_the_name_of_the_limit(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("procession.model.reach.REACH_STEPS_MAX", 10)
    model = build("p").start().inclusive("m")
    for number in range(10):
        model.user(f"u{number}")
    model.exclusive("x").when("=again").to("m").at("x").otherwise().end()
    assert codes(model) == ["TOO_MANY_JOINS"]
