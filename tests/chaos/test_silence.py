"""A process is silent for too long, then goes on: its work was taken over, its late outcomes are refused."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import time

import pytest

from tests.chaos.books import SHOWN, differences
from tests.chaos.herd import Herd
from tests.chaos.ledger import read
from tests.chaos.scene import SEED, active, prepare
from tests.chaos.worker import QUICK
from tests.support.servers import SERVERS

INSTANCES = int(os.environ.get("CHAOS_SILENCE_INSTANCES", "1200"))
SILENCES = int(os.environ.get("CHAOS_SILENCES", "2"))
LONGEST_S = 40 + INSTANCES / 40
LOOK_S = 0.05
# until the leader, which may be the silent one itself, can have rescued: its term, and its time to know who is silent
SILENT_S = 2 * (QUICK.dead_after_ms + QUICK.lead_term_ms) / 1000 + 1

pytestmark = [pytest.mark.kill, pytest.mark.timeout(LONGEST_S + 60)]


@pytest.fixture(params=["sqlite", *SERVERS])
def url(request: pytest.FixtureRequest, tmp_path) -> str:
    """A database that several processes work on."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'chaos.db'}"
    return request.getfixturevalue(f"{request.param}_url")


def test_a_process_that_was_silent_for_too_long_changes_nothing_twice(url: str, tmp_path):
    asyncio.run(prepare(url))
    chance = random.Random(SEED)
    deadline = time.monotonic() + LONGEST_S
    with Herd(url, tmp_path) as herd:
        workers = [herd.worker(), herd.worker()]

        def wait(seconds: float) -> None:
            until = time.monotonic() + seconds
            while time.monotonic() < until:
                herd.check()
                time.sleep(LOOK_S)

        starter = herd.starter(INSTANCES)
        for number in range(SILENCES):
            goal = len(read(herd.runs)) + INSTANCES // 8
            while len(read(herd.runs)) < goal and (starter.poll() is None or active(url)):
                assert time.monotonic() < deadline, herd.log("worker")
                wait(LOOK_S)
            wait(chance.random() / 2)
            silent = workers[number % 2]
            silent.send_signal(signal.SIGSTOP)
            wait(SILENT_S)
            silent.send_signal(signal.SIGCONT)
        while starter.poll() is None or active(url):
            assert time.monotonic() < deadline, f"{active(url)} do not end:\n{herd.log('worker')}"
            wait(LOOK_S)
        assert starter.returncode == 0, herd.log("starter")
        for worker in workers:
            assert herd.stop(worker) == 0, herd.log("worker")
        log = (tmp_path / "worker.log").read_text()
        found = asyncio.run(differences(url, read(herd.starts), read(herd.runs)))
        assert not found, f"seed {SEED}, {len(found)} differences:\n" + "\n".join(found[:SHOWN])
    assert "this process works again" in log, log
    taken_over = [run for run in read(tmp_path / "runs") if run[0] == "ran" and int(run[5]) > 1 and run[4] != "1"]
    assert taken_over, "jobs of the silent process were run by the other"
