"""An instance's history as lines for people: what was entered, what happened there, how long it took. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

import msgspec

from procession.jobs.kinds import JobKind
from procession.model.definition import Element, Kind

if TYPE_CHECKING:
    from procession.app.views import HistoryEvent

SIGNS = {
    Kind.START_EVENT: "○",
    Kind.END_EVENT: "●",
    Kind.INTERMEDIATE_CATCH_EVENT: "◎",
    Kind.INTERMEDIATE_THROW_EVENT: "◉",
    Kind.BOUNDARY_EVENT: "◷",
    Kind.EXCLUSIVE_GATEWAY: "◇",
    Kind.PARALLEL_GATEWAY: "◇",
    Kind.INCLUSIVE_GATEWAY: "◇",
    Kind.EVENT_BASED_GATEWAY: "◇",
    Kind.COMPLEX_GATEWAY: "◇",
    Kind.SUB_PROCESS: "▣",
    Kind.EVENT_SUB_PROCESS: "▣",
    Kind.TRANSACTION: "▣",
    Kind.AD_HOC_SUB_PROCESS: "▣",
    Kind.CALL_ACTIVITY: "▣",
}
TASK = "▭"
STYLES = {"✗": "red", "✓": "green", "●": "bold green", "◷": "yellow", "!": "yellow"}
PLACE = "cyan"


class Line(msgspec.Struct, kw_only=True):
    """One thing that happened. ``took_s`` is None while it lasts, and for what takes no time."""

    at: datetime
    sign: str
    text: str
    depth: int = 0
    note: str = ""
    took_s: float | None = None
    element_id: str = ""

    @property
    def style(self) -> str:
        """Of the sign."""
        return STYLES.get(self.sign, PLACE)


def tell(history: Sequence[HistoryEvent], elements: Mapping[str, Element]) -> list[Line]:
    """The lines of an instance's story, in order of time; ``elements`` are those of its definition, by id."""
    return _Teller(elements).tell(history)


