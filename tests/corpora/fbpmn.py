"""The verdicts of a model checker for BPMN collaborations, and those of the explorer, network by network.

Its ``Safe`` is ours; its ``Message sound`` is: always can end, and no end event of a process is reached twice; its
``Sound`` is that, and no message is left. Compared are six of its seven networks; causal order is not modelled. Where
its semantics are not BPMN's, the kind of model says so and the difference is told with the reason.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import partial
from pathlib import Path

from procession.explorer import Network, Report, explore_together
from procession.model import Resource, compile_resource
from procession.model.definition import Definition, Element, Kind, Trigger
from tests.corpora.runner import Case, Failed, Judge

NETWORKS = {
    "Network01Bag": Network.BAG,
    "Network02FifoPair": Network.PAIR,
    "Network04Inbox": Network.INBOX,
    "Network05Outbox": Network.OUTBOX,
    "Network06Fifo": Network.FIFO,
    "Network07RSC": Network.SYNCHRONOUS,
}
PROPERTIES = ("safe", "sound", "message sound")
_SECTION = re.compile(r"-{5,} (Network\w+) -{5,}\n(.*?)(?=\n-{5,}|\Z)", re.DOTALL)
_VERDICT = re.compile(r"\[(.)\] Prop0[234]")


def cases(folder: Path) -> Iterable[Case]:
    """A case per model and network of which a verdict is given."""
    for path in sorted(folder.rglob("*.expected")):
        model = path.parent.parent / "src" / f"{path.stem}.bpmn"
        for name, text in _SECTION.findall(path.read_text()):
            verdicts = tuple(mark == "X" for mark in _VERDICT.findall(text))
            if name in NETWORKS and len(verdicts) == len(PROPERTIES):
                yield Case(f"{path.stem}:{NETWORKS[name].value}", partial(check, model, NETWORKS[name], verdicts))


def check(path: Path, network: Network, expected: tuple[bool, ...]) -> None:
    """Explore and compare. Raises Failed."""
    resource = compile_resource(path.read_bytes(), executable_only=False, lenient=True)
    report = explore_together(resource.definitions, resource.message_flows, network=network)
    found = (report.is_safe, report.is_sound and not report.leaves_messages, report.is_sound)
    if found == expected:
        return
    pairs = [
        f"{name}: expected {wanted}, found {given}"
        for name, wanted, given in zip(PROPERTIES, expected, found, strict=True)
        if wanted != given
    ]
    raise Failed("; ".join(pairs) + reason(resource, report, network))


def reason(resource: Resource, report: Report, network: Network) -> str:
    """Why a model of this kind is judged in another way there, as far as it is known."""
    elements = [element for definition in resource.definitions for element in definition.elements]
    if any(_repeats(element) for element in elements):
        return " [there a non-interrupting timer without a cycle fires again and again; in BPMN it fires once]"
    if network != Network.BAG and any(_waits_for_several(one, resource) for one in resource.definitions):
        return (
            " [there an event-based gateway decides for a message that the network does not let it receive yet;"
            " here the event decides when it happens]"
        )
    return f" [explored up to {', '.join(report.bounds)}]" if report.bounds else ""


def _repeats(element: Element) -> bool:
    """Whether this is a non-interrupting timer on an activity."""
    timer = any(spec.trigger == Trigger.TIMER for spec in element.events)
    return element.kind == Kind.BOUNDARY_EVENT and not element.interrupting and timer


def _waits_for_several(definition: Definition, resource: Resource) -> bool:
    """Whether an event-based gateway waits for messages of several message flows."""
    targets = {flow.target for flow in resource.message_flows}
    return any(
        sum(definition.elements[definition.flows[flow].target].id in targets for flow in element.outgoing) > 1
        for element in definition.elements
        if element.kind == Kind.EVENT_BASED_GATEWAY
    )


JUDGES = (Judge("fbpmn:explore", "fbpmn", cases),)
