"""Processes that message each other: who waits for whom, and what is left on the way."""

from __future__ import annotations

import pytest

from procession.explorer import Network, Report, Verdict, explore_together
from procession.testing.bpmn import ProcessBuilder, process, resource
from tests.explorer.models import compiled, told


def together(*processes: ProcessBuilder, flows: dict[str, str], network: Network = Network.BAG) -> Report:
    """Explore processes with message flows, source to target."""
    drawn = "".join(f'<bpmn:messageFlow id="{a}-{b}" sourceRef="{a}" targetRef="{b}"/>' for a, b in flows.items())
    content = resource(*processes, raw=f'<bpmn:collaboration id="c">{drawn}</bpmn:collaboration>')
    found = compiled(content)
    return explore_together(found.definitions, found.message_flows, network=network)


def asking() -> ProcessBuilder:
    return process("asks").start("s1").send("ask", message="q").receive("answered", message="a").end("e1")


def answering() -> ProcessBuilder:
    return process("answers").start("s2").receive("asked", message="q").send("answer", message="a").end("e2")


def test_question_and_answer_are_sound_together():
    report = together(asking(), answering(), flows={"ask": "asked", "answer": "answered"})
    assert told(report) == []
    assert report.is_sound
    assert not report.leaves_messages


def test_two_that_wait_for_each_other_are_a_deadlock():
    first = process("a").start("s1").receive("hear-a", message="x").send("say-a", message="y").end("e1")
    second = process("b").start("s2").receive("hear-b", message="y").send("say-b", message="x").end("e2")
    report = together(first, second, flows={"say-a": "hear-b", "say-b": "hear-a"})
    deadlock = report.of(Verdict.DEADLOCK)[0]
    assert "'hear-a', 'hear-b'" in deadlock.message
    assert [(step.process_id, step.action) for step in deadlock.trace] == [("a", "start"), ("b", "start")]
    assert not report.can_end


def test_a_message_that_is_not_received_on_every_way_is_left():
    second = process("answers").start("s2").exclusive("which").when("=a").receive("asked", message="q").end("e2")
    second.at("which").otherwise().end("e3")
    report = together(process("asks").start("s1").send("ask", message="q").end("e1"), second, flows={"ask": "asked"})
    assert told(report) == [("IMPROPER_COMPLETION", "ask")]
    assert report.leaves_messages
    assert report.is_sound  # the processes themselves end properly


def test_a_message_starts_the_process_that_it_leads_to():
    second = process("answers").start("asked", message="q").service("think").end("e2")
    report = together(process("asks").start("s1").send("ask", message="q").end("e1"), second, flows={"ask": "asked"})
    assert told(report) == []


def test_a_process_that_nobody_starts_is_dead_but_no_deadlock():
    second = process("answers").start("asked", message="q").service("think").end("e2")
    first = process("asks").start("s1").exclusive("which").when("=n = 1").task("no").end("e1")
    first.apart().send("ask", message="q").end("e3")
    report = together(first, second, flows={"ask": "asked"})
    assert ("DEAD_ELEMENT", "asked") in told(report)
    assert report.can_end


@pytest.mark.parametrize("network", [Network.BAG, Network.PAIR, Network.INBOX, Network.OUTBOX, Network.FIFO])
def test_messages_received_in_another_order_than_sent_need_a_network_that_keeps_none(network):
    first = process("a").start("s1").send("one", message="1").send("two", message="2").end("e1")
    second = process("b").start("s2").receive("second", message="2").receive("first", message="1").end("e2")
    report = together(first, second, flows={"one": "first", "two": "second"}, network=network)
    assert report.can_end is (network == Network.BAG)


def test_in_a_synchronous_network_nobody_sends_while_a_message_is_on_its_way():
    first = process("a").start("s1").send("one", message="1").send("two", message="2").end("e1")
    second = process("b").start("s2").receive("first", message="1").receive("second", message="2").end("e2")
    flows = {"one": "first", "two": "second"}
    slow = together(first, second, flows=flows, network=Network.SYNCHRONOUS)
    assert slow.can_end
    assert slow.states < together(first, second, flows=flows).states


def test_messages_that_are_sent_without_end_reach_the_bound():
    first = process("a").start("s1").exclusive("in").send("one", message="1").to("in")
    second = process("b").start("s2").receive("first", message="1").end("e2")
    report = together(first, second, flows={"one": "first"})
    assert "TOKENS_MAX" in report.bounds
