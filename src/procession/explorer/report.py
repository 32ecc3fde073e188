"""What an exploration says: plain data, for people, for JSON and for tests."""

from __future__ import annotations

from enum import StrEnum

import msgspec


class Verdict(StrEnum):
    """The kinds of findings. What each means: docs/explorer.md."""

    DEADLOCK = "DEADLOCK"  # tokens that can never go on
    UNSAFE = "UNSAFE"  # lack of synchronisation: two tokens in one place
    IMPROPER_COMPLETION = "IMPROPER_COMPLETION"  # an end event is reached again, or messages are left
    NO_END = "NO_END"  # livelock: the process can go on for ever, but never end
    DEAD_ELEMENT = "DEAD_ELEMENT"  # never active
    INCIDENT = "INCIDENT"  # a problem in the model stops a token: an error that nobody catches
    BOUND = "BOUND"  # the exploration is not complete


class Decision(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One choice within a step."""

    element_id: str
    flows: tuple[str, ...] = ()
    answer: str = ""


class TraceStep(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One step of a trace."""

    process_id: str
    action: str  # start | enter | complete | throw | happen | receive
    element_id: str
    name: str = ""
    detail: str = ""  # the error code, the trigger, the message flow
    decisions: tuple[Decision, ...] = ()
    active: tuple[str, ...] = ()  # other elements that became active or passed the token, in order


class Found(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One finding, with the shortest way to it."""

    verdict: Verdict
    process_id: str
    element_id: str
    line: int
    message: str
    suggestion: str = ""
    trace: tuple[TraceStep, ...] = ()
    also: tuple[str, ...] = ()  # elements or flows to which the same applies as a consequence


class Report(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What was found of one process, or of several that message each other."""

    process_ids: tuple[str, ...]
    findings: tuple[Found, ...]
    states: int
    moves: int
    depth: int
    is_complete: bool  # nothing was left out: what is not found does not exist
    bounds: tuple[str, ...]  # the bounds that were reached
    is_safe: bool  # never two tokens in one place
    can_end: bool  # from every state an end can be reached, or a state that was not followed
    ends_once: bool  # no end event of a process is reached twice
    leaves_messages: bool  # an end with messages that nobody received

    @property
    def is_sound(self) -> bool:
        """Whether it always can end, and ends properly."""
        return self.can_end and self.ends_once

    def of(self, verdict: Verdict) -> tuple[Found, ...]:
        """The findings of one kind."""
        return tuple(found for found in self.findings if found.verdict == verdict)
