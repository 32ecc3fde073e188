"""dev: deploys what stands next to the application, starts anew on changes, and lives with files that are wrong."""

from __future__ import annotations

import re
import signal

import httpx
import pytest

from procession.testing.bpmn import process
from tests.cli.stage import until


@pytest.fixture
def developing(order, run_process):
    running = run_process("dev", "shop:app")
    running.wait_for("Ready")
    yield running
    running.signal(signal.SIGTERM)
    assert running.ended() == 0
    assert "Traceback" not in running.text


def test_it_deploys_works_and_takes_up_what_changes(developing, shop, command):
    assert "order.bpmn: order version 1\n" in developing.text
    page = re.search(r"The web page is at (\S+)", developing.text)
    assert page
    assert httpx.get(f"{page[1]}/processes").headers["content-type"].startswith("text/html")
    code = (shop.folder / "shop.py").read_text()
    shop.write("shop.py", code.replace('"R-', '"NEW-'))
    developing.wait_for("shop.py changed")
    developing.wait_for("Ready", times=2)
    assert "order version 1, unchanged" in developing.text
    key = command("start", "order", "--var", "items=[1]", "--json").json["processInstanceKey"]
    until(lambda: command("instance", key, "--json").json["variables"].get("receipt") == "NEW-1.0")

    shop.write("order.bpmn", process("order", name="Shorter").start().task("price").end())
    developing.wait_for("order version 2")


def test_files_that_are_wrong_are_told_and_taken_up_when_they_are_right(developing, shop):
    shop.write("other.bpmn", "<not a model")
    developing.wait_for("other.bpmn is not deployed")
    developing.wait_for("Ready", times=2)
    code = (shop.folder / "shop.py").read_text()
    shop.write("shop.py", "def broken(:\n")
    developing.wait_for("Importing 'shop' failed: SyntaxError")
    developing.wait_for("waiting for a file to change")
    shop.write("other.bpmn", process("other").start().end())
    shop.write("shop.py", code)
    developing.wait_for("other.bpmn: other version 1")


def test_without_an_application_the_engine_runs_and_its_child_does_not_outlive_it(
    shop, run_process, command, monkeypatch
):
    monkeypatch.delenv("PROCESSION_URL")
    shop.write("p.bpmn", process("p").start().catch("pause", timer="PT0.1S").end())
    running = run_process("dev")
    running.wait_for("Ready")
    assert "sqlite:///procession.db" in running.text
    answer = command("--url", "sqlite:///procession.db", "start", "p", "--wait", "--json")
    assert answer.json["instance"]["state"] == "COMPLETED"
    running.signal(signal.SIGKILL)
    until(lambda: command("--url", "sqlite:///procession.db", "nodes", "--json").json == [])
