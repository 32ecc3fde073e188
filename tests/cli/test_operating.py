"""Stories of the command line for operators: modify, suspend, resume, migrate."""

from __future__ import annotations

from procession.testing.bpmn import process
from tests.cli.stage import Command, Shop


def test_an_instance_is_moved_suspended_resumed_and_migrated(shop: Shop, command: Command):
    shop.write("order.bpmn", process("order").start().user("check").user("pack").end())
    command("deploy", "order.bpmn")
    key = command("start", "order", "--json").json["processInstanceKey"]

    assert command("modify", key, "--move", "check=pack").out == "1 instance modified\n"
    assert command("suspend", key).out == "1 instance suspended\n"
    assert command("instance", key, "--json").json["instance"]["state"] == "SUSPENDED"
    assert command("resume", key, "--json").json == {"resumed": [int(key)], "refused": []}

    shop.write("order.bpmn", process("order").start().user("check").user("wrap").end())
    command("deploy", "order.bpmn")
    target = command("definitions", "order", "--json").json[0]["processDefinitionKey"]
    looked = command("migrate", key, "--to", target, "--dry-run")
    assert looked.code == 1
    assert "'pack' is active and the target has no 'pack': map it" in " ".join(looked.out.split())
    assert command("migrate", key, "--to", target, "--map", "pack=wrap", "--dry-run").code == 0
    assert command("migrate", key, "--to", target, "--map", "pack=wrap").out == "1 instance migrated\n"
    (element,) = command("instance", key, "--json").json["elements"]
    assert element["elementId"] == "wrap"


def test_a_modification_that_says_nothing_or_half_is_wrong_usage(shop: Shop, command: Command):
    assert command("modify", 1).code == 2
    assert command("modify", 1, "--move", "check").code == 2


def test_a_batch_is_begun_shown_and_worked_off_and_the_ended_are_deleted(shop: Shop, command: Command):
    shop.write("order.bpmn", process("order").start().user("check").end())
    command("deploy", "order.bpmn")
    keys = [command("start", "order", "--json").json["processInstanceKey"] for _ in range(2)]
    begun = command("batch", "cancel", "--process", "order", "--reason", "a mistake", "--json").json
    assert (begun["total"], begun["state"]) == (2, "ACTIVE")
    key = begun["batchKey"]
    assert "0" in command("batches").out
    instance, job = command("instances", "--json").json[0]["processInstanceKey"], "7"
    assert "has the business id A-99" in command("business-id", instance, "A-99").err
    assert command("business-id", instance, "A-98").code == 1
    assert command("update-jobs", job, "--priority", "5").code == 1
    assert command("update-jobs", job).code == 1
    command("batches", key, "--suspend")
    assert command("batches", key, "--json").json["state"] == "SUSPENDED"
    assert command("batches", key, "--suspend", "--resume").code == 2
    command("batches", key, "--resume")
    assert command("batches", key, "--json").json["state"] == "ACTIVE"
    command("batches", key, "--cancel")
    assert command("batches", key, "--json").json["state"] == "CANCELED"
    assert command("batches", key, "--cancel").code == 1
    command("cancel", *keys)
    assert command("delete", keys[0], "--yes").out == "1 instance deleted\n"
    target = command("definitions", "order", "--json").json[0]["processDefinitionKey"]
    assert command("delete", "--definition", target, "--yes").out == "1 version deleted\n"
    assert command("instance", keys[1]).code == 1
    assert command("delete").code == 2
