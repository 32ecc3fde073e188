"""The processes that are measured: BPMN files beside this module, and chains of any length."""

from __future__ import annotations

from importlib import resources

from procession.model import Definition, compile_resource

METHODS_PROCESS = "bench-methods"
SERVICE_TASKS_PROCESS = "bench-service-tasks"
METHODS = ("first-call", "second-call")  # ids of the tasks, which are the names of the methods
JOB_TYPE = "rest-call"  # of both service tasks: one queue, so that its slots are all the slots for jobs
CALLS_PER_INSTANCE = 2

_CHAIN = """<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL"
  xmlns:zeebe="http://camunda.org/schema/zeebe/1.0" id="chain-definitions" targetNamespace="urn:procession:lab">
  <process id="chain" isExecutable="true"><startEvent id="task-0"/>{tasks}
    <sequenceFlow id="to-end" sourceRef="task-{length}" targetRef="end"/><endEvent id="end"/>
  </process></definitions>"""
_CHAIN_TASK = """
    <sequenceFlow id="to-task-{number}" sourceRef="task-{before}" targetRef="task-{number}"/>
    <serviceTask id="task-{number}"><extensionElements><zeebe:taskDefinition type="work"/></extensionElements>
    </serviceTask>"""


def model(name: str) -> bytes:
    """The bytes of a model, by its name without `.bpmn`."""
    return (resources.files("procession.lab") / "models" / f"{name}.bpmn").read_bytes()


def definitions(name: str) -> dict[str, Definition]:
    """The compiled processes of a model, by process id."""
    return _by_id(model(name), name)


def chain(length: int) -> dict[str, Definition]:
    """One process of so many service tasks in a row, compiled."""
    return _by_id(chain_model(length), "chain")


def chain_model(length: int) -> bytes:
    """The same as a model; its id is `chain`, the type of its jobs `work`."""
    tasks = "".join(_CHAIN_TASK.format(number=number, before=number - 1) for number in range(1, length + 1))
    return _CHAIN.format(tasks=tasks, length=length).encode()


def _by_id(content: bytes, name: str) -> dict[str, Definition]:
    compiled = compile_resource(content, name=name).definitions
    return {definition.process_id: definition for definition in compiled}
