"""Entries of the audit log go when they are older than they are to be kept, on a clock that is turned by hand."""

from __future__ import annotations

import msgspec
import pytest

from procession import Procession
from procession.api import audit_retention
from procession.api.audit import KIND, Entry
from procession.api.audit_retention import AuditRetention
from procession.store.rows.keeping import Kept

DAY_MS = 86_400_000


class Clock:
    def __init__(self) -> None:
        self.now = 1_000 * DAY_MS

    def __call__(self) -> int:
        return self.now


@pytest.fixture
async def world():
    clock = Clock()
    app = await Procession("memory://", clock=clock).open(run_workers=False, migrate=True)
    yield app, clock
    await app.close()


async def write(app: Procession, count: int) -> None:
    entry = Entry(actor="ada", actor_type="user", operation="cancel", entity="PROCESS_INSTANCE", result="SUCCESS")
    for _ in range(count):
        await app.rows.keep([Kept(kind=KIND, key=await app.new_key(), name="ada", body=msgspec.json.encode(entry))])


async def test_what_is_old_goes_and_what_is_not_stays(world, monkeypatch):
    app, clock = world
    monkeypatch.setattr(audit_retention, "CHUNK", 3)
    await write(app, 7)
    clock.now += 20 * DAY_MS
    await write(app, 2)
    retention = AuditRetention(app, 30 * DAY_MS)
    assert not await retention.round()
    assert len(await app.rows.kept(KIND)) == 9
    clock.now += 15 * DAY_MS
    while await retention.round():
        pass
    assert retention.deleted == 7
    assert len(await app.rows.kept(KIND)) == 2


async def test_a_server_that_keeps_entries_for_a_time_deletes_older_ones(make_served, tmp_path):
    clock = Clock()
    app = Procession(f"sqlite:///{tmp_path / 'audit.db'}", clock=clock)
    async with app:
        await write(app, 3)
    clock.now += 2 * DAY_MS
    await make_served(app, audit_keep_ms=DAY_MS)
    for _ in range(200):
        if not await app.rows.kept(KIND):
            break
    assert await app.rows.kept(KIND) == []
