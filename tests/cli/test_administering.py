"""Stories of the command line: forms, user tasks, restarts, retries, batches to their end."""

from __future__ import annotations

import asyncio
import json

import pytest

from procession import Procession
from procession.testing.bpmn import process
from tests.cli.stage import Command, Shop

FORM = {
    "id": "approval",
    "components": [
        {"type": "text", "text": "# Look\nclosely"},
        {"type": "group", "label": "Order", "components": [{"type": "number", "key": "amount", "label": "Amount"}]},
    ],
}


@pytest.fixture
def orders(shop: Shop, command: Command) -> Command:
    """A process with a form, deployed."""
    model = process("order").start().user("approve", candidate_groups="managers", form_id="approval").user("pack").end()
    shop.write("order.bpmn", model)
    (shop.folder / "approval.form").write_text(json.dumps(FORM))
    command("deploy", ".")
    return command


def _start(command: Command, *more: object) -> int:
    return int(command("start", "order", *more, "--json").json["processInstanceKey"])


def _work(shop: Shop, seconds: float = 0.6) -> None:
    """Work on the database for a moment."""

    async def work() -> None:
        async with Procession(shop.url):
            await asyncio.sleep(seconds)

    asyncio.run(work())


def test_forms_are_deployed_listed_shown_and_deleted(shop: Shop, orders: Command):
    again = orders("deploy", "approval.form")
    assert again.out.splitlines()[1].split()[1:] == ["approval", "1", "unchanged", "approval.form"]
    (row,) = orders("forms", "--json").json
    assert (row["formId"], row["version"], row["resourceName"]) == ("approval", 1, "approval.form")
    assert "approval" in orders("forms").out
    assert "No version of 'other' is deployed" in orders("forms", "other").err
    _start(orders)
    task = orders("tasks", "--json").json[0]
    assert task["formKey"] == str(row["formKey"])
    for shown in (orders("form", row["formKey"]), orders("form", "--task", task["userTaskKey"])):
        lines = [line.split() for line in shown.out.splitlines()]
        assert lines[0] == ["approval", "version", "1"]
        assert lines[2:] == [["·", "text", "#", "Look"], ["·", "group", "Order"], ["amount", "number", "Amount"]]
    assert json.loads(orders("form", row["formKey"], "--file").out) == FORM
    assert orders("form", row["formKey"], "--json").json["schema"] == FORM
    definition = orders("definitions", "--json").json[0]["processDefinitionKey"]
    assert "no form" in orders("form", "--start", definition).err
    assert orders("form").code == orders("form", 1, "--task", 2).code == orders("form", "--task", 2, "--file").code == 2
    assert orders("delete", "--form", row["formKey"], "--yes").out == "1 form deleted\n"
    assert orders("form", row["formKey"]).code == 1


def test_a_form_that_is_none_is_told_by_lint_and_deploy(shop: Shop, command: Command):
    (shop.folder / "bad.form").write_text("{}")
    (finding,) = command("lint", "bad.form", "--json").json
    assert (finding["code"], finding["severity"]) == ("INVALID_FORM", "error")
    refused = command("deploy", "bad.form")
    assert refused.code == 1
    assert "expected a form to have an id" in refused.err
    assert command("forms").code == 1  # no database was made


