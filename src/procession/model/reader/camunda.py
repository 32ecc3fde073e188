"""The attributes and extension elements of Camunda 7 and its relatives (Flowable, Activiti, Operaton) that map.

Java classes, delegates and bean calls become methods or listeners of that name. What runs code in another language or
changes the flow in a way that has no counterpart is refused by name; what only describes is ignored.
"""

from __future__ import annotations

import re
from typing import Final

from procession.model.definition import Evaluable, IoMapping, JobSpec, Kind, Listener, ScriptSpec, UserTaskSpec, Work
from procession.model.draft import ElementDraft, FlowDraft
from procession.model.expressions import Collected, Static, Variable, foreign_language
from procession.model.juel import JuelError, compile_juel, has_expression, method_of
from procession.model.reader.durations import retry_cycle
from procession.model.reader.reading import Reading, boolean
from procession.model.reader.zeebe import RETRIES
from procession.model.xml import CAMUNDA, Xml

_EXECUTION_EVENTS: Final = {"start": "start", "end": "end"}
_FLOW_EVENTS: Final = {"take": "take"}
_TASK_EVENTS: Final = {
    "create": "creating",
    "assignment": "assigning",
    "update": "updating",
    "complete": "completing",
    "delete": "canceling",
}
_USERS: Final = re.compile(r"(user|group)\(\s*([^)]*?)\s*\)")
# Attributes that change what an element does and have no counterpart here.
_UNSUPPORTED: Final = {
    "triggerable": "waits for a second trigger after its work",
    "skipExpression": "skips the element by an expression",
    "variableMappingClass": "maps variables by a Java class",
    "variableMappingDelegateExpression": "maps variables by a Java delegate",
    "caseRef": "calls a case (CMMN)",
    "caseDefinitionKey": "calls a case (CMMN)",
}


def read_common(draft: ElementDraft, reading: Reading) -> None:
    """Continuations, mappings, listeners, properties; and what is refused."""
    xml = draft.xml
    findings = reading.findings
    draft.async_before = boolean(xml, "camunda:asyncBefore", findings, default=False) or boolean(
        xml, "camunda:async", findings, default=False
    )
    draft.async_after = boolean(xml, "camunda:asyncAfter", findings, default=False)
    for name, what in _UNSUPPORTED.items():
        if xml.get(f"camunda:{name}") not in {"", "false"}:
            message = f"The attribute {name} of {draft.label} {what}, which is not supported"
            findings.error("UNSUPPORTED_EXTENSION", message, xml)
    for extension in xml.extensions():
        if extension.space == CAMUNDA:
            _read_extension(draft, extension, reading)


def _read_extension(draft: ElementDraft, extension: Xml, reading: Reading) -> None:
    match extension.name:
        case "inputOutput":
            draft.inputs.extend(_parameters(extension, "inputParameter", reading))
            draft.outputs.extend(_parameters(extension, "outputParameter", reading))
        case "executionListener" | "taskListener":
            draft.listeners.extend(_listeners(draft, extension, reading))
        case "properties":
            pairs = ((child.get("name"), child.get("value")) for child in extension.every("property", CAMUNDA))
            draft.properties.extend(pairs)
        case "errorEventDefinition" | "mapException":
            message = f"The extension '{extension.name}' maps technical errors to BPMN errors and is not supported"
            suggestion = "Throw the BPMN error from the worker"
            reading.findings.error("UNSUPPORTED_EXTENSION", message, extension, suggestion)
        case _:
            pass


def read_flow(flow: FlowDraft, reading: Reading) -> None:
    """The listeners of a sequence flow."""
    for extension in flow.xml.extensions():
        if extension.space == CAMUNDA and extension.name == "executionListener":
            flow.listeners.extend(_listener(extension, _FLOW_EVENTS, "take", reading))


