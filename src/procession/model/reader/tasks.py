"""Tasks and call activities: who does the work.

User tasks are native ones for every vendor: without ``zeebe:userTask`` Camunda 8 itself would make a job of the type
``io.camunda.zeebe:userTask``, which only its own task list takes.
"""

from __future__ import annotations

from typing import Final

from procession.model.definition import CallSpec, DecisionSpec, Evaluable, JobSpec, Kind, ScriptSpec, Trigger, Work
from procession.model.draft import ElementDraft
from procession.model.expressions import Static, foreign_language
from procession.model.juel import has_expression
from procession.model.reader import camunda, zeebe
from procession.model.reader.events import read_message
from procession.model.reader.reading import Reading, boolean
from procession.model.xml import ZEEBE, Xml

_RESULTS: Final = ("resultList", "singleEntry", "singleResult", "collectEntries")


def read_task(draft: ElementDraft, reading: Reading) -> None:
    """Everything that is particular to a task or a call activity."""
    match draft.kind:
        case Kind.USER_TASK:
            draft.work = Work.USER
            draft.user_task = zeebe.user_task(draft.xml, reading) if _is_zeebe(draft.xml) else None
            draft.user_task = draft.user_task or camunda.user_task(draft.xml, reading)
        case Kind.RECEIVE_TASK:
            _receive(draft, reading)
        case Kind.SCRIPT_TASK:
            _script(draft, reading)
        case Kind.CALL_ACTIVITY:
            draft.call = _call(draft, reading)
        case Kind.SERVICE_TASK | Kind.SEND_TASK | Kind.BUSINESS_RULE_TASK:
            _service(draft, reading)
        case Kind.TASK:
            _plain(draft, reading)
        case _:
            pass  # a manual task is done elsewhere and passes


def _is_zeebe(xml: Xml) -> bool:
    return any(extension.space == ZEEBE for extension in xml.extensions())


def read_job(draft: ElementDraft, xml: Xml, reading: Reading) -> bool:
    """Work that a vendor's extension defines, of a task, event or ad-hoc sub-process. False if there is none."""
    job = zeebe.job_spec(draft.xml, reading)
    if job is not None:
        draft.work = Work.JOB
        draft.job = job
        return True
    return camunda.read_work(draft, xml, reading)


def _service(draft: ElementDraft, reading: Reading) -> None:
    if draft.kind == Kind.BUSINESS_RULE_TASK and _decision(draft, reading):
        return
    if read_job(draft, draft.xml, reading) or _bound_method(draft, reading):
        return
    if draft.kind == Kind.SEND_TASK and draft.xml.get("messageRef"):
        draft.events.append(read_message(draft, draft.xml, reading))
        draft.work = Work.CONNECTOR_MESSAGE
        return
    message = f"{draft.label} does not say who does its work"
    suggestion = "Add a zeebe:taskDefinition with a job type, or bind a Python method to its id"
    reading.findings.gap("MISSING_TASK_DEFINITION", message, draft.xml, suggestion)
    draft.work = Work.JOB
    draft.job = default_job(draft.id)


def default_job(name: str) -> JobSpec:
    """A job whose type is the element's id: how gaps are filled for lint, corpora and exploration."""
    return JobSpec(type=Static(name), retries=Static("", zeebe.RETRIES))


def _bound_method(draft: ElementDraft, reading: Reading) -> bool:
    if draft.id not in reading.methods:
        return False
    draft.work = Work.METHOD
    draft.work_name = draft.id
    return True


def _plain(draft: ElementDraft, reading: Reading) -> None:
    """A task without a type: a method if the model or the application names one, else it passes."""
    job = zeebe.job_spec(draft.xml, reading)
    if job is not None:
        draft.work = Work.METHOD
        draft.work_name = job.type.text
        draft.job = job
        if not isinstance(job.type, Static):
            message = f"The job type of {draft.label} names a method and cannot be an expression"
            reading.findings.error("METHOD_NOT_LITERAL", message, draft.xml, "Write the method's name itself")
        return
    if not camunda.read_work(draft, draft.xml, reading):
        _bound_method(draft, reading)