def test_a_person_claims_changes_and_completes_a_task(orders: Command):
    _start(orders, "-v", "amount=5")
    (task,) = orders("tasks", "list", "--group", "managers", "--unassigned", "--json").json
    key = task["userTaskKey"]
    assert orders("tasks", "claim", key, "ada").out == f"Claimed {key} for ada\n"
    refused = orders("tasks", "claim", key, "bob")
    assert refused.code == 1
    assert f"User task {key} is assigned to 'ada'" in refused.err
    assert orders("tasks", "list", "--unassigned").err == "No open user task is like that.\n"
    assert orders("tasks", "unclaim", key, "--json").json == {"userTaskKey": key, "assignee": ""}
    assert orders("tasks", "assign", key, "eve").out == f"Assigned {key} to eve\n"
    changed = orders("tasks", "update", key, "--due", "2030-01-31T00:00:00Z", "--group", "", "--priority", 80)
    assert changed.out == f"Changed {key}\n"
    assert orders("tasks", "update", key).code == 1
    (task,) = orders("tasks", "list", "--assignee", "eve", "--due-before", "2030-02-01T00:00:00Z", "--json").json
    assert (task["candidateGroups"], task["priority"]) == ([], 80)
    shown = orders("tasks", "show", key).out
    assert "eve" in shown
    assert "80" in shown
    assert orders("tasks", "complete", key, "-v", "approved=true").out == f"Completed {key}\n"
    assert [row["elementId"] for row in orders("tasks", "--json").json] == ["pack"]
    assert orders("tasks", "show", key).code == 1


def test_an_ended_instance_is_started_anew(orders: Command):
    old = _start(orders, "-v", "amount=5", "--business-id", "A-1")
    orders("cancel", old)
    plan = orders("restart", old, "--before", "pack", "--dry-run")
    assert plan.code == 0
    assert "can be restarted: order version 1, before pack" in plan.out
    refused = orders("restart", old, "--before", "nothing", "--dry-run")
    assert refused.code == 1
    assert "has no element 'nothing'" in refused.out
    assert orders("restart", old).code == 1
    made = orders("restart", old, "--after", "approve", "-v", "amount=7", "--json").json
    (started,) = made["started"]
    assert (made["restarted"], started["variables"]) == ([old], {"amount": 7})
    assert orders("tasks", "--json").json[0]["elementId"] == "pack"
    told = orders("restart", old, "--before", "pack", "--without-business-id").out.splitlines()
    assert told[0].startswith(f"{old} → ")
    assert told[1] == "1 instance restarted"
    assert [row["businessId"] for row in orders("instances", "--json").json] == ["", "A-1", "A-1"]


def test_a_batch_is_tried_out_waited_for_and_its_failed_items_retried(shop: Shop, orders: Command):
    keys = [_start(orders) for _ in range(2)]
    assert orders("batch", "cancel", "--process", "order", "--dry-run").out == (
        "cancel would mean 2 items; nothing was changed\n"
    )
    asked = orders("batch", "cancel")
    assert asked.code == 2
    assert "No filter is said: cancel 2 items of all processes?" in asked.err
    orders("suspend", keys[0])
    begun = orders("batch", "cancel", "--state", "active", "--state", "suspended", "--process", "order")
    assert begun.out.startswith("Batch ")
    assert "No process works on this database" in begun.err
    _work(shop)
    (row,) = orders("batches", "--json").json
    key = row["batchKey"]
    assert (row["state"], row["done"], row["failed"]) == ("COMPLETED", 2, 0)
    waited = orders("batches", key, "--wait")
    assert waited.code == 0
    assert "COMPLETED" in waited.out
    retried = orders("batches", key, "--retry")
    assert retried.code == 1
    assert "no failed items to retry" in retried.err
    assert orders("batches", "--retry").code == orders("batches", key, "--cancel", "--wait").code == 2
    assert len(orders("instances", "--state", "terminated", "--state", "completed", "--json").json) == 2


def test_what_failed_for_good_is_named_to_be_retried(orders: Command):
    assert orders("retry").code == orders("retry", 1, "--all").code == 2
    assert orders("retry", "--all").out == "0 jobs retried\n"
    refused = orders("retry", 7)
    assert refused.code == 1
    assert "Expected a job with key 7, found none" in refused.err


def test_an_unknown_process_says_where_to_look(orders: Command):
    assert "procession definitions lists what is deployed" in orders("start", "nothing").err


def test_a_form_is_nothing_to_explore(orders: Command):
    refused = orders("explore", "approval.form")
    assert refused.code == 1
    assert "Expected a BPMN file at 'approval.form', found none" in refused.err
    assert "order" in orders("explore", ".").out
