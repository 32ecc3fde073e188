"""Values that no store can keep fail their own step or call, and never a neighbour's."""
# ruff: noqa: D102 - a test is named as a sentence

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from procession.errors import InvalidValue
from procession.ids import Keys
from procession.jobs.kinds import JobState
from procession.store.port import Store
from procession.store.rows import JobChange, Step, StepOutcome, UserTaskChange, UserTaskFilter
from procession.testing.conformance.listing import incident_of, user_task_of
from procession.testing.conformance.stage import (
    apply,
    jobs_of,
    message,
    new_job,
    next_step,
    read,
    service_job,
    start_step,
    waiting_for,
)

Spoil = Callable[[Keys, Step], None]


def _spoil(field: str, value: object) -> Spoil:
    def spoil(keys: Keys, step: Step) -> None:
        del keys
        setattr(step, field, value)

    return spoil


def _with_job(**fields: Any) -> Spoil:  # noqa: ANN401 - any field of the row
    def spoil(keys: Keys, step: Step) -> None:
        step.new_jobs = [service_job(keys, step), service_job(keys, step, **fields)]

    return spoil


def _with_subscription(**fields: Any) -> Spoil:  # noqa: ANN401 - any field of the row
    def spoil(keys: Keys, step: Step) -> None:
        step.new_subscriptions = [waiting_for(keys, step, **fields)]

    return spoil


def _with_user_task(**fields: Any) -> Spoil:  # noqa: ANN401 - any field of the row
    def spoil(keys: Keys, step: Step) -> None:
        step.new_user_tasks = [user_task_of(keys, step, **fields)]

    return spoil


def _with_changed_job(keys: Keys, step: Step) -> None:
    step.changed_jobs = [JobChange(key=keys.take(), state=JobState.READY, retries=-2)]


def _with_incident(keys: Keys, step: Step) -> None:
    step.new_incidents = [incident_of(keys, step, element="a\0b")]


SPOILED: dict[str, Spoil] = {
    "a NUL in the business id": _spoil("business_id", "A\x0017"),
    "a lone surrogate in the business id": _spoil("business_id", "A\ud80017"),
    "an oversized business id": _spoil("business_id", "é" * 200),
    "a NUL in a tag": _spoil("tags", ["fine", "b\0d"]),
    "too many tags": _spoil("tags", ["t"] * 33),
    "a tag that is a number": _spoil("tags", [5]),
    "a NUL byte in the variables": _spoil("variables", b'{"a":"\0"}'),
    "variables that are not UTF-8": _spoil("variables", b'{"a":"\xff"}'),
    "events that are not UTF-8": _spoil("events", b'[["\xed\xa0\x80"]]'),
    "a priority beyond 32 bits": _with_job(priority=2**31),
    "a priority beyond 64 bits": _with_job(priority=2**70),
    "retries beyond 64 bits": _with_job(retries=2**64),
    "negative retries": _with_job(retries=-1),
    "a changed job with negative retries": _with_changed_job,
    "a due time before 1970": _with_job(run_at=-1),
    "a due time beyond the year 9999": _with_job(run_at=2**60),
    "a lone surrogate in a job type": _with_job(type="\udfff"),
    "an oversized queue name": _with_job(queue="$job:" + "q" * 201),
    "an oversized correlation key": _with_subscription(correlation_key="k" * 201),
    "a NUL in a message name": _with_subscription(name="a\0b"),
    "an assignee with a lone surrogate": _with_user_task(assignee="\ud800"),
    "a candidate group with a NUL": _with_user_task(candidate_groups=["\0"]),
    "an enormous due date": _with_user_task(due_at=2**70),
    "an incident of an element with a NUL": _with_incident,
}


BAD_JOBS: dict[str, dict[str, Any]] = {
    "a NUL in its type": {"type": "a\0b"},
    "a lone surrogate in its type": {"type": "\ud800"},
    "an oversized queue name": {"queue": "q" * 201},
    "a priority beyond 64 bits": {"priority": 2**63},
    "negative retries": {"retries": -1},
    "retries beyond 32 bits": {"retries": 2**31},
    "a due time before 1970": {"run_at": -1},
    "a negative delay": {"delay_ms": -1},
    "oversized arguments": {"args": b'{"a":"' + b"x" * 1024 * 1024 + b'"}'},
    "arguments that are not UTF-8": {"args": b"\xff"},
    "arguments with a NUL byte": {"args": b"\0"},
}

BAD_MESSAGES: dict[str, dict[str, Any]] = {
    "a NUL in its name": {"name": "a\0b"},
    "an oversized name": {"name": "n" * 256},
    "a lone surrogate in its key": {"correlation_key": "\udfff"},
    "an oversized id": {"message_id": "m" * 201},
    "a negative time to live": {"ttl_ms": -1},
    "an endless time to live": {"ttl_ms": 2**60},
    "variables that are not UTF-8": {"variables": b'"\xff"'},
    "oversized variables": {"variables": b'{"a":"' + b"x" * 4 * 1024 * 1024 + b'"}'},
}


