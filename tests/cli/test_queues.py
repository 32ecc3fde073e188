"""``queues``, ``limits`` and ``recurring``: looked at and changed from the command line, for eyes and as JSON."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from procession import Procession
from procession.app.recurring import Recurring
from procession.jobs.kinds import JobKind
from procession.jobs.options import JobOptions, Limit
from procession.store.rows import NewJob


@pytest.fixture
def filled(shop, command) -> None:
    """Three letters in a queue, one of them under a limit, and two recurring jobs."""

    async def fill(app: Procession) -> None:
        await app.enqueue_many("send", [{"to": "Ada"}, {"to": "Grace"}], queue="mail")
        options = JobOptions(limits=[Limit("mails", most=2, rate=60, per_ms=60_000, burst=5)])
        job = NewJob(key=await app.new_key(), kind=JobKind.TASK, queue="mail", type="send", options=options)
        await app._engine.store.submit([job])
        await app.put_recurring(
            Recurring(name="clean", cycle="R/PT15M", type="clean"),
            Recurring(name="report", cycle="0 9 * * MON-FRI", type="report", missed="skip"),
            group="shop",
        )

    _on(shop.url, fill)


def _on(url: str, act: Callable[[Procession], Awaitable[None]]) -> None:
    async def work() -> None:
        app = Procession(url)
        await app.open(run_workers=False)
        try:
            await act(app)
        finally:
            await app.close()

    asyncio.run(work())


def test_queues_are_listed_paused_and_resumed(filled, command):
    assert command("queues").out.splitlines()[0].split() == ["queue", "ready", "throttled", "oldest"]
    assert command("queues", "pause", "mail", "--reason", "full").out == "'mail' paused\n"
    again = command("queues", "pause", "mail")
    assert (again.code, again.out, again.err) == (0, "", "'mail' was paused already\n")
    (queue,) = command("queues", "--json").json
    assert (queue["queue"], queue["counts"], queue["isPaused"]) == ("mail", {"READY": 2, "THROTTLED": 1}, True)
    assert "paused" in command("queues").out
    assert command("queues", "resume", "mail", "--json").json == {"name": "mail", "resumed": True}
    assert command("queues", "pause", "send", "--type").out == "'send' paused\n"
    assert command("queues", "resume", "send", "--type").out == "'send' resumed\n"
    assert command("queues", "keep", "mail", "7d").out == "'mail' keeps what succeeds for 7d\n"
    assert command("queues", "keep", "mail", "none").out == "'mail' keeps what its jobs say\n"


def test_limits_are_listed_and_changed(filled, command):
    assert command("limits").out.splitlines()[1].split() == ["mails", "0", "of", "2", "60/min,", "burst", "5", "1"]
    assert command("limits", "set", "mails", "--most", 3).out == "'mails' changed\n"
    assert command("limits", "set", "mails", "--most", 3).err == "'mails' has this rule already\n"
    (limit,) = command("limits", "--json").json
    assert (limit["most"], limit["rate"], limit["waiting"]) == (3, 0, 1)
    wrong = command("limits", "set", "mail", "--most", 3)
    assert (wrong.code, wrong.out) == (1, "")
    assert "Expected a limit with the key 'mail'" in wrong.err
    assert command("limits", "set", "mails").code == 1


def test_recurring_jobs_are_listed_paused_triggered_and_removed(filled, command):
    assert [line.split()[0] for line in command("recurring").out.splitlines()] == ["name", "clean", "report"]
    assert command("recurring", "pause", "report").out == "'report' paused\n"
    assert "paused" in command("recurring").out.splitlines()[2]
    shown = command("recurring", "show", "report").out
    assert "0 9 * * MON-FRI" in shown
    assert "skip" in shown
    assert command("recurring", "resume", "report").out == "'report' resumed\n"
    key = command("recurring", "trigger", "clean", "--json").json["jobKey"]
    assert [job["jobKey"] for job in command("jobs", "--queue", "default", "--json").json] == [key]
    assert command("recurring", "show", "clean", "--json").json["fired"] == 1
    assert command("recurring", "remove", "clean").out == "'clean' removed\n"
    assert [row["name"] for row in command("recurring", "list", "--group", "shop", "--json").json] == ["report"]
    gone = command("recurring", "trigger", "clean")
    assert gone.code == 1
    assert gone.err == "Error: Expected a recurring job named 'clean', found none\n"


def test_where_there_is_nothing_it_says_so(shop, command):
    _on(shop.url, _nothing)
    for name in ("queues", "limits", "recurring"):
        answer = command(name)
        assert (answer.code, answer.out) == (0, "")
        assert answer.err
        assert command(name, "--json").json == []


async def _nothing(app: Procession) -> None:
    """Only the tables."""
