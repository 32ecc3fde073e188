"""What lines of the log about a job say of themselves, where each is a JSON object (``serve --json-logs``)."""

from __future__ import annotations

import logging

import msgspec
import pytest

from procession.api.logs import JsonLines
from procession.testing.bpmn import process
from tests.engine.stage import Stage

WORKER = "procession.worker"


async def test_a_line_about_a_job_of_a_process_names_the_job_its_type_its_instance_and_its_element(
    stage: Stage, caplog: pytest.LogCaptureFixture
):
    @stage.registry.job("charge-card", retries=1)
    async def charge_card():
        raise ValueError("no such card")

    await stage.deploy(process("p").start().service("charge", type="charge-card").end())
    with caplog.at_level(logging.INFO, WORKER):
        key = await stage.start("p")
    (job,) = await stage.jobs()
    (line,) = [msgspec.json.decode(JsonLines().format(record)) for record in caplog.records if record.name == WORKER]
    assert "no such card" in line["message"]
    assert {name: line[name] for name in ("jobKey", "jobType", "processInstanceKey", "elementId")} == {
        "jobKey": str(job.key),
        "jobType": "charge-card",
        "processInstanceKey": str(key),
        "elementId": "charge",
    }
