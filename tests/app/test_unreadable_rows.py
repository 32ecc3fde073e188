"""Rows that others have written and nobody can read: they fail by themselves, and stop nobody beside them."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from procession import Limit, Procession
from procession.app.recurring import Recurring
from procession.errors import Conflict


async def test_one_whose_row_nobody_can_read_is_switched_off_and_the_others_go_on(tmp_path: Path, clock):
    app = await Procession(f"sqlite:///{tmp_path}/rows.db", clock=clock).open(run_workers=False, migrate=True)
    for name in ("bad", "good"):
        await app.put_recurring(Recurring(name=name, cycle="* * * * *", type="report"))
    with closing(sqlite3.connect(tmp_path / "rows.db")) as connection, connection:
        connection.execute("""UPDATE procession_recurring SET job = '{"x":1}' WHERE name = 'bad'""")
    clock.turn(61_000)
    await app.run_until_idle()
    bad, good = await app.recurring_job("bad"), await app.recurring_job("good")
    assert (bad.next_at, bad.fired, good.fired) == (None, 0, 1)
    with pytest.raises(Conflict, match="have a job that can be read"):
        await app.trigger_recurring("bad")
    await app.put_recurring(Recurring(name="bad", cycle="* * * * *", type="report"))
    assert await app.trigger_recurring("bad")
    await app.close()


async def test_a_limited_job_whose_options_nobody_can_read_stands_in_nobodys_way(tmp_path: Path, clock):
    app = Procession(f"sqlite:///{tmp_path}/rows.db", clock=clock)
    ran: list[int] = []

    @app.job("work", retries=1)
    async def work(number: int) -> None:
        ran.append(number)

    await app.open(run_workers=False, migrate=True)
    keys = [(await app.enqueue("work", {"number": n}, limits=[Limit("door", most=5)])).job_key for n in range(3)]
    with closing(sqlite3.connect(tmp_path / "rows.db")) as connection, connection:
        connection.execute("UPDATE procession_job SET options = '[]' WHERE key = ?", (keys[0],))
    await app.run_until_idle()
    assert sorted(ran) == [1, 2]
    assert (await app.job_record(keys[0])).state == "FAILED"
    assert [job.job_key for job in await app.job_records()] == keys[:1]
    await app.close()


@pytest.mark.parametrize("written", ["[1]", "null", "{", "7"])
async def test_arguments_that_are_no_object_fail_at_once_and_are_shown(tmp_path: Path, clock, written: str):
    app = Procession(f"sqlite:///{tmp_path}/rows.db", clock=clock)

    @app.job("work", retries=5)
    async def work(number: int) -> None: ...

    await app.open(run_workers=False, migrate=True)
    key, other = [(await app.enqueue("work", {"number": n})).job_key for n in (1, 2)]
    with closing(sqlite3.connect(tmp_path / "rows.db")) as connection, connection:
        connection.execute("UPDATE procession_job SET args = ? WHERE key = ?", (written, key))
    shown = {job.job_key: job.args for job in await app.job_records()}
    assert shown == {key: written if written == "{" else json.loads(written), other: {"number": 2}}
    await app.run_until_idle()
    (left,) = await app.job_records()
    assert (left.job_key, left.state, left.attempt) == (key, "FAILED", 1)
    assert left.error_message.startswith(f"Expected the arguments of job {key} to be a JSON object: ")
    await app.close()
