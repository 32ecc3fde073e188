"""What a bulk of jobs costs, counted: this program's own calls on the loop, and the statements of the file's writer."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import procession
from procession import Procession
from procession.engine.values import plain_objects
from procession.errors import InvalidValue
from procession.store._shared.bulk import BULK_MIN, are_alike
from procession.store.rows import NewJob
from procession.store.sqlite._session import Session

HOME = procession.__path__[0]
JOBS = 5_000
CALLS_MAX = 0.1  # per job; looking at each by itself took 9
STATEMENTS_MAX = 24  # per call: 256 rows each, and what begins and ends a transaction


@pytest.fixture
async def app(tmp_path: Path) -> AsyncIterator[Procession]:
    app = Procession(f"sqlite:///{tmp_path}/bulk.db")
    await app.open(run_workers=False, migrate=True)
    yield app
    await app.close()


@pytest.mark.parametrize("options", [{}, {"queue": "mail", "priority": 3}], ids=["usual", "with options"])
async def test_what_the_jobs_of_a_bulk_share_is_looked_at_once(app: Procession, options: Any) -> None:
    args = [{"number": number} for number in range(JOBS)]
    await app.enqueue_many("send", args, **options)
    calls = 0

    def count(frame: FrameType, event: str, _argument: object) -> None:
        nonlocal calls
        calls += event == "call" and frame.f_code.co_filename.startswith(HOME)

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        await app.enqueue_many("send", args, **options)
    finally:
        sys.setprofile(before)
    assert calls / JOBS <= CALLS_MAX
    assert await app.count_jobs() == {(options.get("queue", "default"), "READY"): 2 * JOBS}


async def test_a_bulk_is_a_statement_for_every_few_hundred_rows(
    app: Procession, monkeypatch: pytest.MonkeyPatch
) -> None:
    statements: list[str] = []
    insert = Session.insert_pairs

    def traced(session: Session, *values: Any) -> None:
        session._connection.set_trace_callback(statements.append)
        insert(session, *values)

    monkeypatch.setattr(Session, "insert_pairs", traced)
    await app.enqueue_many("send", [{"number": number} for number in range(JOBS)])
    assert 0 < len(statements) <= STATEMENTS_MAX


def test_one_value_that_cannot_be_stored_is_named_among_many() -> None:
    fine: list[Any] = [{"n": n, "phone": "+49" + 25 * "0", "text": "null"} for n in range(50)]
    assert plain_objects(fine) == [b'{"n":%d,"phone":"+49%b","text":"null"}' % (n, 25 * b"0") for n in range(50)]
    nested: Any = 0
    for _ in range(300):
        nested = [nested]
    for wrong, what in (
        (float("nan"), "finite"),
        (2**64, "64 bits"),
        ("a\0", "NUL"),
        ("\ud800", "surrogate"),
        (nested, "JSON_DEPTH_MAX"),
        (5_000_000 * "x", "VARIABLES_BYTES_MAX"),
        (object(), "JSON"),
    ):
        with pytest.raises(InvalidValue, match=what):
            plain_objects([*fine, {"wrong": wrong}, *fine])


@pytest.mark.parametrize(
    "other",
    [
        {"queue": "b"},
        {"type": "b"},
        {"kind": 2},
        {"priority": 1},
        {"run_at": 5},
        {"delay_ms": 5},
        {"retries": 9},
        {"owner": 1},
        {"tenant": "b"},
        {"instance": 1},
        {"element_instance": 1},
        {"element": "b"},
        {"definition": 1},
    ],
    ids=lambda other: next(iter(other)),
)
def test_a_job_that_differs_in_anything_but_key_and_arguments_is_not_alike(other: dict[str, Any]) -> None:
    words: dict[str, Any] = {"kind": 1, "queue": "a", "type": "a"}
    jobs = [NewJob(key=key, args=b"%d" % key, **words) for key in range(BULK_MIN)]
    assert are_alike(jobs)
    jobs[-1] = NewJob(key=99, **(words | other))
    assert not are_alike(jobs)
