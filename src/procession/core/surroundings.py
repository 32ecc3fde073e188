"""What a step may ask beyond its instance: the decisions and forms that are deployed, how strict expressions are.

The rules stay pure: whoever calls ``decide`` has the answers at hand. Where it has none yet to a question, it raises
``NotAtHand``, finds out, drops the state that was under change, and decides again.
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


class FormRequest(msgspec.Struct, frozen=True):
    """Which version of which form a user task means. ``definition`` is the asking process version."""

    form_id: str
    binding: str  # latest | deployment | version | versionTag
    version: int
    version_tag: str
    definition: int
    tenant: str


class DeployedForm(NamedTuple):
    """A version of a form."""

    key: int
    version: int


class NotAtHand(Exception):
    """What is asked for may be deployed; find out and decide again. The state that was handed over is void."""

    def __init__(self, request: DecisionRequest | FormRequest) -> None:
        what = "form" if isinstance(request, FormRequest) else "decision"
        super().__init__(f"{what} '{request.form_id if isinstance(request, FormRequest) else request.decision_id}'")
        self.request = request


FindDecision = Callable[[DecisionRequest], DeployedDecision | None]  # None: it is not deployed
FindForm = Callable[[FormRequest], DeployedForm | None]
NO_FORM = DeployedForm(0, 0)


def nothing_deployed(request: DecisionRequest) -> None:
    """The look-up where there are no decisions."""
    del request


def any_form(request: FormRequest) -> DeployedForm:
    """The look-up where forms do not matter: whatever is named is taken to be there."""
    del request
    return NO_FORM


class Surroundings(msgspec.Struct, frozen=True, kw_only=True):
    """What ``decide`` is given beside definition, state and command."""

    find_decision: FindDecision = nothing_deployed
    find_form: FindForm = any_form
    strict: bool = False  # a warning of an expression is an incident


NONE = Surroundings()
