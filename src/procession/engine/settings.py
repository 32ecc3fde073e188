"""What can be set about an engine, and what it counts. Plain data: nothing here decides or waits."""

from __future__ import annotations

from enum import IntEnum

import msgspec

from procession import limits


class History(IntEnum):
    """How much of each step is kept as history."""

    OFF = 0  # nothing
    ACTIVITY = 1  # every event; variables by name only
    FULL = 2  # every event with its values: the fold of the history is the state


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """Everything adjustable about one engine. Durations in milliseconds."""

    history: History = History.ACTIVITY
    strict_expressions: bool = False  # a warning of an expression is an incident
    instances_cached: int = 10_000  # recently written instances kept with their revision
    cached_bytes_max: int = 256 * 1024 * 1024  # of their stored size
    definitions_cached: int = 500
    commands_waiting_max: int = 50_000  # commands accepted and not yet committed; beyond it callers get Unavailable
    command_deadline_ms: int = 30_000  # how long a caller waits for a database that does not answer
    follow_up_slots: int = 64  # follow-ups and timers worked on at once
    follow_up_buffer: int = 256  # and leased beyond that
    claim_poll_ms_min: int = 10
    claim_poll_ms_max: int = 1_000
    announce_pause_ms: int = 5  # between two announcements, so that they coalesce
    heartbeat_ms: int = limits.HEARTBEAT_MS
    heartbeat_missed_max: int = limits.HEARTBEAT_MISSED_MAX
    blocked_ms: int = 1_000  # an event loop that gives no sign of life for twice this long is reported
    dead_after_ms: int = limits.DEAD_AFTER_MS
    lead_term_ms: int = 10_000
    promote_poll_ms_max: int = 1_000
    expire_poll_ms: int = 10_000
    retention_ms: int | None = (
        None  # an ended instance is kept so long, with what it called and its history; None: for good
    )
    batch_retention_ms: int | None = 30 * 24 * 60 * 60_000  # a batch that is over is kept so long; None: for good
    retention_chunk: int = 500  # instances looked at, and at most deleted, in one transaction
    retention_pause_ms: int = 100  # between two of them
    retention_poll_ms: int = 60_000  # and when all have been looked at
    check_ms: int = 15_000  # self-check: work ready, slots free, nothing claimed
    crash_budget: int = 5  # runs of one job that a crash may cut short
    crash_backoff_ms: int = 30_000
    stop_wait_ms: int = 10_000  # for running work to end by itself
    stop_cancel_ms: int = 5_000  # for cancelled work to end


class Counters(msgspec.Struct):
    """What an engine has done since it opened. Metrics read these; nothing else depends on them."""

    accepted: int = 0  # commands committed
    started: int = 0  # instances started
    completed: int = 0  # instances that ended as modelled
    terminated: int = 0
    incidents: int = 0  # raised
    in_flight: int = 0  # commands taken and not yet answered
    steps: int = 0
    commits: int = 0
    stale: int = 0  # steps decided again because somebody else was faster
    fenced: int = 0
    refused: int = 0
    loads: int = 0  # instances read from the database
    claimed: int = 0
    handed_over: int = 0  # jobs claimed on insert
    jobs_done: int = 0  # plain ones
    jobs_completed: int = 0  # those of instances
    jobs_retried: int = 0
    jobs_failed: int = 0
    jobs_returned: int = 0
    jobs_stuck: int = 0  # whose handler ignored that it was to end; their slots were replaced
    unavailable: int = 0  # calls that the database did not answer
    rejected: dict[str, int] = {}  # reason (class of the error) -> commands

    def reject(self, error: BaseException) -> None:
        """Count a refused command by the class of its error."""
        name = type(error).__name__
        self.rejected[name] = self.rejected.get(name, 0) + 1