class TestRefusals:
    """REFUSED, with words that say which value."""

    @pytest.mark.parametrize("spoil", SPOILED.values(), ids=SPOILED.keys())
    async def test_a_step_with_a_bad_value_is_refused_alone(self, store: Store, keys: Keys, spoil: Spoil) -> None:
        before, bad, after = start_step(keys), start_step(keys), start_step(keys)
        before.new_jobs, after.new_subscriptions = [service_job(keys, before)], [waiting_for(keys, after)]
        spoil(keys, bad)
        results = await store.commit([before, bad, after], keys)
        assert [result.outcome for result in results] == [
            StepOutcome.APPLIED,
            StepOutcome.REFUSED,
            StepOutcome.APPLIED,
        ]
        assert len(results[1].error) > 20
        found = await store.load([before.instance, bad.instance, after.instance])
        assert sorted(each.key for each in found) == [before.instance, after.instance]
        assert len(await jobs_of(store)) == 1
        assert await store.history(bad.instance) == []

    @pytest.mark.parametrize(
        ("field", "value"),
        [
            ("assignee", "a\0b"),
            ("assignee", 5),
            ("priority", "high"),
            ("priority", 2**40),
            ("candidate_users", "ada"),
            ("candidate_groups", [1]),
            ("due_at", 2**70),
            ("key", 5),
            ("no_such_column", "x"),
        ],
    )
    async def test_a_bad_change_of_a_user_task_is_refused(
        self, store: Store, keys: Keys, field: str, value: object
    ) -> None:
        step = start_step(keys)
        task = user_task_of(keys, step, assignee="ada")
        step.new_user_tasks = [task]
        await apply(store, keys, step)
        change = UserTaskChange(key=task.key, changes={"name": "changed", field: value})
        (result,) = await store.commit([next_step(step, changed_user_tasks=[change])], keys)
        assert result.outcome is StepOutcome.REFUSED
        assert field in result.error
        (listed,) = await store.list_user_tasks(UserTaskFilter())
        assert (listed.name, listed.assignee) == ("Approve the order", "ada")

    async def test_a_refused_step_can_be_decided_again_without_the_value(self, store: Store, keys: Keys) -> None:
        step = start_step(keys, business_id="\0")
        (refused,) = await store.commit([step], keys)
        assert refused.outcome is StepOutcome.REFUSED
        step.business_id = "fine"
        await apply(store, keys, step)

    @pytest.mark.parametrize("fields", BAD_JOBS.values(), ids=BAD_JOBS.keys())
    async def test_a_bad_job_refuses_its_call(self, store: Store, keys: Keys, fields: dict[str, Any]) -> None:
        with pytest.raises(InvalidValue, match=r"Expected .*got"):
            await store.enqueue([new_job(keys), new_job(keys, **fields)])
        assert await jobs_of(store) == []

    async def test_a_bad_job_among_many_that_are_alike_is_found(self, store: Store, keys: Keys) -> None:
        jobs = [new_job(keys) for _ in range(50)]
        for fields in BAD_JOBS.values():
            with pytest.raises(InvalidValue, match=r"Expected .*got"):
                await store.enqueue([*jobs, new_job(keys, **fields), *jobs])
        assert await jobs_of(store) == []

    @pytest.mark.parametrize("fields", BAD_MESSAGES.values(), ids=BAD_MESSAGES.keys())
    async def test_a_bad_message_refuses_its_call(self, store: Store, keys: Keys, fields: dict[str, Any]) -> None:
        with pytest.raises(InvalidValue, match=r"Expected .*got"):
            await store.publish([message(keys), message(keys, **fields)], keys)
        assert await store.list_messages() == []

    async def test_a_bad_signal_refuses_its_call(self, store: Store, keys: Keys) -> None:
        for name, variables in (("a\0b", b"{}"), ("alarm", b"\xff")):
            with pytest.raises(InvalidValue):
                await store.broadcast(name, variables, keys)

    async def test_text_of_any_language_and_json_of_any_depth_are_kept(self, store: Store, keys: Keys) -> None:
        deep = b'{"a":' * 150 + b"1" + b"}" * 150
        odd = "Ω≈ç√ 🦊 \u202e right to left ' \" ; -- \\ % _"
        step = start_step(keys, business_id=odd, tags=[odd], variables=deep)
        await apply(store, keys, step)
        (found,) = await store.load([step.instance])
        assert (found.business_id, found.tags) == (odd, [odd])
        assert read(found.variables) == read(deep)
