"""A compiled model of decisions: what callers hold. Evaluating never raises for what the model or its values do."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import TypeVar

import msgspec

from procession.dmn.graph import Decision, InputData, Knowledge, Results, Service
from procession.dmn.run import DecisionRun
from procession.dmn.trace import Evaluation
from procession.dmn.types import Types
from procession.errors import NotFound
from procession.feel import Function
from procession.model.definition import Problem

Element = TypeVar("Element", Decision, Service)


# Imported models by the name of the import, which is empty where their elements need no prefix.
Imports = tuple[tuple[str, "DecisionModel"], ...]


class DecisionModel(msgspec.Struct, frozen=True, eq=False, kw_only=True):
    """The decisions, services and functions of one resource. It never changes and is shared by all evaluations."""

    id: str
    name: str
    namespace: str
    resource_name: str
    types: Types
    members: frozenset[str]  # names that need to be known where they stand after a dot
    imports: Imports
    inputs: Mapping[str, InputData]  # these and the following by id
    knowledge: Mapping[str, Knowledge]
    services: Mapping[str, Service]
    decisions: Mapping[str, Decision]
    problems: tuple[Problem, ...]  # warnings; with an error there is no model

    def decision(self, decision_id: str) -> Decision:
        """A decision by its id or name. Raises NotFound."""
        found = self.decisions.get(decision_id) or _named(self.decisions, decision_id)
        if found is None:
            known = ", ".join(sorted(decision.id for decision in self.decisions.values()))
            raise NotFound(f"There is no decision '{decision_id}' in the model '{self.name}'; it has: {known:.500}")
        return found

    def service(self, service_id: str) -> Service:
        """A decision service by its id or name. Raises NotFound."""
        found = self.services.get(service_id) or _named(self.services, service_id)
        if found is None:
            known = ", ".join(sorted(service.id for service in self.services.values()))
            message = f"There is no decision service '{service_id}' in the model '{self.name}'; it has: {known:.500}"
            raise NotFound(message)
        return found

    def evaluate(
        self,
        decision_id: str,
        context: Mapping[str, object],
        *,
        now: datetime | None = None,
        functions: Mapping[str, Function] | None = None,
    ) -> Evaluation:
        """The result of a decision, by its id or name, and of every decision that it requires.

        `context` holds the input data by name, as plain Python values; decisions see its other values too. `now` is
        what now() and today() mean. Raises NotFound for a decision that is not there, and nothing else.
        """
        decision = self.decision(decision_id)

        def decide(run: DecisionRun) -> object:
            results: Results = {}
            for required, imports in decision.order:
                results[required] = required.decide(run, context, imports, results)
            return results[decision]

        return _evaluate(decide, now, functions)

    def evaluate_service(
        self,
        service_id: str,
        context: Mapping[str, object],
        *,
        now: datetime | None = None,
        functions: Mapping[str, Function] | None = None,
    ) -> Evaluation:
        """The result of a decision service: the value of its output decision, or a context of several.

        `context` holds its input data and the values of its input decisions, by name. Raises NotFound.
        """
        service = self.service(service_id)
        return _evaluate(lambda run: service.evaluate(run, context), now, functions)

    def __repr__(self) -> str:
        return f"DecisionModel({self.name!r}, {len(self.decisions)} decisions)"


def _named(elements: Mapping[str, Element], name: str) -> Element | None:
    return next((element for element in elements.values() if element.name == name), None)


def _evaluate(
    decide: Callable[[DecisionRun], object], now: datetime | None, functions: Mapping[str, Function] | None
) -> Evaluation:
    run = DecisionRun(now, functions)
    try:
        result = decide(run)
    except Exception as problem:  # noqa: BLE001 - the contract: evaluation never raises
        result = run.note(problem)
    return Evaluation(
        result=result, trace=tuple(run.decisions), warnings=run.decision_warnings(), left_out=run.left_out
    )
