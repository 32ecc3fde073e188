"""work --queue: which queues a worker takes from, and with what share of its slots."""

from __future__ import annotations

import signal

APPLICATION = """
from procession import Procession

app = Procession("sqlite:///shop.db")

@app.job("send", queue="mail")
async def send() -> None: ...

@app.job("count", queue="reports")
async def count() -> None: ...
"""


def test_a_worker_takes_from_the_queues_that_it_is_told(shop, command, run_process):
    (shop.folder / "depot.py").write_text(APPLICATION)
    command("migrate")
    worker = run_process("work", "depot:app", "--queue", "mail=3", "--queue=urgent", "--concurrency", "2", "--json")
    worker.wait_for("ready")
    worker.signal(signal.SIGTERM)
    assert worker.ended() == 0


def test_a_weight_that_is_none_is_a_usage_error(shop, command):
    (shop.folder / "depot.py").write_text(APPLICATION)
    for said, message in (
        ("mail=many", "NAME=WEIGHT"),
        ("mail=0", "QUEUE_WEIGHT_MAX"),
        ("$timer=1", "queues of yours"),
    ):
        answer = command("work", "depot:app", "--queue", said)
        assert answer.code != 0
        assert message in " ".join((answer.err + answer.out).split())
