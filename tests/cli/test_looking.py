"""Looking at what is there: tables for people, Camunda's names for programs, filters, pages."""

from __future__ import annotations

import pytest

from procession.testing.bpmn import process

WAITS = process("waits").start().user("first", name="First look").end()
LISTENS = process("listens").start().catch("hears", message="news", key="=topic").end("heard")
ALARM = process("alarm").start(signal="fire").user("evacuate").end()
LATER = process("later").start().catch("pause", timer="PT1H").end()


@pytest.fixture
def started(shop, command):
    """One instance of each; the keys by process id."""
    for name, model in {"waits": WAITS, "listens": LISTENS, "alarm": ALARM, "later": LATER}.items():
        shop.write(f"{name}.bpmn", model)
    command("deploy", ".")
    keys = {}
    for process_id in ("waits", "listens", "later"):
        arguments = ("--var", "topic=sport", "--business-id", f"B-{process_id}", "--tag", "t1")
        keys[process_id] = command("start", process_id, *arguments, "--json").json["processInstanceKey"]
    return keys


def test_instances_are_listed_newest_first_and_filtered(started, command):
    rows = command("instances", "--json").json
    assert [row["processInstanceKey"] for row in rows] == sorted(started.values(), reverse=True)
    assert {"processDefinitionId", "businessId", "hasIncident", "startDate"} <= set(rows[0])
    for arguments in (("--process", "waits"), ("--business-id", "B-waits")):
        (row,) = command("instances", *arguments, "--json").json
        assert row["processInstanceKey"] == started["waits"]
    assert len(command("instances", "--tag", "t1", "--state", "active", "--json").json) == 3
    assert command("instances", "--state", "completed", "--json").json == []
    assert command("instances", "--with-incident").err == "No instance is like that.\n"
    assert command("instances", "--state", "odd").code == 1


def test_a_full_page_tells_how_to_go_on(started, command):
    first = command("instances", "--limit", "2")
    after = first.err.split("--after ")[1].split()[0]
    (row,) = command("instances", "--limit", "2", "--after", after, "--json").json
    assert row["processInstanceKey"] == min(started.values())


def test_instances_are_counted_per_state(started, command):
    assert command("instances", "--count", "--json").json == {"ACTIVE": 3}
    assert "3" in command("instances", "--count").out


def test_an_instance_tells_what_it_waits_for(started, command):
    assert "waits for a person" in command("instance", started["waits"]).out
    assert "waits for the message 'news' with key 'sport'" in command("instance", started["listens"]).out
    assert "waits for the timer due at" in command("instance", started["later"]).out
    shown = command("instance", started["listens"], "--history", "--json").json
    assert shown["elements"][0]["elementId"] == "hears"
    assert shown["variables"] == {"topic": "sport"}
    assert {"position", "at", "event", "elementId", "details"} <= set(shown["history"][0])


def test_jobs_subscriptions_and_definitions_are_listed(started, command):
    (timer,) = command("jobs", "--kind", "timer", "--json").json
    assert timer["processInstanceKey"] == started["later"]
    assert "(timer)" in command("jobs").out
    assert command("jobs", "--count", "--json").json == [{"queue": "$timer", "state": "SCHEDULED", "jobs": 1}]
    assert {row["name"] for row in command("subscriptions", "--json").json} == {"news", "fire"}
    assert command("subscriptions", "--instance", started["listens"], "--json").json[0]["correlationKey"] == "sport"
    assert {row["processDefinitionId"] for row in command("definitions", "--json").json} == {
        "waits",
        "listens",
        "alarm",
        "later",
    }


def test_a_message_reaches_who_waits_or_is_kept_or_is_gone(started, shop, command):
    assert command("publish", "news", "--key", "chess").code == 1
    kept = command("publish", "news", "--key", "chess", "--ttl", "1h", "--message-id", "m1")
    assert kept.code == 0
    assert "kept for 1h" in kept.out
    assert "known already" in command("publish", "news", "-k", "chess", "--ttl", "1h", "--message-id", "m1").out
    (message,) = command("messages", "--json").json
    assert message["correlationKey"] == "chess"
    reached = command("publish", "news", "--key", "sport", "--var", "goal=true", "--json").json
    assert reached["processInstanceKeys"] == [started["listens"]]
    shop.work_off()
    details = command("instance", started["listens"], "--json").json
    assert details["instance"]["state"] == "COMPLETED"
    assert details["variables"]["goal"] is True


