"""Processes are killed again and again while thousands of instances run; afterwards the books balance.

``CHAOS_INSTANCES`` and ``CHAOS_SEED`` choose another run; ``make chaos`` makes a long one.
"""

from __future__ import annotations

import asyncio
import os
import random
import signal
import time

import pytest

from tests.chaos.books import SHOWN, differences
from tests.chaos.herd import Herd, Pace
from tests.chaos.ledger import read
from tests.chaos.scene import SEED, active, prepare
from tests.support.servers import SERVERS

INSTANCES = int(os.environ.get("CHAOS_INSTANCES", "5000"))
MARIADB_INSTANCES = int(os.environ.get("CHAOS_INSTANCES", "2000"))
LONGEST_S = 60 + INSTANCES / 25
LOOK_S = 0.05
PACE_S = (0.5, 3.0)  # between two kills: a worker needs a second to begin, and the dead are rescued after two

pytestmark = pytest.mark.kill


@pytest.fixture(params=["sqlite", *SERVERS])
def url(request: pytest.FixtureRequest, tmp_path) -> str:
    """A database that several processes work on."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'chaos.db'}"
    return request.getfixturevalue(f"{request.param}_url")


class Killing:
    """Two workers and a starter; one of them is killed now and then, and replaced."""

    def __init__(self, herd: Herd, seed: int, instances: int) -> None:
        self.herd = herd
        self.instances = instances
        self._chance = random.Random(seed)
        self._pace = Pace(self._chance, *PACE_S)
        self._workers = [herd.worker(), herd.worker()]
        self._starter = herd.starter(instances)
        self._deadline = time.monotonic() + LONGEST_S

    def run(self) -> None:
        """Until every number was started, then until everything has ended, with kills all the way."""
        while self._starter.poll() is None:
            self._kill_one_if_due(starter=True)
        assert self._starter.returncode == 0, self.herd.log("starter")
        mender = self.herd.starter(self.instances, "mend")
        while mender.poll() is None or active(self.herd.url) > self.instances // 20:
            self._kill_one_if_due(starter=False)
        assert mender.returncode == 0, self.herd.log("starter")
        while left := active(self.herd.url):
            self._look_on(left)
        for worker in self._workers:
            code = self.herd.stop(worker)  # one that has only begun does not listen yet
            assert code in (0, -signal.SIGTERM), self.herd.log("worker")

    def _kill_one_if_due(self, *, starter: bool) -> None:
        self._look_on(-1)
        if not self._pace.is_due:
            return
        victim = self._chance.randrange(3 if starter else 2)
        if victim == 2:
            self.herd.kill(self._starter)
            self._starter = self.herd.starter(self.instances)
        else:
            self.herd.kill(self._workers[victim])
            self._workers[victim] = self.herd.worker()
        self._pace.reset()

    def _look_on(self, left: int) -> None:
        self.herd.check()
        assert time.monotonic() < self._deadline, f"{left} instances do not end:\n{self.herd.log('worker')}"
        time.sleep(LOOK_S)


@pytest.mark.timeout(LONGEST_S + 120)
def test_killed_processes_lose_nothing_and_do_nothing_twice(url: str, tmp_path):
    asyncio.run(prepare(url))
    began = time.monotonic()
    instances = MARIADB_INSTANCES if url.startswith("mysql") else INSTANCES
    with Herd(url, tmp_path) as herd:
        Killing(herd, SEED, instances).run()
        took = time.monotonic() - began
        found = asyncio.run(differences(url, read(herd.starts), read(herd.runs)))
        runs = read(herd.runs)
        print(  # noqa: T201 - figures, for whoever runs it with -s
            f"seed {SEED}: {instances} instances, {herd.kills} kills, {len(runs)} runs of handlers, {took:.1f} s, "
            f"books in {time.monotonic() - began - took:.1f} s"
        )
        assert not found, f"seed {SEED}, {herd.kills} kills, {len(found)} differences:\n" + "\n".join(found[:SHOWN])
