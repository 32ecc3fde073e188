"""Jobs of the queue on the command line: enqueued, listed, changed alone and by filter; flows, batches, workers."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import pytest

from procession import Job, Procession
from procession.app.flows import FlowJob
from procession.cli.queues import sparks

T = TypeVar("T")


@pytest.fixture
def on(shop, command) -> Callable[[Callable[[Procession], Awaitable[T]]], T]:
    """Do something with the shop's database, in this process."""

    def act(work: Callable[[Procession], Awaitable[T]]) -> T:
        async def opened() -> T:
            app = await Procession(shop.url).open(run_workers=False)
            try:
                return await work(app)
            finally:
                await app.close()

        return asyncio.run(opened())

    return act


@pytest.fixture
def failed(shop, command) -> int:
    """A job that has failed, with a log; its key."""

    async def fail() -> int:
        app = Procession(shop.url)

        @app.job("send", queue="mail", retries=1)
        async def send(job: Job, to: str) -> None:
            await job.log("looking for the address")
            raise ValueError(f"nobody is called {to}")

        await app.open(run_workers=False)
        try:
            found = await app.enqueue("send", {"to": "Nobody"}, title="Letter", tags=["old"])
            await app.run_until_idle()
            return found.job_key
        finally:
            await app.close()

    return asyncio.run(fail())


def _keys(answer: Any) -> list[int]:
    return [job["jobKey"] for job in answer.json["jobs"]]


def test_a_job_is_enqueued_with_every_option_and_listed(shop, command, on):
    on(_nothing)
    options = ["--queue", "mail", "--priority", 3, "--delay", "10m", "--retries", 2, "--title", "Hello", "--tag", "new"]
    options += ["--metadata", "from=shop", "--timeout", "30s", "--keep", "1d", "--output", "--backoff", "1s,1m"]
    options += ["--unique", "mail:1", "--unique-for", "1h", "--limit", "smtp=5,100/1m+10", "--fair-key", "acme"]
    made = command("enqueue", "send", "-a", '{"to": "Ada", "copies": 2}', "-v", "to=Grace", *options, "--json").json
    assert (made["type"], made["queue"], made["outcome"]) == ("send", "mail", "INSERTED")
    again = command("enqueue", "send", "--unique", "mail:1")
    assert again.out == f"send {made['jobKey']} in default is there already: it has the unique key\n"
    shown = command("jobs", "show", made["jobKey"], "--json").json["job"]
    assert shown["args"] == {"to": "Grace", "copies": 2}
    assert (shown["priority"], shown["retries"], shown["title"], shown["tags"]) == (3, 2, "Hello", ["new"])
    assert (shown["metadata"], shown["uniqueKey"], shown["limits"]) == ({"from": "shop"}, "mail:1", ["smtp"])
    assert (shown["timeoutMs"], shown["fairKey"], shown["state"]) == (30_000, "acme", "SCHEDULED")
    listed = command("jobs", "list", "--tag", "new")
    assert "send · Hello" in listed.out
    assert listed.err.strip() == "1 job"
    assert command("limits", "delete", "smtp").out == "'smtp' deleted\n"
    for wrong in (["--limit", "smtp"], ["--at", "soon"], ["--metadata", "x"], ["--replace"]):
        assert command("enqueue", "send", *wrong).code in (1, 2)


def test_a_listing_is_the_newest_first_and_goes_on(shop, command, on):
    async def fill(app: Procession) -> list[int]:
        return [job.job_key for job in await app.enqueue_many("send", [{} for _ in range(5)])]

    keys = on(fill)
    first = command("jobs", "list", "-n", 2, "--json")
    assert _keys(first) == keys[:2:-1]
    assert (first.json["total"], first.json["isMore"]) == (5, False)
    rest = command("jobs", "list", "--after", first.json["after"], "--json")
    assert _keys(rest) == keys[2::-1]
    assert _keys(command("jobs", "list", "--oldest", "-n", 1, "--json")) == keys[:1]
    assert f"go on with --after {keys[3]}" in command("jobs", "list", "-n", 2).err
    assert command("jobs", "list", "--state", "done").code == 1
    assert command("jobs", "list", "--text", "nowhere").err == "There is no such job.\n"


def test_a_failed_job_shows_its_error_and_its_log_and_starts_over(shop, command, failed):
    shown = command("jobs", "show", failed).out
    assert "has failed for good: requeue or delete it" in shown
    assert "ValueError: nobody is called Nobody" in shown
    assert "looking for the address" in command("jobs", "log", failed).out
    assert "looking for the address" in command("jobs", "log", failed, "--follow", "--json").out
    assert command("jobs", "requeue", failed).out == "1 job requeued\n"
    assert command("jobs", "show", failed, "--json").json["job"]["state"] == "READY"
    gone = command("jobs", "show", 77)
    assert (gone.code, "Expected a job with key 77" in gone.err) == (1, True)


