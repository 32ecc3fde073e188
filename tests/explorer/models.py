"""Processes for stories of the explorer, and how they are explored."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import strategies as st

from procession.explorer import Bounds, Report, Verdict, explore
from procession.model import InvalidModel, Resource, compile_resource
from procession.model.definition import Definition
from procession.testing.bpmn import ProcessBuilder, process

Draw = Callable[[st.SearchStrategy[int]], int]


def compiled(content: ProcessBuilder | bytes) -> Resource:
    """A file as it would be deployed; with its gaps tolerated where it would not."""
    raw = content.xml() if isinstance(content, ProcessBuilder) else content
    try:
        return compile_resource(raw)
    except InvalidModel:
        return compile_resource(raw, lenient=True)


def definition(builder: ProcessBuilder) -> Definition:
    """The one process of a builder."""
    return compiled(builder).definitions[0]


def explored(builder: ProcessBuilder, bounds: Bounds | None = None) -> Report:
    """What exploring a process finds."""
    return explore(definition(builder), bounds)


def told(report: Report) -> list[tuple[str, str]]:
    """The findings: verdict and element."""
    return [(found.verdict.value, found.element_id) for found in report.findings]


def way(report: Report, verdict: Verdict) -> list[tuple[str, str]]:
    """The steps to the first finding of a kind: action and element."""
    return [(step.action, step.element_id) for step in report.of(verdict)[0].trace]


def structured(draw: Draw, *, depth: int = 3) -> ProcessBuilder:
    """A process of blocks: sequences, decisions, parallel and inclusive blocks, loops, each closed as it was opened."""
    builder = process("p").start("s")
    _block(builder, draw, [0], depth)
    return builder.end("e")


def _block(builder: ProcessBuilder, draw: Draw, count: list[int], depth: int) -> None:
    count[0] += 1
    name = f"n{count[0]}"
    kind = draw(st.integers(0, 6 if depth else 0))
    if kind <= 1:
        builder.service(name) if draw(st.integers(0, 1)) else builder.task(name)
    elif kind == 2:
        _block(builder, draw, count, depth - 1)
        _block(builder, draw, count, depth - 1)
    elif kind == 3:
        builder.exclusive(f"{name}_in")
        _block(builder, draw, count, depth - 1)
        builder.exclusive(f"{name}_out").when("=again").to(f"{name}_in").at(f"{name}_out").otherwise()
        builder.task(f"{name}_on")
    else:
        add = (ProcessBuilder.exclusive, ProcessBuilder.parallel, ProcessBuilder.inclusive)[kind - 4]
        _branches(builder, draw, count, depth, lambda gateway: add(builder, gateway), name)


def _branches(
    builder: ProcessBuilder, draw: Draw, count: list[int], depth: int, add: Callable[[str], object], name: str
) -> None:
    split, join = f"{name}_split", f"{name}_join"
    add(split)
    for number in range(draw(st.integers(2, 3))):
        builder.at(split)
        builder.task(f"{name}_{number}")
        _block(builder, draw, count, depth - 1)
        if number:
            builder.to(join)
        else:
            add(join)
    builder.at(join)


def tangled(draw: Draw) -> ProcessBuilder:
    """A process whose decisions, splits, joins and tasks are connected as it happens."""
    size = draw(st.integers(2, 6))
    names = [f"n{number}" for number in range(size)]
    builder = process("p").start("s").to("n0")
    for name in names:
        builder.apart()
        (builder.task, builder.service, builder.exclusive, builder.parallel)[draw(st.integers(0, 3))](name)
    builder.apart().end("e")
    for name in names:
        for target in sorted({draw(st.integers(0, size)) for _ in range(draw(st.integers(1, 2)))}):
            builder.at(name).to(names[target] if target < size else "e")
    return builder
