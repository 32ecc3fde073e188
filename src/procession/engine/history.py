"""A step's events as the history keeps them, at the level that was asked for. It decides nothing else."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from typing import Any

import msgspec

from procession.core import events as e
from procession.core.lines import Trail
from procession.engine.settings import History
from procession.engine.values import encode_json

CARRIERS = frozenset(  # of values
    {e.VariablesSet, e.LoopResult, e.CompensationRecorded, e.LoopChanged, e.DataChanged, e.DecisionEvaluated}
)
OFF, ACTIVITY, FULL = History.OFF, History.ACTIVITY, History.FULL  # members are slow to reach on the hot path


def encode_events(events: list[e.Event], level: History, kinds: AbstractSet[type[e.Event]] = CARRIERS) -> bytes | None:
    """The events as a JSON array; None when no history is kept. ``kinds``: the classes that are among them."""
    if level == FULL or (level == ACTIVITY and CARRIERS.isdisjoint(kinds)):
        return encode_json(events)
    if level == OFF:
        return None
    return encode_json([without_values(event) if type(event) in CARRIERS else event for event in events])


def encode_along(events: list[e.Event], level: History, trails: list[Trail]) -> bytes | None:
    """The same for steps along straight lines, of which it is known whether there are values, and of one also where."""
    if level == OFF:
        return None
    if level == ACTIVITY:
        for trail in trails:
            at = trail.written
            if at < 0:
                continue
            if len(trails) == 1:
                written = events[at]
                assert type(written) is e.VariablesSet
                events = events.copy()
                events[at] = e.VariablesSet(written.scope, dict.fromkeys(written.values))
            else:
                events = [without_values(event) if type(event) is e.VariablesSet else event for event in events]
            break
    return encode_json(events)


def without_values(event: e.Event) -> e.Event:
    """The same event with names only: what happened, not what the data was."""
    match event:
        case e.VariablesSet():
            return e.VariablesSet(event.scope, dict.fromkeys(event.values))
        case e.LoopResult():
            return e.LoopResult(event.key, event.index, None)
        case e.CompensationRecorded():
            variables = None if event.variables is None else dict.fromkeys(event.variables)
            return msgspec.structs.replace(event, variables=variables)
        case e.LoopChanged():
            return e.LoopChanged(event.key, _counters(event.changes))
        case e.DecisionEvaluated():
            return msgspec.structs.replace(event, result=None, trace=[_without_output(each) for each in event.trace])
        case e.DataChanged():
            return e.DataChanged(event.key, _counters(event.changes))
        case _:
            return event


def _without_output(decision: dict[str, Any]) -> dict[str, Any]:
    """A decision of a trace: which rules matched, not what they were given and gave."""
    tables: list[Any] = [
        {
            **table,
            "evaluatedInputs": [{**one, "inputValue": None} for one in table["evaluatedInputs"]],
            "matchedRules": [{**rule, "evaluatedOutputs": []} for rule in table["matchedRules"]],
            "output": None,
        }
        for table in decision["tables"]
    ]
    inputs = [{**one, "inputValue": None} for one in decision["evaluatedInputs"]]
    return {**decision, "evaluatedInputs": inputs, "tables": tables, "output": None}


def _counters(changes: dict[str, Any]) -> dict[str, Any]:
    """Numbers and flags stay; anything that may be data goes."""
    return {name: value if isinstance(value, int) else None for name, value in changes.items()}
