"""How far the machines that compare two stores go: a little in every run, as far as ``make oracle`` says otherwise.

It decides nothing about the stores. Steps are counted where they are taken, so that the figure is no guess.
"""

from __future__ import annotations

import os
from typing import Any, ClassVar, Final

import pytest
from hypothesis import Phase, settings
from hypothesis.stateful import RuleBasedStateMachine, invariant, run_state_machine_as_test

STEPS: Final = int(os.environ.get("ORACLE_STEPS", "0"))  # of each machine on each store; 0: what a test says itself
_SECONDS_PER_STEP_MAX: Final = 0.2  # on a machine that others work on, too
TIME: Final = pytest.mark.timeout(120 + STEPS * _SECONDS_PER_STEP_MAX)

# Making a failing example small takes hundreds of databases: minutes on a server. It is printed as it was found.
WITHOUT_SHRINKING: Final = (Phase.explicit, Phase.reuse, Phase.generate)


class Counted(RuleBasedStateMachine):
    """A machine whose steps are counted, over all of its examples."""

    taken: ClassVar[int] = 0

    @invariant()
    def one_more(self) -> None:
        type(self).taken += 1


def compare(machine: type[Counted], usual: settings, **words: Any) -> None:
    """Let a machine take its steps, and say how many these were."""
    machine.taken = 0
    chosen = settings(usual, **words)
    run_state_machine_as_test(machine, settings=chosen)
    further = settings(chosen, derandomize=False)  # the same examples again would show nothing new
    for _ in range(STEPS):
        if machine.taken >= STEPS:
            break
        run_state_machine_as_test(machine, settings=further)
    print(f"\n{machine.__name__}: {machine.taken} steps, no difference")  # noqa: T201 - what `make oracle` is asked for
