"""One order from the drawing to its history, as somebody at a terminal would do it, with a real worker beside it."""

from __future__ import annotations

import signal

from tests.cli.stage import until


def test_an_order_goes_from_the_drawing_to_its_history(order, command, run_process):
    checked = command("lint", order)
    assert (checked.code, checked.out) == (0, "1 file: nothing to say\n")

    deployed = command("deploy", order, "--app", "shop:app")
    assert "new" in deployed.out
    assert "price" in deployed.out

    worker = run_process("work", "shop:app")
    worker.wait_for("Ready")
    for text in ("sqlite:///shop.db", "methods  price", "jobs     charge"):
        assert text in worker.text
    started = command("start", "order", "--var", "items=[1, 2.5]", "--business-id", "A-17", "--json")
    key = started.json["processInstanceKey"]

    (task,) = until(lambda: command("tasks", "list", "--json").json)
    shown = command("instance", key)
    assert "waits for a person to complete user task" in shown.out
    assert 'receipt  "R-3.5"' in shown.out

    assert command("tasks", "assign", task["userTaskKey"], "ada").code == 0
    assert command("tasks", "list", "--assignee", "ada", "--json").json[0]["userTaskKey"] == task["userTaskKey"]
    assert command("tasks", "complete", task["userTaskKey"], "--var", "approved=true").code == 0

    ended = command("instance", key, "--history")
    assert "COMPLETED" in ended.out
    story = ended.out.partition("History")[2]
    places = [story.index(text) for text in ("received", "price", "pay", "Approve it", "done")]
    assert places == sorted(places)
    assert "job charge" in story

    worker.signal(signal.SIGTERM)
    assert worker.ended() == 0
    assert command("nodes", "--json").json == []