def read_work(draft: ElementDraft, xml: Xml, reading: Reading) -> bool:
    """Who does the work, from the attributes of a task or a message event definition. False if they do not say."""
    topic, kind = xml.get("camunda:topic").strip(), xml.get("camunda:type").strip()
    connector = draft.xml.extension("connector", CAMUNDA)
    draft.result_variable = xml.get("camunda:resultVariable") or xml.get("camunda:resultVariableName")
    if kind == "external" or topic or kind:
        _read_job(draft, xml, kind, topic, reading)
        return True
    if connector is not None:
        _read_connector(draft, connector, reading)
        return True
    for attribute in ("class", "delegateExpression", "expression"):
        text = xml.get(f"camunda:{attribute}").strip()
        if text:
            _read_code(draft, xml, attribute, text, reading)
            return True
    return False


def _read_job(draft: ElementDraft, xml: Xml, kind: str, topic: str, reading: Reading) -> None:
    if kind == "external" and not topic:
        message = f"{draft.label} is an external task without a topic"
        reading.findings.gap("MISSING_JOB_TYPE", message, xml, "Set camunda:topic")
        topic = draft.id
    name = topic or kind
    draft.work = Work.JOB
    draft.inputs.extend(_fields(draft.xml, reading))
    draft.job = job_of(name, draft.xml, xml, reading)


def job_of(name: str, task: Xml, xml: Xml, reading: Reading) -> JobSpec:
    """A job of this type, with the retries and the priority that the model sets."""
    attempts, waits = _retries(task, reading)
    priority = xml.get("camunda:taskPriority").strip() or task.get("camunda:jobPriority").strip()
    return JobSpec(
        type=reading.expressions.camunda(name, xml, "topic"),
        retries=Static(str(attempts), attempts),
        priority=_number(priority, xml, "priority", reading) if priority else None,
        retry_delays_ms=waits,
    )


def _read_connector(draft: ElementDraft, connector: Xml, reading: Reading) -> None:
    name = connector.first("connectorId", CAMUNDA)
    if name is None or not name.text:
        reading.findings.gap("MISSING_JOB_TYPE", f"The connector of {draft.label} has no connectorId", connector)
    draft.work = Work.JOB
    draft.job = job_of(name.text if name is not None and name.text else draft.id, draft.xml, draft.xml, reading)
    mapping = connector.first("inputOutput", CAMUNDA)
    if mapping is not None:
        draft.inputs.extend(_parameters(mapping, "inputParameter", reading))
        draft.outputs.extend(_parameters(mapping, "outputParameter", reading))


def _read_code(draft: ElementDraft, xml: Xml, attribute: str, text: str, reading: Reading) -> None:
    if attribute == "expression":
        value = _value_of(text)
        if value is not None:
            draft.work = Work.SCRIPT
            draft.script = ScriptSpec(expression=value, result_variable=draft.result_variable)
            return
    name = _code_name(attribute, text, xml, reading)
    draft.work = Work.METHOD
    draft.work_name = name
    draft.inputs.extend(_fields(draft.xml, reading))
    if draft.xml.extension("failedJobRetryTimeCycle", CAMUNDA) is not None:
        draft.job = job_of(name, draft.xml, xml, reading)


def _value_of(text: str) -> Evaluable | None:
    """A ``camunda:expression`` that only computes a value."""
    if not has_expression(text):
        return None
    try:
        return compile_juel(text)
    except JuelError:
        return None


def _code_name(attribute: str, text: str, at: Xml, reading: Reading) -> str:
    """The Python name for a Java class, a bean or a bean's method."""
    if attribute == "class":
        return text.rpartition(".")[2].rpartition("$")[2]
    name = method_of(text) if has_expression(text) else text
    if name:
        return name
    if _value_of(text) is None:
        reading.expressions.juel(text, at, attribute)  # reports what cannot be evaluated
    else:
        message = f"The {attribute} '{text}' names no bean or method"
        reading.findings.error("EXPRESSION_NOT_SUPPORTED", message, at)
    return "unknown"


