"""work: real processes that start, stop, die and come back; and commands that leave the work to them."""

from __future__ import annotations

import asyncio
import os
import signal

import pytest

from procession import Procession
from procession.engine import Settings
from procession.testing.bpmn import process
from tests.cli.stage import PATIENCE_S, lives, until


@pytest.fixture
def start_order(order, command):
    command("deploy", order, "--app", "shop:app")

    def start(card: str = "good") -> int:
        return command("start", "order", "--var", "items=[1]", "--var", f"card={card}", "--json").json[
            "processInstanceKey"
        ]

    return start


def variables_of(command, key: int) -> dict:
    return command("instance", key, "--json").json["variables"]


def charges(shop, key: int) -> int:
    log = shop.folder / "charges"
    return log.read_text().split().count(str(key)) if log.exists() else 0


def test_a_graceful_stop_lets_a_running_job_end(start_order, shop, command, run_process):
    key = start_order("slow")
    worker = run_process("work", "shop:app", "--json")
    until(lambda: charges(shop, key))
    worker.signal(signal.SIGTERM)
    assert worker.ended() == 0
    assert [event["event"] for event in worker.events()] == ["working", "ready", "stopping", "stopped"]
    assert "receipt" in variables_of(command, key)
    assert charges(shop, key) == 1
    assert command("nodes", "--json").json == []


def test_a_second_signal_ends_it_at_once(start_order, shop, run_process):
    key = start_order("stuck")
    worker = run_process("work", "shop:app")
    until(lambda: charges(shop, key))
    worker.signal(signal.SIGINT)
    worker.wait_for("Stopping")
    worker.signal(signal.SIGINT)
    assert worker.ended() == 128 + signal.SIGINT


def test_what_a_killed_worker_had_begun_is_done_by_the_next(start_order, shop, command, run_process):
    key = start_order("stuck")
    first = run_process("work", "shop:app")
    until(lambda: charges(shop, key))
    first.signal(signal.SIGKILL)
    assert first.ended() == -signal.SIGKILL
    shop.write("unstick", "")
    run_process("work", "shop:app")
    until(lambda: "receipt" in variables_of(command, key))
    assert charges(shop, key) == 2


def test_of_several_processes_a_killed_one_starts_again_and_none_outlives_the_parent(start_order, command, run_process):
    crew = run_process("work", "shop:app", "--processes", 2, "--json")
    crew.wait_for('"ready"', times=2)
    pids = [event["pid"] for event in crew.events() if event["event"] == "working"]
    assert len(set(pids)) == 2
    os.kill(pids[0], signal.SIGKILL)
    crew.wait_for('"restarting"')
    crew.wait_for('"ready"', times=3)
    key = start_order()
    until(lambda: "receipt" in variables_of(command, key))
    pids = [event["pid"] for event in crew.events() if event["event"] == "working"]
    crew.signal(signal.SIGKILL)
    until(lambda: not any(lives(pid) for pid in pids))


def test_several_processes_stop_together(start_order, run_process):
    crew = run_process("work", "shop:app", "--processes", 2, "--json")
    crew.wait_for('"ready"', times=2)
    crew.signal(signal.SIGTERM)
    assert crew.ended() == 0
    told = [event["event"] for event in crew.events()]
    assert told.count("stopped") == 3  # each, and at last the parent
    assert told[-1] == "stopped"


def test_several_processes_that_cannot_work_end_with_their_reason(shop, run_process):
    shop.write("far.py", "from procession import Procession\napp = Procession('postgresql://x@127.0.0.1:1/x')\n")
    crew = run_process("work", "far:app", "--processes", 2)
    assert crew.ended() == 3
    assert "Error: " in crew.text


def test_start_can_wait_for_the_end(shop, command, run_process):
    shop.write("shop.py", "from procession import Procession\napp = Procession('sqlite:///shop.db')\n")
    shop.write("p.bpmn", process("p").start().user("look").end())
    shop.write("q.bpmn", process("q").start().catch("pause", timer="PT0.2S").end())
    command("deploy", ".")
    late = command("start", "p", "--wait", "--timeout", "0.2")
    assert late.code == 3
    assert "it goes on: procession instance" in late.err
    run_process("work", "shop:app").wait_for("Ready")
    ended = command("start", "q", "--wait", "--json")
    assert ended.code == 0
    assert ended.json["instance"]["state"] == "COMPLETED"


# -- commands leave the work to others ----------------------------------------------------------------------------
CALLS = process("outer").start().call("inner", process="waits").end()
WAITS = process("waits").start().user("look").end()


def test_a_command_is_no_node_and_claims_nothing(shop, command):
    shop.write("outer.bpmn", CALLS)
    shop.write("waits.bpmn", WAITS)
    command("deploy", ".")
    key = command("start", "outer", "--json").json["processInstanceKey"]
    (follow_up,) = command("jobs", "--json").json
    assert (follow_up["kind"], follow_up["state"], follow_up["attempt"]) == ("FOLLOW_UP", "READY", 0)
    assert command("nodes", "--json").json == []
    shop.work_off()
    assert [row["parentProcessInstanceKey"] for row in command("instances", "-p", "waits", "--json").json] == [key]


async def test_what_a_command_leaves_is_announced_to_those_who_work(shop, command, postgres_url):
    """The worker here would look for itself only once a minute."""
    settings = Settings(claim_poll_ms_min=60_000, claim_poll_ms_max=60_000)
    app = Procession(postgres_url, settings=settings)
    done = asyncio.Event()

    @app.job("charge")
    async def charge() -> None:
        done.set()

    await app.open(migrate=True)
    await app.deploy(("p.bpmn", process("p").start().service("pay", type="charge").end().xml()))
    for path, model in (("outer.bpmn", CALLS), ("waits.bpmn", WAITS)):
        await app.deploy((path, model.xml()))
    loop = asyncio.get_running_loop()
    began = loop.time()
    answer = await asyncio.to_thread(command, "--url", postgres_url, "start", "p", "--json")
    await asyncio.wait_for(done.wait(), PATIENCE_S)
    await app.wait(answer.json["processInstanceKey"], timeout=PATIENCE_S)
    await asyncio.to_thread(command, "--url", postgres_url, "start", "outer")
    while not await app.user_tasks():
        await asyncio.sleep(0.02)
        assert loop.time() - began < PATIENCE_S
    await app.close()
