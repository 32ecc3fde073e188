"""Drives SpiffWorkflow in memory: a process of two service tasks from start to end, nothing stored."""
# pyright: basic, reportMissingImports=false

from __future__ import annotations

import asyncio
import io

from lxml import etree
from speaking import Queue, speak
from SpiffWorkflow.bpmn.parser import BpmnParser
from SpiffWorkflow.bpmn.workflow import BpmnWorkflow

MODEL = b"""<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" id="d" targetNamespace="urn:bench">
  <process id="bench" isExecutable="true">
    <startEvent id="start"/><sequenceFlow id="f1" sourceRef="start" targetRef="one"/>
    <scriptTask id="one"><script>pass</script></scriptTask><sequenceFlow id="f2" sourceRef="one" targetRef="two"/>
    <scriptTask id="two"><script>pass</script></scriptTask><sequenceFlow id="f3" sourceRef="two" targetRef="end"/>
    <endEvent id="end"/>
  </process></definitions>"""
GIVE_WAY = 50  # instances between two words to the owner


class SpiffWorkflowEngine(Queue):
    """Its own words: a parser's spec, a workflow, engine steps."""

    async def open(self) -> None:
        """Read the model once."""
        parser = BpmnParser()
        parser.add_bpmn_xml(etree.parse(io.BytesIO(MODEL)))
        self._spec = parser.get_spec("bench")

    async def steps(self) -> None:
        """One instance after the other: nothing is waited for, so callers at once would change nothing."""
        for number in range(self.order["jobs"]):
            workflow = BpmnWorkflow(self._spec)
            workflow.do_engine_steps()
            if not workflow.is_completed():
                message = f"instance {number} did not complete"
                raise RuntimeError(message)
            self.done += 1
            if number % GIVE_WAY == 0:
                await asyncio.sleep(0)


if __name__ == "__main__":
    speak(SpiffWorkflowEngine)
