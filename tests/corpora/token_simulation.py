"""The token simulator's cases, run on the rules: flows taken, elements run, tokens waiting, instances ended.

The diagrams are completed as an engine wants them (``_simulator_models``), then triggered as the case says. Orders are
not compared; they are the simulator's own except along one token's path.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any

from procession.model import InvalidModel
from procession.model.definition import Kind
from procession.testing.world import CoreWorld, WorldRun
from tests.corpora._simulator_models import completed
from tests.corpora.runner import Case, Failed, Judge


def cases(folder: Path) -> Iterable[Case]:
    """A case per entry of ``cases.json``."""
    for case in json.loads((folder / "cases.json").read_text()):
        yield Case(case["name"], partial(check, folder / case["diagram"], case))


def check(path: Path, case: dict[str, Any]) -> None:
    """Run one case; a difference where the simulator deviates from the standard is told with the reason."""
    try:
        judge(path, case)
    except Failed as difference:
        reason = case.get("deviation", {}).get("bpmn")
        raise Failed(f"{difference}" + (f" [the simulator deviates: {reason}]" if reason else "")) from None


def judge(path: Path, case: dict[str, Any]) -> None:
    """Run one case and compare what is to be seen."""
    entries = [*case["setup"], *case["steps"]]
    chosen: dict[str, list[str]] = {}
    for entry in reversed(entries):
        if "config" in entry:
            chosen[entry["config"]] = entry["outgoing"]
    wait_at = {entry["wait_at"] for entry in entries if "wait_at" in entry}
    driver = Driver(chosen)
    try:
        driver.world.deploy(completed(path.read_bytes(), wait_at, chosen), lenient=True)
    except InvalidModel as refused:
        raise Failed(f"refused: {refused}") from None
    for step in case["steps"]:
        driver.step(step)
    expect = case["expect"]
    flows, activated = Counter(expect["flows_taken"]), Counter(expect["activated"])
    if not expect.get("order_sensitive"):
        compare("flows taken", flows, driver.flows())
        compare("activated", activated, driver.activated())
    compare(
        "waiting", Counter(f"{token['instance']} {token['element']}" for token in expect["waiting"]), driver.waiting()
    )
    compare("ended", [instance["ended"] for instance in expect["instances"]], driver.ended())


def compare(what: str, expected: object, found: object) -> None:
    """Raises Failed."""
    if expected == found:
        return
    if isinstance(expected, Counter) and isinstance(found, Counter):
        raise Failed(f"{what}: missing {dict(expected - found)}, too many {dict(found - expected)}")
    raise Failed(f"{what}: expected {expected}, found {found}")


class Driver:
    """Triggers what a case triggers."""

    def __init__(self, chosen: dict[str, list[str]]) -> None:
        self.world = CoreWorld()
        self.variables: dict[str, Any] = {"chosen": chosen}

    @property
    def runs(self) -> list[WorldRun]:
        """The instances in the order of their creation."""
        return list(self.world.instances.values())

    def step(self, step: dict[str, Any]) -> None:
        """One step of a case."""
        if "config" in step:
            self.variables["chosen"] = {**self.variables["chosen"], step["config"]: step["outgoing"]}
            for run in self.runs:
                if not run.ended:
                    run.set(**self.variables)
        elif step["role"] == "message_flow":
            self.world.publish(f"to {step['target']}", variables=self.variables)
        elif step["role"] in {"process_start", "implicit_start"}:
            self.start(step["trigger"])
        else:
            self.trigger(step)

    def start(self, element: str) -> None:
        """Start an instance at an element, whatever it waits for."""
        for versions in self.world.definitions.values():
            index = versions[-1].index_of.get(element, -1)
            if index >= 0:
                self.world.start(versions[-1].process_id, dict(self.variables), start=element)
                return
        raise Failed(f"no process has the start '{element}'")

    def trigger(self, step: dict[str, Any]) -> None:
        """Something happens at an element of an instance."""
        run, element = self.runs[step["instance"] - 1], step["trigger"]
        if step["role"] == "wait_at":
            run.complete(element)
        elif step["kind"] == "timer":
            run.fire(element)
        else:
            run.trigger(element)

    def flows(self) -> Counter[str]:
        """How often each flow was taken; the simulator takes none from an event-based gateway to its events."""
        return Counter(flow for run in self.runs for flow in run.flows if not _behind_event_gateway(run, flow))

    def activated(self) -> Counter[str]:
        """How often each element ran."""
        return Counter(element for run in self.runs for element in run.passed)

    def waiting(self) -> Counter[str]:
        """Tokens that wait, as "instance element"."""
        found: Counter[str] = Counter()
        for number, run in enumerate(self.runs, 1):
            elements, nodes = run.definition.elements, run.now_state.nodes
            scopes = {node.scope for node in nodes.values()}
            for node in nodes.values():
                if node.key not in scopes and node.key != run.now_state.root:
                    found[f"{number} {elements[node.element].id}"] += 1
            for flow, count in run.parked().items():
                index = next(flow_.target for flow_ in run.definition.flows if flow_.id == flow)
                found[f"{number} {elements[index].id}"] += count
        return found

    def ended(self) -> list[bool]:
        """Which instances are over."""
        return [run.ended or run.terminated for run in self.runs]


def _behind_event_gateway(run: WorldRun, flow_id: str) -> bool:
    definition = run.definition
    return any(
        flow.id == flow_id and definition.elements[flow.source].kind == Kind.EVENT_BASED_GATEWAY
        for flow in definition.flows
    )


JUDGES = (Judge("token-simulation", "token-simulation", cases),)
