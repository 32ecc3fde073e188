"""What a step costs, counted in function calls: a figure that does not depend on the machine.

The order of magnitude that a call stands for here is 0.2 microseconds, so that the budget of the process with two
service tasks (60 microseconds from start to end) is some 300 calls.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import pytest

from procession.core import State, decide
from procession.core.commands import AnyCommand, CompleteJob, StartInstance
from procession.ids import Keys
from procession.limits import STEP_EVENTS_MAX
from procession.model.definition import Definition
from procession.testing.bpmn import ProcessBuilder, multi_instance, process
from procession.testing.core import DAY_ONE
from procession.testing.world import CoreWorld

TWO_TASKS_MAX = 95  # calls from start to end; 86 when this was written
KEYS = Keys(range(1, 1 << 50))


def calls_of(function: Callable[[], object]) -> int:
    """How many Python and C functions a call makes."""
    count = 0

    def counting(_frame: object, event: str, _argument: object) -> None:
        nonlocal count
        count += event in {"call", "c_call"}

    before = sys.getprofile()
    sys.setprofile(counting)
    try:
        function()
    finally:
        sys.setprofile(before)
    return count


def compiled(model: ProcessBuilder) -> Definition:
    world = CoreWorld()
    world.deploy(model)
    return world.latest("p")


def step(definition: Definition, state: State | None, command: AnyCommand) -> State:
    return decide(definition, state, command, now=DAY_ONE, keys=KEYS).state


def run_two_tasks(definition: Definition) -> None:
    state = step(definition, None, StartInstance(KEYS.take(), {"total": 12}))
    for result in ({"paid": True}, {"shipped": True}):
        state = step(definition, state, CompleteJob(next(iter(state.jobs)), result))
    assert not state.nodes


def test_two_service_tasks_stay_within_their_budget():
    definition = compiled(process("p").start().service("pay").service("ship").end())
    run_two_tasks(definition)
    assert calls_of(lambda: run_two_tasks(definition)) <= TWO_TASKS_MAX


def with_inner_instances(count: int) -> ProcessBuilder:
    loop = multi_instance(f"=for i in 1..{count} return i", element="item")
    return process("p").start().service("a", loop=loop).service("b").end()


def with_branches(count: int) -> ProcessBuilder:
    """Branches that meet in a parallel join."""
    builder = process("p").start().parallel("fork")
    for number in range(count):
        builder.at("fork").service(f"a{number}")
        if number:
            builder.to("join")
        else:
            builder.parallel("join")
    return builder.at("join").end()


def with_an_inclusive_join(count: int) -> ProcessBuilder:
    """Many open tasks in the scope of a join that waits."""
    return (
        process("p")
        .start()
        .parallel("fork")
        .service("many", attributes={"startQuantity": "1", "completionQuantity": str(count)})
        .service("open")
        .inclusive("join")
        .end()
        .at("fork")
        .service("other")
        .to("join")
    )


def opened(model: ProcessBuilder, count: int) -> tuple[Definition, State]:
    """An instance with that many open jobs, reached through its first job where there is one to do."""
    definition = compiled(model)
    state = step(definition, None, StartInstance(KEYS.take()))
    if "many" in definition.index_of:
        state = step(definition, state, CompleteJob(min(state.jobs)))
        state = step(definition, state, CompleteJob(min(state.jobs)))
    assert len(state.jobs) >= count - 1
    return definition, state


@pytest.mark.parametrize("model", [with_inner_instances, with_branches, with_an_inclusive_join])
def test_a_step_costs_the_same_with_ten_and_with_hundreds_of_open_elements(model):
    few, many = 10, STEP_EVENTS_MAX // 8
    costs: list[int] = []
    for count in (few, many):
        definition, state = opened(model(count), count)
        for _ in range(2):  # the first one makes what is kept from then on
            job = max(state.jobs)
            cost = calls_of(
                lambda state=state, job=job, definition=definition: step(definition, state, CompleteJob(job))
            )
        costs.append(cost)
    assert costs[1] <= costs[0] + 5, costs