def _receive(draft: ElementDraft, reading: Reading) -> None:
    draft.instantiate = boolean(draft.xml, "instantiate", reading.findings, default=False)
    draft.work = Work.MESSAGE
    draft.events.append(read_message(draft, draft.xml, reading))


def _script(draft: ElementDraft, reading: Reading) -> None:
    xml = draft.xml
    script = xml.extension("script", ZEEBE)
    if script is not None:
        draft.work = Work.SCRIPT
        draft.script = ScriptSpec(
            expression=reading.expressions.feel(script.get("expression").strip().removeprefix("="), script, "script"),
            result_variable=script.get("resultVariable").strip(),
        )
        return
    if read_job(draft, xml, reading) or _bound_method(draft, reading):
        return
    draft.work = Work.SCRIPT
    result = xml.get("camunda:resultVariable")
    draft.script = ScriptSpec(expression=_script_body(draft, reading), result_variable=result)
    if draft.script.expression is _GAP:
        draft.script = None
        draft.work = Work.JOB
        draft.job = default_job(draft.id)


_GAP: Final = Static("")


def _script_body(draft: ElementDraft, reading: Reading) -> Evaluable:
    xml = draft.xml
    body = xml.first("script")
    language = xml.get("scriptFormat")
    if xml.get("camunda:resource"):
        message = f"The script of {draft.label} is in another file, which is not supported"
        reading.findings.gap("SCRIPT_NOT_SUPPORTED", message, xml, "Write it in FEEL, or make it a service task")
        return _GAP
    if body is None or not body.text:
        message = f"{draft.label} has no script"
        reading.findings.gap("MISSING_SCRIPT", message, xml, "Add a zeebe:script or a zeebe:taskDefinition")
        return _GAP
    if "juel" in language.lower() or (not language and has_expression(body.text)):
        return reading.expressions.juel(body.text, body, "script")
    foreign = foreign_language(language)
    if foreign or (language and "feel" not in language.lower()):
        message = f"The script of {draft.label} is written in '{language}', which is not supported"
        suggestion = "Write it in FEEL, make it a service task, or bind a Python method to its id"
        reading.findings.gap("SCRIPT_NOT_SUPPORTED", message, body, suggestion)
        return _GAP
    return reading.expressions.feel(body.text.removeprefix("="), body, "script")


def _decision(draft: ElementDraft, reading: Reading) -> bool:
    xml = draft.xml
    called = xml.extension("calledDecision", ZEEBE)
    if called is not None:
        identifier = called.get("decisionId").strip()
        if not identifier or not called.get("resultVariable").strip():
            message = f"The called decision of {draft.label} needs a decisionId and a resultVariable"
            reading.findings.error("MISSING_DECISION", message, called)
        draft.work = Work.DECISION
        draft.decision = DecisionSpec(
            decision_id=reading.expressions.zeebe(identifier, called, "decision id"),
            result_variable=called.get("resultVariable").strip(),
            binding=zeebe.binding(called, reading),
            version_tag=called.get("versionTag"),
        )
        return True
    reference = xml.get("camunda:decisionRef").strip()
    if not reference:
        return False
    shape = xml.get("camunda:mapDecisionResult", _RESULTS[0])
    if shape not in _RESULTS:
        message = f"mapDecisionResult must be one of {', '.join(_RESULTS)}, not '{shape}'"
        reading.findings.error("INVALID_ATTRIBUTE", message, xml)
    binding, version, tag = _camunda_binding(xml, "camunda:decisionRef", reading)
    draft.work = Work.DECISION
    draft.decision = DecisionSpec(
        decision_id=reading.expressions.camunda(reference, xml, "decision reference"),
        result_variable=xml.get("camunda:resultVariable", "decisionResult"),
        binding=binding,
        version=version,
        version_tag=tag,
        map_result=shape,
    )
    return True


