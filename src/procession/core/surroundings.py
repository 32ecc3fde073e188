"""What a step may ask beyond its instance: the decisions that are deployed, and how strict expressions are.

The rules stay pure: whoever calls ``decide`` has the answers at hand. Where it has none yet for a decision, it raises
``DecisionNotAtHand``, finds out, drops the state that was under change, and decides again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import msgspec

from procession.dmn import DecisionModel


class DecisionRequest(NamedTuple):
    """Which version of which decision a business rule task means. ``definition`` is the asking process version."""

    decision_id: str
    binding: str  # latest | deployment | version | versionTag
    version: int
    version_tag: str
    definition: int
    tenant: str


class DeployedDecision(NamedTuple):
    """A version of a decision, with the compiled file that it stands in."""

    key: int
    version: int
    decision_id: str
    model: DecisionModel


class DecisionNotAtHand(Exception):
    """The decision may be deployed; find out and decide again. The state that was handed over is void."""

    def __init__(self, request: DecisionRequest) -> None:
        super().__init__(f"decision '{request.decision_id}'")
        self.request = request


FindDecision = Callable[[DecisionRequest], DeployedDecision | None]  # None: it is not deployed


def nothing_deployed(request: DecisionRequest) -> None:
    """The look-up where there are no decisions."""
    del request


class Surroundings(msgspec.Struct, frozen=True, kw_only=True):
    """What ``decide`` is given beside definition, state and command."""

    find_decision: FindDecision = nothing_deployed
    strict: bool = False  # a warning of an expression is an incident


NONE = Surroundings()