def _retries(task: Xml, reading: Reading) -> tuple[int, tuple[int, ...]]:
    cycle = task.extension("failedJobRetryTimeCycle", CAMUNDA)
    if cycle is None or not cycle.text:
        return RETRIES, ()
    known = retry_cycle(cycle.text)
    if known is None:
        message = f"The retry cycle '{cycle.text}' is not of the form R3/PT10M or PT1M,PT10M"
        reading.findings.error("INVALID_RETRIES", message, cycle)
        return RETRIES, ()
    return known


def _number(text: str, at: Xml, what: str, reading: Reading) -> Evaluable:
    if text.lstrip("-").isdecimal():
        return Static(text, int(text))
    return reading.expressions.camunda(text, at, what)


def _fields(xml: Xml, reading: Reading) -> list[IoMapping]:
    """Values that a Java engine injects into a delegate are local variables here."""
    found: list[IoMapping] = []
    for field in xml.extensions():
        if field.space != CAMUNDA or field.name != "field" or not field.get("name"):
            continue
        texts = [field.get("stringValue"), field.get("expression")]
        texts += [child.text for child in field.children if child.name in {"string", "expression"}]
        text = next((candidate for candidate in texts if candidate), "")
        found.append(IoMapping(source=reading.expressions.camunda(text, field, "field"), target=(field.get("name"),)))
    return found


def _parameters(xml: Xml, name: str, reading: Reading) -> list[IoMapping]:
    found: list[IoMapping] = []
    for child in xml.every(name, CAMUNDA):
        target = child.get("name").strip()
        if not target:
            reading.findings.error("INVALID_MAPPING_TARGET", "The parameter has no name", child)
            continue
        found.append(IoMapping(source=_parameter_value(child, reading), target=(target,)))
    return found


def _parameter_value(xml: Xml, reading: Reading) -> Evaluable:
    for child in xml.children:
        if child.name == "list":
            parts = tuple(_parameter_value(value, reading) for value in child.children if value.name != "script")
            _refuse_scripts(child, reading)
            return Collected("list", parts)
        if child.name == "map":
            entries = [entry for entry in child.children if entry.name == "entry"]
            values = tuple(_parameter_value(entry, reading) for entry in entries)
            return Collected("map", values, tuple(entry.get("key") for entry in entries))
        if child.name == "script":
            return script_value(child, reading)
    return reading.expressions.camunda(xml.text, xml, "parameter")


def _refuse_scripts(xml: Xml, reading: Reading) -> None:
    for script in xml.every("script", CAMUNDA):
        script_value(script, reading)


def script_value(xml: Xml, reading: Reading) -> Evaluable:
    """The value of a ``camunda:script``; only expression languages are evaluated."""
    language = xml.get("scriptFormat") or xml.get("language")
    if "feel" in language.lower() and xml.text:
        return reading.expressions.feel(xml.text.removeprefix("="), xml, "script")
    if "juel" in language.lower() and xml.text:
        return reading.expressions.juel(xml.text, xml, "script")
    named = foreign_language(language) or language or "an unknown language"
    message = f"Scripts in {named} are not supported"
    reading.findings.error("SCRIPT_NOT_SUPPORTED", message, xml, "Write it in FEEL, or do it in a task")
    return Static(xml.text)


def _listeners(draft: ElementDraft, xml: Xml, reading: Reading) -> list[Listener]:
    """What one listener of an element means."""
    if xml.name == "executionListener":
        return _listener(xml, _EXECUTION_EVENTS, "start", reading)
    if draft.kind != Kind.USER_TASK:
        message = f"{draft.label} has a task listener and is no user task: it would never be told"
        reading.findings.error("INVALID_LISTENER", message, xml, "Use an execution listener")
    return _listener(xml, _TASK_EVENTS, "create", reading)


