"""How a handler may end, as values that it returns or raises. A plain value: success; another exception: a retry."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from procession.jobs.retry import Span, span_ms


class Outcome(Exception):
    """Base of the outcomes: return it or raise it, it means the same; also in a process, from where it is carried."""

    def __reduce__(self) -> tuple[Any, ...]:
        return _made_again, (type(self), self.args, self.__dict__)


class Retry(Outcome):
    """Try again, after the policy's pause or after ``after``; an attempt is used."""

    def __init__(self, after: Span | None = None, reason: str = "") -> None:
        self.after_ms = None if after is None else span_ms(after, "Retry(after)")
        self.reason = reason
        super().__init__(reason or "the handler asked for another attempt")


class Snooze(Outcome):
    """Try again after ``after``; no attempt is used."""

    def __init__(self, after: Span) -> None:
        self.after_ms = span_ms(after, "Snooze(after)")
        super().__init__(f"snoozed for {self.after_ms} ms")


class Fail(Outcome):
    """It failed for good: no more attempts. A process job raises an incident."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)


class Cancel(Outcome):
    """There is nothing to do any more: a plain job is deleted, a process job raises an incident with the reason."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)


class BpmnError(Outcome):
    """A modelled error: caught by the process' error events with this code."""

    def __init__(self, code: str, message: str = "", variables: Mapping[str, Any] | None = None) -> None:
        self.code = code
        self.message = message
        self.variables = dict(variables or {})
        super().__init__(f"{code}: {message}" if message else code)


class Deny(Outcome):
    """A task listener refuses what it was told of (completing, assigning, updating): the user task stays as it is."""

    def __init__(self, reason: str = "") -> None:
        self.reason = reason
        super().__init__(reason or "the listener denies it")


class Correct(Outcome):
    """A task listener is done and changes the user task: assignee, candidate_groups, due, follow_up, priority, ..."""

    def __init__(self, changes: Mapping[str, Any], variables: Mapping[str, Any] | None = None) -> None:
        self.changes = dict(changes)
        self.variables = dict(variables or {})
        super().__init__(f"corrects {', '.join(self.changes)}")


class ActivateElements(Outcome):
    """The worker of an ad-hoc sub-process says which of its activities start now, and whether it is enough.

    ``elements``: ids, or ids with variables of their own, as pairs; one may come several times. Camunda 8's words.
    """

    def __init__(
        self,
        *elements: str | tuple[str, Mapping[str, Any]],
        variables: Mapping[str, Any] | None = None,
        is_completion_condition_fulfilled: bool = False,
        is_cancel_remaining_instances: bool = False,
    ) -> None:
        self.elements: list[tuple[str, dict[str, Any]]] = [
            (one, {}) if isinstance(one, str) else (one[0], dict(one[1])) for one in elements
        ]
        self.variables = dict(variables or {})
        self.is_completion_condition_fulfilled = is_completion_condition_fulfilled
        self.is_cancel_remaining_instances = is_cancel_remaining_instances
        super().__init__(f"starts {', '.join(element for element, _ in self.elements) or 'nothing'}")


def _made_again(kind: type[Outcome], args: tuple[Any, ...], fields: dict[str, Any]) -> Outcome:
    """An outcome that comes from a process: what it was made from is not what it says."""
    outcome = kind.__new__(kind, *args)
    outcome.__dict__.update(fields)
    return outcome
