"""Lines that a handler logs say of which job they are: in its coroutine, its thread, and what these await."""

from __future__ import annotations

import asyncio
import logging

import msgspec
import pytest

from procession import Job, JobFilter, Procession
from procession.api.logs import JsonLines
from procession.testing.bpmn import process
from procession.worker.at_work import AT_WORK

logger = logging.getLogger("shop")
SHOP = process("shop").start().service("pay").service("pack").task("weigh").end().xml()


class Kept(logging.Handler):
    """Lines as JSON objects, and their format."""

    def __init__(self) -> None:
        super().__init__()
        self.addFilter(JobFilter())
        self.lines: list[dict] = []
        self.texts: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(msgspec.json.decode(JsonLines().format(record)))
        self.texts.append(logging.Formatter("%(process_instance_key)s %(element_id)s %(message)s").format(record))


@pytest.fixture
def kept(caplog):
    handler = Kept()
    logger.addHandler(handler)
    with caplog.at_level(logging.INFO, "shop"):
        yield handler
    logger.removeHandler(handler)


async def test_a_line_of_a_handler_says_its_instance_its_job_and_its_element(kept):
    app = Procession("memory://")
    keys: dict[str, int] = {}

    async def deeper() -> None:
        await asyncio.sleep(0)
        logger.info("paid", extra={"fields": {"amount": "5"}})

    @app.job("pay")
    async def pay(job: Job) -> None:
        keys["pay"] = job.key
        await asyncio.create_task(deeper())

    @app.job("pack")
    def pack() -> None:  # in a thread
        logger.info("packed")

    @app.method("weigh")
    def weigh() -> None:
        logger.info("weighed")

    @app.job("mail")
    async def mail() -> None:
        logger.info("mailed")

    async with app:
        await app.deploy(("shop.bpmn", SHOP))
        instance = await app.start("shop")
        await app.wait(instance, timeout=20)
        sent = await app.enqueue("mail")
        await app.run_until_idle()
    logger.info("outside")
    by_text = {line["message"]: line for line in kept.lines}
    paid = by_text["paid"]
    assert (paid["processInstanceKey"], paid["jobKey"], paid["jobType"]) == (str(instance), str(keys["pay"]), "pay")
    assert (paid["elementId"], paid["amount"]) == ("pay", "5")
    assert (by_text["packed"]["processInstanceKey"], by_text["packed"]["jobType"]) == (str(instance), "pack")
    assert by_text["weighed"]["processInstanceKey"] == str(instance)
    assert by_text["mailed"]["jobKey"] == str(sent.job_key)
    assert "processInstanceKey" not in by_text["mailed"]
    assert by_text["outside"].keys() == {"time", "level", "logger", "message"}
    assert kept.texts[0] == f"{instance} pay paid"
    assert kept.texts[-1] == "  outside"
    assert AT_WORK.get() is None