def _listener(xml: Xml, known: dict[str, str], usual: str, reading: Reading) -> list[Listener]:
    """A listener, once per event that it is about: Flowable's task listeners know ``all``."""
    name = xml.get("event").strip() or usual
    events = list(known.values()) if name == "all" and known is _TASK_EVENTS else [known.get(name, "")]
    if not events[0]:
        message = f"The listener's event '{name}' is not supported"
        reading.findings.error("INVALID_LISTENER", message, xml, f"Use one of {', '.join(known)}")
        return []
    script = xml.first("script", CAMUNDA)
    if script is not None:
        script_value(script, reading)
        return []
    for attribute in ("class", "delegateExpression", "expression"):
        text = xml.get(attribute).strip()
        if text:
            code = Static(_code_name(attribute, text, xml, reading))
            return [Listener(event=event, type=code, retries=Static("", RETRIES)) for event in events]
    reading.findings.error("INVALID_LISTENER", "The listener names no class, expression or script", xml)
    return []


def user_task(xml: Xml, reading: Reading) -> UserTaskSpec:
    """Assignment, dates, priority and form of a user task."""
    assignee, users, groups = _resource_roles(xml)

    def attribute(name: str, fallback: str = "") -> Evaluable | None:
        text = xml.get(f"camunda:{name}").strip() or fallback
        return reading.expressions.camunda(text, xml, name) if text else None

    priority = xml.get("camunda:priority").strip()
    version = xml.get("camunda:formRefVersion")
    return UserTaskSpec(
        assignee=attribute("assignee", assignee),
        candidate_users=attribute("candidateUsers", users),
        candidate_groups=attribute("candidateGroups", groups),
        due_date=attribute("dueDate"),
        follow_up_date=attribute("followUpDate"),
        priority=_number(priority, xml, "priority", reading) if priority else None,
        form_key=attribute("formKey"),
        form_id=attribute("formRef"),
        form_binding=xml.get("camunda:formRefBinding", "latest"),
        form_version=int(version) if version.isdecimal() else 0,
    )


def _resource_roles(xml: Xml) -> tuple[str, str, str]:
    """Assignee, users and groups of BPMN's own roles, in the ``user(x), group(y)`` notation of these engines."""
    assignee = ""
    users: list[str] = []
    groups: list[str] = []
    for role in xml.children:
        if role.name not in {"humanPerformer", "potentialOwner"}:
            continue
        text = ",".join(node.text for node in role.walk() if node.name == "formalExpression" and node.text)
        if role.name == "humanPerformer":
            assignee = text
            continue
        rest = _USERS.sub("", text)
        for kind, names in _USERS.findall(text):
            (users if kind == "user" else groups).append(names)
        groups.extend(part.strip() for part in rest.split(",") if part.strip())
    return assignee, ",".join(users), ",".join(groups)


def variables_in_and_out(xml: Xml, name: str, reading: Reading) -> tuple[list[IoMapping], bool, Evaluable | None]:
    """What ``camunda:in`` or ``camunda:out`` passes: mappings, whether everything, and the business key."""
    found: list[IoMapping] = []
    everything = False
    business_key: Evaluable | None = None
    for extension in xml.extensions():
        if extension.space != CAMUNDA or extension.name != name:
            continue
        if extension.get("businessKey"):
            business_key = _business_key(extension, reading)
        elif extension.get("variables") == "all":  # local: only those of the call activity itself, which always pass
            everything = everything or not (name == "in" and extension.get("local") == "true")
        else:
            found.extend(_variable(extension, reading))
    return found, everything, business_key


def _business_key(xml: Xml, reading: Reading) -> Evaluable | None:
    text = xml.get("businessKey").strip()
    if text.replace(" ", "") in {"#{execution.processBusinessKey}", "${execution.processBusinessKey}"}:
        return reading.expressions.feel("businessId", xml, "business key")
    return reading.expressions.camunda(text, xml, "business key")


def _variable(xml: Xml, reading: Reading) -> list[IoMapping]:
    target = xml.get("target").strip()
    expression, source = xml.get("sourceExpression").strip(), xml.get("source").strip()
    if not target or not (expression or source):
        reading.findings.error("INVALID_MAPPING_TARGET", f"'{xml.name}' needs a source and a target", xml)
        return []
    value = reading.expressions.camunda(expression, xml, "source expression") if expression else Variable(source)
    return [IoMapping(source=value, target=(target,))]