class _Teller:
    """What is known while the history is read: who is active, and how deep."""

    def __init__(self, elements: Mapping[str, Element]) -> None:
        self._elements = elements
        self._lines: list[Line] = []
        self._active: dict[int, Line] = {}
        self._depth: dict[int, int] = {}
        self._jobs: dict[int, Line | None] = {}  # the line of the element that a job belongs to
        self._incidents: dict[int, Line] = {}

    def tell(self, history: Sequence[HistoryEvent]) -> list[Line]:
        """Read it all."""
        for event in history:
            self._read(event)
        return self._lines

    def _read(self, event: HistoryEvent) -> None:
        """One event; those that only the engine needs are passed over."""
        details = event.details
        match event.event:
            case "activated" | "passed":
                self._enter(event, details)
            case "completed" | "terminated":
                self._leave(event, details["key"])
            case "job":
                self._job(details)
            case "job-closed":
                self._close_job(event, details)
            case "user-task":
                self._note(details["element_instance"], f"user task {details['key']}")
            case "user-task-updated":
                self._add(event, "·", f"user task {details['action']}: {_changes(details['changes'])}", 0)
            case "call":
                self._note(details["element_instance"], f"calls {details['instance']}")
            case "timer" | "subscribed":
                self._wait(event.event, details)
            case _:
                self._remark(event, details)

    def _enter(self, event: HistoryEvent, details: dict[str, Any]) -> None:
        """A token came to an element."""
        if "scope" not in details or not details["scope"]:
            return  # the process itself
        element = self._elements.get(event.element_id)
        depth = self._depth.get(details["scope"], 0)
        self._depth[details["key"]] = depth + 1
        sign = SIGNS.get(element.kind, TASK) if element is not None else TASK
        text = (element.name if element is not None else "") or event.element_id
        if details.get("body"):
            text += " (each)"
        if details.get("loop_index"):
            text += f" #{details['loop_index']}"
        line = Line(at=event.at, sign=sign, text=text, depth=depth, element_id=event.element_id)
        self._lines.append(line)
        if event.event == "activated":
            self._active[details["key"]] = line

    def _leave(self, event: HistoryEvent, key: int) -> None:
        """A token left, or was taken away."""
        line = self._active.pop(key, None)
        if line is None:
            return
        line.took_s = (event.at - line.at).total_seconds()
        if event.event == "terminated":
            line.note = ", ".join(part for part in (line.note, "interrupted") if part)

    def _job(self, details: dict[str, Any]) -> None:
        """Work was given out."""
        line = self._active.get(details["element_instance"])
        self._jobs[details["key"]] = line
        if line is not None and details["type"]:
            kind = "method" if details["kind"] == JobKind.METHOD else "job"
            line.note = ", ".join(part for part in (line.note, f"{kind} {details['type']}") if part)

    def _close_job(self, event: HistoryEvent, details: dict[str, Any]) -> None:
        """Work came back; only what went wrong is worth a line."""
        line = self._jobs.pop(details["key"], None)
        if details["outcome"] == "failed" and line is not None:
            self._add(event, "✗", "failed, no attempts left", line.depth + 1)

    def _note(self, element_instance: int, text: str) -> None:
        """Something to stand beside an element."""
        line = self._active.get(element_instance)
        if line is not None:
            line.note = ", ".join(part for part in (line.note, text) if part)

    def _wait(self, what: str, details: dict[str, Any]) -> None:
        """An element waits for an instant, or a name."""
        if what == "timer":
            return  # its firing is told
        key = f" '{details['correlation_key']}'" if details["correlation_key"] else ""
        if details["name"]:
            self._note(details["element_instance"], f"waits for {details['name']}{key}")

    def _remark(self, event: HistoryEvent, details: dict[str, Any]) -> None:
        """What stands on a line of its own."""
        match event.event:
            case "variables" if details["values"]:
                self._add(event, "·", _changes(details["values"]), self._depth.get(details["scope"], 0))
            case "incident":
                self._incidents[details["key"]] = self._add(
                    event, "✗", f"incident {details['key']}: {details['message']}", self._below(details)
                )
            case "incident-resolved":
                before = self._incidents.pop(details["key"], None)
                depth = before.depth if before is not None else 0
                self._add(event, "✓", f"incident {details['key']} {details['reason']}", depth)
            case "error":
                text = f"error {details.get('code', '')}: {details.get('message', '')}"
                self._add(event, "✗", text.strip(": "), self._below(details))
            case "decision":
                self._add(event, "·", _decision(details), self._below(details))
            case "warning":
                self._add(event, "!", details["message"], self._below(details))
            case "suspended" | "resumed-instance":
                self._add(event, "·", event.event.partition("-")[0], 0)
            case "ended":
                if details["reason"]:
                    self._add(event, "·", f"ended: {details['reason']}", 0)
            case _:
                pass

    def _below(self, details: dict[str, Any]) -> int:
        """How deep what happened at an element instance stands."""
        return self._depth.get(details.get("element_instance", details.get("key", 0)), 0)

    def _add(self, event: HistoryEvent, sign: str, text: str, depth: int) -> Line:
        line = Line(at=event.at, sign=sign, text=text, depth=depth, element_id=event.element_id)
        self._lines.append(line)
        return line


def _decision(details: dict[str, Any]) -> str:
    """Which decision was evaluated, which rules of its table matched, and what it gave where the history keeps that."""
    text = f"decision {details['decision_id']} version {details['version']}"
    tables: list[Any] = details["trace"][-1]["tables"] if details["trace"] else []
    if tables:
        rules = ", ".join(str(rule["ruleIndex"]) for rule in tables[-1]["matchedRules"])
        text += f": rule {rules}" if rules else ": no rule"
    if details["result"] is not None:
        text += f" → {msgspec.json.encode(details['result'], enc_hook=str).decode()}"
    return text


def _changes(values: Mapping[str, Any]) -> str:
    """Names, with their values where the history keeps them."""
    return ", ".join(
        name if found is None else f"{name} = {msgspec.json.encode(found, enc_hook=str).decode()}"
        for name, found in values.items()
    )
