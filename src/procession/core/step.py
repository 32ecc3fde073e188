"""The working object of one step: the state under change, the events so far, the tokens on their way. Internal.

Element families (``core/elements``) get it as their first argument. It emits events, evaluates expressions and keeps
the list of tokens; it knows no element. It never reads a clock, makes a key or writes anything by itself.
"""

from __future__ import annotations

from collections import deque
from datetime import datetime
from typing import Any

from procession.core import events as e
from procession.core.apply import APPLIERS
from procession.core.commands import FollowUp
from procession.core.problems import Problem
from procession.core.state import ElementInstance, IncidentKind, State
from procession.core.surroundings import NONE, Surroundings
from procession.ids import Keys
from procession.jobs.schedule import to_datetime
from procession.model.definition import Definition, Element, Evaluable, Flow
from procession.model.expressions import Static

Token = tuple[int, int, int]  # (flow it came by or -1, element it enters, key of the scope it is in)

SIGNAL = -2  # in place of a flow: the token is a signal of this step (by number), to be looked at once more


class Step:
    """One instance's step. Everything that a rule may read or change hangs on it."""

    __slots__ = (
        "changed",
        "cut",
        "definition",
        "elements",
        "ended_in",
        "events",
        "flows",
        "follow_ups",
        "instant",
        "keys",
        "looked",
        "moved",
        "new_conditions",
        "now",
        "signals",
        "state",
        "strict",
        "surroundings",
        "todo",
        "warnings",
    )

    def __init__(
        self, definition: Definition, state: State, now: int, keys: Keys, surroundings: Surroundings = NONE
    ) -> None:
        self.definition = definition
        self.elements = definition.elements
        self.flows = definition.flows
        self.state = state
        self.now = now
        self.keys = keys
        self.surroundings = surroundings
        self.strict = surroundings.strict
        self.events: list[e.Event] = []
        self.follow_ups: list[FollowUp] = []
        self.todo: deque[Token] = deque()
        self.ended_in: dict[int, None] = {}  # scopes in which a token ended: perhaps complete
        self.moved: dict[int, None] = {}  # scopes with joins to look at, because something moved in them
        self.looked = 0  # events that have been looked at for that
        self.changed: dict[tuple[int, str], str] = {}  # (scope, name) of variables written since conditions were looked
        # at, with what happened to them: create | update
        self.new_conditions: list[int] = []  # conditional waits opened since then
        self.signals: list[
            tuple[str, dict[str, Any], int]
        ] = []  # thrown in this step: name, variables, last wait served
        self.warnings: list[Any] = []
        self.cut = False  # tokens were left on their way: a step of its own goes on with them
        self.instant: datetime | None = None

    def emit(self, event: e.Event) -> None:
        """Record an event and apply it."""
        self.events.append(event)
        APPLIERS[type(event)](self.state, event)

    def moment(self) -> datetime:
        """``now`` as FEEL's ``now()`` sees it, made once per step and only when an expression is evaluated."""
        if self.instant is None:
            self.instant = to_datetime(self.now)
        return self.instant

    def enter(self, element: int, scope: int, flow: int = -1) -> None:
        """Put a token before an element of a scope."""
        self.todo.append((flow, element, scope))

    def forget_tokens_of(self, scope: int) -> None:
        """Drop the tokens on their way directly within a scope that is emptied."""
        if self.todo:
            self.todo = deque(token for token in self.todo if token[2] != scope)

    def defer(self, flow: int, element: int, scope: int) -> None:
        """Keep a token on its way for a step of its own."""
        self.emit(e.TokenDeferred(flow, element, scope))
        self.cut = True

    # -- variables and expressions --------------------------------------------------------------------------------
    def context(self, key: int) -> dict[str, Any]:
        """The variables visible at an element instance. Shared: never change it."""
        state = self.state
        local: list[dict[str, Any]] = []
        while key != state.root:
            node = state.nodes[key]
            if node.variables:
                local.append(node.variables)
            key = node.scope
        if not local:
            return state.variables
        merged = dict(state.variables)
        for variables in reversed(local):
            merged.update(variables)
        return merged

    def evaluate(self, expression: Evaluable, context: dict[str, Any]) -> Any:  # noqa: ANN401 - any FEEL value
        """The value of an expression; warnings gather in ``self.warnings``."""
        if type(expression) is Static:
            return expression.value  # most attributes: saves the call and the making of ``now()``
        return expression.evaluate(context, now=self.moment(), warnings=self.warnings)

    def be_strict(self, kind: IncidentKind, what: str, at: Element | Flow) -> None:
        """Where expressions are strict: raise Problem if one gave a warning since the last call."""
        if self.strict and self.warnings:
            message = f"The {what} of '{at.id}' (line {at.line}) gave a warning, and expressions are strict here"
            raise Problem(kind, f"{message}: {self.take_warnings()}")

    def take_warnings(self) -> str:
        """The warnings gathered since the last call, as text for an incident, and forget them."""
        if not self.warnings:
            return ""
        text = "; ".join(str(warning) for warning in self.warnings)
        self.warnings.clear()
        return text

    def node(self, key: int) -> ElementInstance:
        """The element instance with this key. Raises KeyError."""
        return self.state.nodes[key]
