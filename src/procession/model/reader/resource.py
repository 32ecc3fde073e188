"""The root of a file: what it declares for its processes, which vendor wrote it, which processes are executable."""

from __future__ import annotations

from typing import Final

from procession.model.reader.reading import Reading
from procession.model.reader.structure import EVENT_DEFINITIONS, KINDS, NOT_EXECUTABLE
from procession.model.xml import BPMN_URI, CAMUNDA, MODEL, ZEEBE, Xml

# Root elements of BPMN that say nothing about execution.
_PASSIVE: Final = frozenset(
    {
        "import",
        "extension",
        "relationship",
        "itemDefinition",
        "dataStore",
        "resource",
        "interface",
        "endPoint",
        "category",
        "partnerEntity",
        "partnerRole",
        "correlationProperty",
        "documentation",
        "extensionElements",
        "collaboration",
        "globalCommunication",
        "process",
    }
)


def vendors(root: Xml) -> tuple[bool, bool]:
    """Whether the file is written for Camunda 8, and whether for Camunda 7 or a relative of it."""
    platform = root.get("modeler:executionPlatform").lower()
    zeebe, camunda = "cloud" in platform, "platform" in platform
    for node in root.walk():
        if zeebe and camunda:
            break
        zeebe = zeebe or node.space == ZEEBE
        camunda = camunda or node.space == CAMUNDA
        for name in node.attributes:
            zeebe = zeebe or name.startswith("zeebe:")
            camunda = camunda or name.startswith("camunda:")
    return zeebe, camunda


def read_declarations(root: Xml, reading: Reading) -> bool:
    """Collect messages, signals, errors, ... False if the file is no BPMN file at all."""
    findings = reading.findings
    if root.name != "definitions":
        message = f"The root element is '{root.name}', not BPMN's 'definitions'"
        findings.error("NOT_BPMN", message, root, "Deploy a BPMN 2.0 file")
        return False
    if not any(child.name in KNOWN_ROOTS and child.space == MODEL for child in root.children):
        message = f"The file holds no BPMN (whose namespace is {BPMN_URI}): nothing in it is a process"
        findings.error("NOT_BPMN", message, root, "Deploy a BPMN 2.0 file with a process")
        return False
    declared = reading.declared
    tables = {
        "message": declared.messages,
        "signal": declared.signals,
        "error": declared.errors,
        "escalation": declared.escalations,
    }
    for child in root.children:
        if child.space != MODEL:
            continue
        table = tables.get(child.name)
        if table is not None:
            _declare(table, child, reading)
        elif child.name in EVENT_DEFINITIONS:
            _declare(declared.event_definitions, child, reading)
        elif child.name in NOT_EXECUTABLE:
            message = f"'{child.name}' is not executable"
            findings.error("UNSUPPORTED_ELEMENT", message, child, "Remove it from the file")
        elif child.name in KINDS or child.name not in _PASSIVE:
            message = f"'{child.name}' is not an element that BPMN has here"
            findings.error("UNKNOWN_ELEMENT", message, child, "Remove it, or correct its name")
    for collaboration in root.every("collaboration"):
        _read_collaboration(collaboration, reading)
    return True


KNOWN_ROOTS: Final = (_PASSIVE | NOT_EXECUTABLE | EVENT_DEFINITIONS | {"message", "signal", "error", "escalation"}) - {
    "import",
    "extension",
    "documentation",
    "extensionElements",
}


def _declare(table: dict[str, Xml], xml: Xml, reading: Reading) -> None:
    if not xml.id:
        reading.findings.error("MISSING_ID", f"A {xml.name} has no id", xml, "Give it an id")
    elif xml.id in table:
        message = f"The id '{xml.id}' is used twice, here and in line {table[xml.id].line}"
        reading.findings.error("DUPLICATE_ID", message, xml, "Give every element its own id")
    table.setdefault(xml.id, xml)


def _read_collaboration(collaboration: Xml, reading: Reading) -> None:
    """A collaboration is a drawing around processes; only its associations matter, and what it may not hold."""
    for child in collaboration.children:
        if child.name == "association":
            reading.declared.associations.append(child)
        elif child.name in NOT_EXECUTABLE and child.space == MODEL:
            message = f"'{child.name}' is not executable"
            reading.findings.error("UNSUPPORTED_ELEMENT", message, child, "Remove it from the collaboration")


def choose_processes(root: Xml, reading: Reading, *, executable_only: bool) -> list[tuple[Xml, bool]]:
    """The processes to compile, each with whether it is executable.

    An `isExecutable` that is missing counts as true, unless another process of the file says true: then the one
    without is the drawing of a partner. Nothing is executable in a process without any element.
    """
    findings = reading.findings
    processes = list(root.every("process"))
    stated = [_is_executable(xml, reading) for xml in processes]
    some_say_so = any(answer is True for answer in stated)
    chosen: list[tuple[Xml, bool]] = []
    for xml, answer in zip(processes, stated, strict=True):
        is_empty = not any(child.name in KINDS for child in xml.children)
        executable = answer is True or (answer is None and not some_say_so and not is_empty)
        if answer is None and executable:
            message = f"The process '{xml.id}' does not say whether it is executable; it counts as executable"
            findings.info("EXECUTABLE_ASSUMED", message, xml, 'Write isExecutable="true"')
        if executable or (not executable_only and not is_empty):
            chosen.append((xml, executable))
    _check_ids([xml for xml, _ in chosen], reading)
    if not chosen:
        _refuse_file(root, processes, reading)
    return chosen


def _is_executable(xml: Xml, reading: Reading) -> bool | None:
    text = xml.get("isExecutable").strip()
    if text in {"true", "1"}:
        return True
    if text in {"false", "0"}:
        return False
    if text:
        message = f"isExecutable must be true or false, not '{text}'"
        reading.findings.error("INVALID_ATTRIBUTE", message, xml)
    return None


def _check_ids(processes: list[Xml], reading: Reading) -> None:
    seen: dict[str, Xml] = {}
    for xml in processes:
        if not xml.id:
            reading.findings.error("MISSING_ID", "A process has no id", xml, "Give it an id; it is started by it")
        elif xml.id in seen:
            message = f"The id '{xml.id}' is used twice, here and in line {seen[xml.id].line}"
            reading.findings.error("DUPLICATE_ID", message, xml, "Give every process its own id")
        seen[xml.id] = xml


def _refuse_file(root: Xml, processes: list[Xml], reading: Reading) -> None:
    findings = reading.findings
    if not processes:
        findings.error("NO_PROCESS", "The file has no process", root, "Add a process")
        return
    for xml in processes:
        if any(child.name in KINDS for child in xml.children):
            message = f"The process '{xml.id}' is not executable, and the file has no other that is"
            findings.error("NO_EXECUTABLE_PROCESS", message, xml, 'Set isExecutable="true"')
        else:
            findings.error("EMPTY_PROCESS", f"The process '{xml.id}' has no element", xml, "Add a start event")
