"""betsy's feature tests, run: the scripts of its models become jobs of a shim that keeps the log which is expected.

The shim is all that is particular here. A script's text is the job's type; conditions over the input letters are
translated to FEEL; everything else is the engine's. A log must be as expected: to the letter where the model has one
path, as a multiset where it forks. Delays are virtual.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

from lxml import etree

from procession.core.commands import CompleteJob, ThrowError
from procession.core.state import IncidentKind
from procession.model import InvalidModel
from procession.testing.world import CoreWorld, WorldRun
from tests.corpora.runner import Case, Failed, Judge

BPMN = "{http://www.omg.org/spec/BPMN/20100524/MODEL}"
WAIT_MS = {"WAIT_TEN_SECONDS": 10_000}
LONG_MS = 120_000  # after the delay that a case names, timers have this long to come to rest
JOBS_MAX = 1_000
FORKS = ("parallelGateway", "inclusiveGateway", "complexGateway")


def cases(folder: Path) -> Iterable[Case]:
    """A case per input of each test."""
    for test in json.loads((folder / "expected.json").read_text()):
        for number, case in enumerate(test["cases"]):
            name = f"{test['file']} {case['input'] or number}"
            yield Case(name, partial(check, folder / test["file"], test["test"], case))


def check(path: Path, process_id: str, case: dict[str, Any]) -> None:
    """Run one case and compare the log."""
    root = etree.parse(path).getroot()
    shim = Shim(translate(root))
    try:
        shim.world.deploy(etree.tostring(root), methods=tuple(shim.scripts), lenient=True)
    except InvalidModel as refused:
        if case["trace"] == ["GenericError"]:
            return
        raise Failed(str(refused)) from None
    variables: dict[str, Any] = {"test": (case["input"] or "").lower()}
    if "integerVariable" in case:
        variables["integerVariable"] = case["integerVariable"]
    if case.get("parallelProcess"):
        shim.world.start("ParallelProcess", variables)
    definition = shim.world.latest(process_id)
    if definition.none_start >= 0:
        shim.world.start(process_id, variables)
    shim.run(case.get("delay_ms", 0))
    try:
        compare(shim.log, case["trace"], forks=forks(root))
    except Failed as difference:
        if unwritten := shim.unwritten(case["trace"]):
            raise Failed(f"{difference} [no script of the model writes {unwritten}]") from None
        raise


class Shim:
    """A world whose workers carry out betsy's scripts."""

    def __init__(self, scripts: dict[str, str]) -> None:
        self.world = CoreWorld()
        self.scripts = scripts  # by element id
        self.log: list[str] = []
        self._busy: dict[int, int] = {}  # jobs that take their time: until when

    def run(self, delay_ms: int) -> None:
        """Work until nothing is left but what nobody triggers."""
        for _ in range(JOBS_MAX):
            if not self._work():
                break
        else:
            raise Failed(f"more than {JOBS_MAX} jobs")
        for _ in range(delay_ms // 1_000 + LONG_MS // 1_000):
            self.world.advance(1_000)
            while self._work():
                pass
        self._report_incidents()

    def unwritten(self, expected: list[str]) -> str:
        """The tasks of an expected log that no script of the model can write, whatever is executed: its own mistake."""
        written = {script.replace("SCRIPT_task", "Task") for script in self.scripts.values()}
        return ", ".join(entry for entry in expected if re.fullmatch(r"Task\d", entry) and entry not in written)

    def _work(self) -> bool:
        """Carry out the oldest job that is not busy. False when there is none."""
        jobs = [
            (key, self.scripts[made.type], run)
            for run in self.world.instances.values()
            for key, made in run.jobs.items()
        ]
        for key, script, run in sorted(jobs, key=lambda job: job[0]):
            if key not in self._busy and script in WAIT_MS:
                self._busy[key] = self.world.now + WAIT_MS[script]
            stuck = any(incident.job == key for incident in run.incidents)
            if not stuck and self._busy.get(key, 0) <= self.world.now:
                self._carry_out(run, key, script)
                return True
        return False

    def _carry_out(self, run: WorldRun, job: int, script: str) -> None:
        if script == "THROW_ERROR":
            run.send(ThrowError(job, "ERR_CODE"))
        else:
            run.send(CompleteJob(job, self._script(script, run)))

    def _script(self, script: str, run: WorldRun) -> dict[str, Any]:
        if found := re.fullmatch(r"SCRIPT_task(\d)", script):
            self.log.append(f"Task{found[1]}")
        elif script == "CREATE_MARKER_FILE":
            self.log.append("MarkerExists")
        elif script == "SET_STRING_DATA":
            return {"data": "String"}
        elif script == "LOG_DATA":
            self.log.append("DataCorrect" if run.variables.get("data") == "String" else "DataWrong")
        elif script == "INCREMENT_INTEGER_VARIABLE":
            return {"integerVariable": run.variables["integerVariable"] + 1}
        elif script == "INCREMENT_INTEGER_VARIABLE_AND_LOG":
            value = run.variables["integerVariable"] + 1
            self.log.append(str(value))
            return {"integerVariable": value}
        elif script not in {"CREATE_LOG_FILE", *WAIT_MS}:
            raise Failed(f"the shim does not know the script '{script}'")
        return {}

    def _report_incidents(self) -> None:
        for run in self.world.instances.values():
            for incident in run.incidents:
                uncaught = incident.kind == IncidentKind.UNHANDLED_ERROR_EVENT
                self.log.append("ErrorThrownErrorEvent" if uncaught else "GenericError")


def translate(root: etree._Element) -> dict[str, str]:
    """Conditions become FEEL. Returns the scripts by element id: they become methods."""
    for node in root.iter():
        if isinstance(node.tag, str) and node.text and "test.contains" in node.text:
            node.text = re.sub(r'test\.contains\("(\w)"\)', r'contains(test, "\1")', node.text)
    return {
        task.get("id", ""): (task.findtext(f"{BPMN}script") or "").strip() for task in root.iter(f"{BPMN}scriptTask")
    }


def forks(root: etree._Element) -> bool:
    """Whether something may happen side by side, so that the order of the log is not given."""

    def any_of(tag: str, holds: Callable[[etree._Element], bool]) -> bool:
        return any(holds(node) for node in root.iter(f"{BPMN}{tag}"))

    outgoing = Counter(flow.get("sourceRef") for flow in root.iter(f"{BPMN}sequenceFlow"))
    gateways = {
        node.get("id") for tag in (*FORKS, "exclusiveGateway", "eventBasedGateway") for node in root.iter(BPMN + tag)
    }
    forking = {node.get("id") for tag in FORKS for node in root.iter(f"{BPMN}{tag}")}
    return (
        any(count > 1 and (source in forking or source not in gateways) for source, count in outgoing.items())
        or any_of("boundaryEvent", lambda node: node.get("cancelActivity") == "false")
        or any_of("startEvent", lambda node: node.get("isInterrupting") == "false")
        or any_of(
            "multiInstanceLoopCharacteristics",
            lambda node: node.get("isSequential") != "true" or node.get("behavior", "All") != "All",
        )
        or len(list(root.iter(f"{BPMN}process"))) > 1
    )


def compare(log: list[str], expected: list[str], *, forks: bool) -> None:
    """The log is as expected. Raises Failed."""
    same = Counter(log) == Counter(expected) if forks else log == expected
    if not same:
        raise Failed(f"expected {expected}, found {log}")


JUDGES = (Judge("betsy", "betsy", cases),)