def test_many_jobs_are_adjusted_requeued_and_deleted_by_filter(shop, command, on):
    async def fill(app: Procession) -> None:
        await app.enqueue_many("send", [{} for _ in range(700)], tags=["old"])
        await app.enqueue("send", {})

    on(fill)
    asked = command("jobs", "delete", "--tag", "old")
    assert asked.code == 2
    assert "700 jobs" in asked.err
    assert "--yes" in asked.err
    assert command("jobs", "adjust", "--tag", "old", "--delay", "1h", "--yes").out == "700 jobs adjusted\n"
    assert command("jobs", "requeue", "--state", "scheduled", "--tag", "old", "--yes", "--json").json == {
        "requeued": 700
    }
    assert command("jobs", "delete", "--tag", "old", "--reason", "old", "--yes").out == "700 jobs deleted\n"
    assert command("jobs", "list", "--json").json["total"] == 1
    assert command("jobs", "list", "--state", "deleted", "-n", 1, "--json").json["jobs"][0]["errorMessage"] == "old"
    for wrong in ([], ["1", "--tag", "old"], ["--all", "1"]):
        assert command("jobs", "delete", *wrong).code == 2
    assert command("jobs", "delete", "--all", "--yes").out == "1 job deleted\n"
    assert command("jobs", "adjust", 5, "--priority", 1).code == 1
    assert command("jobs", "adjust", "--all", "--yes").code == 1


def test_a_flow_is_a_tree_and_a_batch_has_its_counts(shop, command, on):
    async def fill(app: Procession) -> tuple[dict[str, int], int]:
        flow = [
            FlowJob("fetch", "fetch"),
            FlowJob("left", "part", after=["fetch"]),
            FlowJob("right", "part", after=["fetch"]),
            FlowJob("join", "join", after=["left"], after_finished=["right"]),
        ]
        batch = await app.open_batch(title="Newsletter")
        await app.enqueue_many("send", [{}, {}], batch=batch)
        return {name: job.job_key for name, job in (await app.enqueue_flow(flow)).items()}, batch

    keys, batch = on(fill)
    assert command("flows", "show", keys["right"]).out.splitlines() == [
        f"▸ fetch  {keys['fetch']}  ready",
        f"├─ · part  {keys['left']}  awaiting",
        f"│  └─ · join  {keys['join']}  awaiting  see below",
        f"└─ · part  {keys['right']}  awaiting",
        f"   └─ · join  {keys['join']}  awaiting  in any case",
    ]
    assert len(command("flows", "show", keys["right"], "--json").json["edges"]) == 4
    assert "Newsletter" in command("job-batches").out
    assert command("job-batches", "seal", batch, "--json").json["state"] == "SEALED"
    assert command("job-batches", "cancel", batch, "--yes", "--json").json["state"] == "FINISHED"
    assert command("job-batches", "show", batch, "--json").json["deleted"] == 2


def test_workers_and_rates_say_so_where_there_are_none(shop, command, on):
    on(_nothing)
    assert "procession work" in command("workers").err
    assert command("workers", "--json").json == []
    assert "Nothing has happened" in command("queues", "rates").err
    assert sparks([0, 1, 4, 8]) == " ▁▄█"
    assert command("job-batches", "--json").json == []


async def _nothing(app: Procession) -> None:
    """Only the tables."""


# -- attempts, flows with a title, defaults of handlers ---------------------------------------------------------------


def test_a_job_is_shown_with_its_attempts_that_failed(command, failed):
    lines = command("jobs", "show", failed).out.splitlines()
    place = lines.index("Attempts that failed")
    assert "ValueError: nobody is called Nobody" in lines[place + 1]
    (attempt,) = command("jobs", "show", failed, "--json").json["attempts"]
    assert (attempt["attempt"], attempt["errorType"]) == (1, "ValueError")


def test_flows_with_a_title_are_listed_and_shown_by_their_key(command, on):
    command("db", "migrate")
    assert "no flow with a title" in command("flows").err
    jobs = [FlowJob("first", "send", {"to": "Ada"}), FlowJob("last", "send", {"to": "Alan"}, after=["first"])]
    key = on(lambda app: app.enqueue_flow(jobs, title="Order A-17")).flow_key
    (flow,) = command("flows", "list", "--json").json
    assert (flow["flowKey"], flow["title"], flow["state"], flow["total"]) == (key, "Order A-17", "RUNNING", 2)
    assert "Order A-17" in command("flows").out
    assert command("flows", "show", key).out.splitlines()[0].split() == ["Order", "A-17", str(key)]
    assert len(command("flows", "show", key, "--json").json["nodes"]) == 2


MAILS = """
from procession import Procession

app = Procession("memory://")


@app.job("send", queue="mail", retries=7, priority=4)
async def send(to: str) -> None: ...
"""


def test_enqueue_takes_what_the_handler_says_where_the_application_is_named(command, on, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "mails_of_ada.py").write_text(MAILS)
    command("db", "migrate")
    answer = command("enqueue", "send", "-a", '{"to": "Ada"}', "--app", "mails_of_ada:app", "--json")
    record = on(lambda app: app.job_record(answer.json["jobKey"]))
    assert (record.queue, record.retries, record.priority, answer.err) == ("mail", 7, 4, "")
    answer = command("enqueue", "send", "--app", "mails_of_ada:app", "--retries", 2, "--queue", "slow", "--json")
    record = on(lambda app: app.job_record(answer.json["jobKey"]))
    assert (record.queue, record.retries, record.priority) == ("slow", 2, 4)


def test_enqueue_says_where_it_knows_no_handler_and_what_it_took_instead(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "mails_of_alan.py").write_text(MAILS)
    command("db", "migrate")
    assert "queue 'default' and 3 attempts were taken; --app" in command("enqueue", "send").err
    assert "3 attempts were taken" in command("enqueue", "send", "--queue", "mail").err
    assert command("enqueue", "send", "--queue", "mail", "--retries", 3).err == ""
    said = command("enqueue", "print", "--app", "mails_of_alan:app").err
    assert "'mails_of_alan:app' has no handler for 'print': queue 'default' and 3 attempts were taken" in said
    assert "no_such_module" in command("enqueue", "send", "--app", "no_such_module:app").err