def _camunda_binding(xml: Xml, prefix: str, reading: Reading) -> tuple[str, int, str]:
    """Which version of a called process or decision is meant: binding, version, version tag."""
    binding = xml.get(f"{prefix}Binding", "latest")
    version, tag = xml.get(f"{prefix}Version").strip(), xml.get(f"{prefix}VersionTag").strip()
    if binding not in {"latest", "deployment", "version", "versionTag"}:
        message = f"{prefix}Binding must be latest, deployment, version or versionTag, not '{binding}'"
        reading.findings.error("INVALID_BINDING", message, xml)
    if binding == "version" and not version.isdecimal():
        message = f"{prefix}Version must be a whole number, not '{version}'"
        reading.findings.error("INVALID_BINDING", message, xml)
    if binding == "versionTag" and (not tag or has_expression(tag)):
        message = f"{prefix}VersionTag must be a literal text, not '{tag}'"
        reading.findings.error("INVALID_BINDING", message, xml)
    return binding, int(version) if version.isdecimal() else 0, tag


def _call(draft: ElementDraft, reading: Reading) -> CallSpec:
    xml = draft.xml
    called = xml.extension("calledElement", ZEEBE)
    if called is None:
        return _called_element(draft, reading)
    identifier = (called.get("processId") or called.get("processIdExpression")).strip()
    if called.get("processIdExpression") and not called.get("processId"):
        identifier = "=" + identifier.removeprefix("=")
    if not identifier:
        message = f"{draft.label} names no process"
        reading.findings.error("MISSING_CALLED_ELEMENT", message, called, "Set the processId")
    business_id = called.get("businessId").strip()
    return CallSpec(
        process_id=reading.expressions.zeebe(identifier, called, "process id"),
        binding=zeebe.binding(called, reading),
        version_tag=called.get("versionTag"),
        propagate_parent=boolean(called, "propagateAllParentVariables", reading.findings, default=True),
        propagate_child=boolean(called, "propagateAllChildVariables", reading.findings, default=True),
        business_id=reading.expressions.zeebe(business_id, called, "business id") if business_id else None,
    )


def _called_element(draft: ElementDraft, reading: Reading) -> CallSpec:
    """A call activity in BPMN's own notation; Camunda 7 and its relatives pass variables only where told."""
    xml = draft.xml
    identifier = xml.get("calledElement").strip()
    if not identifier:
        message = f"{draft.label} names no process"
        reading.findings.gap("MISSING_CALLED_ELEMENT", message, xml, "Set its calledElement")
        identifier = draft.id
    if xml.get("camunda:calledElementType") not in {"", "key"}:
        message = f"calledElementType '{xml.get('camunda:calledElementType')}' is not supported"
        reading.findings.error("UNSUPPORTED_EXTENSION", message, xml, "Call the process by its id")
    for name in ("calledElementTenantId", "fallbackToDefaultTenant"):
        if xml.get(f"camunda:{name}") not in {"", "false"}:
            message = f"{name} is ignored: a process is called within its own tenant"
            reading.findings.warning("IGNORED_EXTENSION", message, xml)
    inputs, all_inputs, business_id = camunda.variables_in_and_out(xml, "in", reading)
    outputs, all_outputs, _ = camunda.variables_in_and_out(xml, "out", reading)
    told = reading.camunda or bool(inputs or outputs)
    binding, version, tag = _camunda_binding(xml, "camunda:calledElement", reading)
    if xml.get("camunda:sameDeployment") == "true":
        binding = "deployment"
    return CallSpec(
        process_id=reading.expressions.value(identifier, xml, "called element"),
        binding=binding,
        version=version,
        version_tag=tag,
        propagate_parent=all_inputs or not told,
        propagate_child=all_outputs or not told,
        business_id=business_id,
        inputs=tuple(inputs),
        outputs=tuple(outputs),
    )


def throws_message(draft: ElementDraft) -> bool:
    """Whether an event throws exactly one message, which a job may do for it."""
    return len(draft.events) == 1 and draft.trigger == Trigger.MESSAGE