def test_variables_start_what_their_conditions_start(shop, command):
    climate = process("climate").start("cold", condition="=temperature < 5").user("stove").end()
    shop.write("climate.bpmn", climate)
    command("deploy", ".")
    assert command("conditions", "climate", "--var", "temperature=20").out == "0 instances started\n"
    (key,) = command("conditions", "climate", "--var", "temperature=1", "--json").json["processInstanceKeys"]
    shop.work_off()
    assert command("instance", key, "--json").json["elements"][0]["elementId"] == "stove"
    assert command("conditions", "nothing").code != 0


def test_a_signal_starts_who_waits_for_it(started, shop, command):
    (key,) = command("broadcast", "fire", "--json").json["processInstanceKeys"]
    shop.work_off()
    assert command("instance", key, "--json").json["elements"][0]["elementId"] == "evacuate"
    assert command("broadcast", "silence").out == "0 instances reached or started\n"


def test_variables_are_set(started, command):
    assert command("variables", "set", started["waits"], "topic=art", 'more={"a":1}').code == 0
    assert command("instance", started["waits"], "--json").json["variables"] == {"topic": "art", "more": {"a": 1}}
    assert command("variables", "set", started["waits"]).code == 2


def test_tasks_are_listed_assigned_and_completed(started, command):
    assert "First look" in command("tasks").out
    (task,) = command("tasks", "list", "--instance", started["waits"], "--json").json
    assert command("tasks", "assign", task["userTaskKey"], "ada").code == 0
    assert command("tasks", "assign", task["userTaskKey"]).out.endswith("to nobody\n")
    assert command("tasks", "complete", task["userTaskKey"], "--vars", '{"seen": true}').code == 0
    assert command("tasks", "complete", task["userTaskKey"]).code == 1
    assert command("tasks").err == "No user task is open.\n"


def test_named_instances_are_canceled_and_those_that_cannot_be_are_told(started, command):
    answer = command("cancel", started["waits"], 7, "--reason", "a test", "--json")
    assert answer.code == 1
    assert answer.json["canceled"] == [started["waits"]]
    assert answer.json["refused"][0]["key"] == 7
    assert "ended: a test" in command("instance", started["waits"], "--history").out
    assert command("instance", started["later"], "--json").json["instance"]["state"] == "ACTIVE"


def test_many_instances_are_canceled_by_description_after_a_yes(started, command):
    assert command("cancel").code == 2
    assert command("cancel", started["waits"], "--process", "waits").code == 2
    unasked = command("cancel", "--tag", "t1")
    assert unasked.code == 2
    assert "--yes" in unasked.err
    assert command("cancel", "--tag", "t1", "--yes").out == "3 instances canceled\n"
    assert command("instances", "--count", "--json").json == {"TERMINATED": 3}


def test_incidents_are_listed_and_resolved(order, shop, command):
    command("deploy", order, "--app", "shop:app")
    keys = [
        command("start", "order", "--json", "--var", "items=[1]", "--var", "card=bad").json["processInstanceKey"]
        for _ in range(3)
    ]
    shop.work_off(app="shop:app")
    rows = command("incidents", "--json").json
    assert {row["processInstanceKey"] for row in rows} == set(keys)
    assert "ValueError: the card is bad" in command("incidents").out
    shown = command("instance", keys[0])
    assert f"procession resolve {rows[0]['incidentKey']}" in shown.out
    assert "ValueError" in shown.out
    command("variables", "set", keys[0], "card=good")

    assert command("resolve", "--process", "order").code == 2
    assert command("resolve", rows[0]["incidentKey"], "--retries", 2).out == "1 incident resolved\n"
    assert command("resolve", "--all", "--yes").out == "2 incidents resolved\n"
    shop.work_off(app="shop:app")
    assert {row["processInstanceKey"] for row in command("incidents", "--json").json} == set(keys[1:])
    story = command("instance", keys[0], "--history").out
    assert "✗ incident" in story
    assert "✓ incident" in story
