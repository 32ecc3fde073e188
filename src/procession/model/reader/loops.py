"""Repetition of an activity: multi-instance and standard loop, in the forms of BPMN and of the vendors."""

from __future__ import annotations

from procession.model.definition import Evaluable, EventSpec, LoopSpec
from procession.model.draft import ElementDraft, ProcessDraft
from procession.model.expressions import Variable
from procession.model.juel import has_expression
from procession.model.reader.events import event_definitions, read_definition
from procession.model.reader.reading import Reading, boolean, choice, integer, lookup
from procession.model.xml import CAMUNDA, ZEEBE, Xml


def read_loop(process: ProcessDraft, draft: ElementDraft, reading: Reading) -> None:
    """The loop characteristics of an activity, if it has any."""
    multi = list(draft.xml.every("multiInstanceLoopCharacteristics"))
    standard = list(draft.xml.every("standardLoopCharacteristics"))
    if len(multi) + len(standard) > 1:
        message = f"{draft.label} has more than one kind of loop"
        reading.findings.error("SEVERAL_LOOPS", message, (multi + standard)[1], "Keep one of them")
    if multi:
        draft.loop = _multi_instance(process, draft, multi[0], reading)
    elif standard:
        draft.loop = _standard(standard[0], reading)


def _standard(xml: Xml, reading: Reading) -> LoopSpec:
    findings = reading.findings
    condition = xml.first("loopCondition")
    maximum = integer(xml, "loopMaximum", findings, default=-1)
    if xml.get("loopMaximum") and maximum < 0:
        message = f"The loopMaximum is {maximum}: the activity could never be carried out"
        findings.gap("NEGATIVE_LOOP_MAXIMUM", message, xml, "Use a number of 0 or more, or leave it out")
        maximum = min(maximum, -2)
    if condition is None and maximum == -1:
        findings.gap("MISSING_LOOP_CONDITION", "The loop has neither a condition nor a maximum: it never ends", xml)
    return LoopSpec(
        multi_instance=False,
        sequential=True,
        test_before=boolean(xml, "testBefore", findings, default=False),
        loop_condition=reading.expressions.expression(condition, "loop condition") if condition is not None else None,
        loop_maximum=maximum,
    )


def _multi_instance(process: ProcessDraft, draft: ElementDraft, xml: Xml, reading: Reading) -> LoopSpec:
    zeebe = xml.extension("loopCharacteristics", ZEEBE)
    cardinality = xml.first("loopCardinality")
    completion = xml.first("completionCondition")
    collection, element, output = _collection(xml, zeebe, reading)
    if collection is None and cardinality is None:
        message = f"The multi-instance {draft.label} has neither a collection nor a cardinality"
        reading.findings.gap("MISSING_COLLECTION", message, xml, "Say over which list it runs, or how often")
    camunda = zeebe is None and (reading.camunda or bool(xml.get("camunda:collection")))
    if boolean(xml, "camunda:asyncBefore", reading.findings, default=False):
        message = "asyncBefore of every single instance is not supported; it is ignored"
        reading.findings.warning("IGNORED_EXTENSION", message, xml, "Set it at the activity itself")
    return LoopSpec(
        sequential=boolean(xml, "isSequential", reading.findings, default=False),
        collection=collection,
        element_variable=element,
        output_collection=output,
        output_element=_output_element(zeebe, reading) or _output_item(xml),
        cardinality=reading.expressions.expression(cardinality, "loop cardinality")
        if cardinality is not None
        else None,
        completion_condition=reading.expressions.expression(completion, "completion condition")
        if completion is not None
        else None,
        counter_from=0 if camunda else 1,
        count_variables=camunda,
        behavior=choice(xml, "behavior", reading.findings, ("All", "None", "One", "Complex")),
        behavior_events=_behavior(process, draft, xml, reading),
    )


def _collection(xml: Xml, zeebe: Xml | None, reading: Reading) -> tuple[Evaluable | None, str, str]:
    """What is run over, the name of each item, and the name of the list of results."""
    if zeebe is not None:
        text = zeebe.get("inputCollection").strip()
        collection = reading.expressions.zeebe(text, zeebe, "input collection") if text else None
        if text and not text.startswith("="):
            message = f"The input collection '{text}' is not an expression"
            reading.findings.error("INVALID_COLLECTION", message, zeebe, f"Write ={text}")
        return collection, zeebe.get("inputElement").strip(), zeebe.get("outputCollection").strip()
    element = xml.get("camunda:elementVariable").strip()
    text = xml.get("camunda:collection").strip()
    nested = xml.extension("collection", CAMUNDA)
    if nested is not None and not text:
        message = "A collection that a Java class parses is not supported"
        reading.findings.error("UNSUPPORTED_EXTENSION", message, nested, "Use the attribute camunda:collection")
    data = xml.first("loopDataInputRef")
    if not text and data is not None:
        text = data.text
    item = xml.first("inputDataItem")
    if not element and item is not None:
        element = item.get("name") or item.id
    output = xml.first("loopDataOutputRef")
    if not text:
        return None, element, ""
    value = reading.expressions.value(text, xml, "collection") if _is_expression(text) else Variable(text)
    return value, element, output.text if output is not None else ""


def _is_expression(text: str) -> bool:
    return text.startswith("=") or has_expression(text)


def _output_element(zeebe: Xml | None, reading: Reading) -> Evaluable | None:
    text = zeebe.get("outputElement").strip() if zeebe is not None else ""
    return reading.expressions.zeebe(text, zeebe, "output element") if zeebe is not None and text else None


def _output_item(xml: Xml) -> Evaluable | None:
    item = xml.first("outputDataItem")
    name = (item.get("name") or item.id) if item is not None else ""
    return Variable(name) if name else None


def _behavior(
    process: ProcessDraft, draft: ElementDraft, xml: Xml, reading: Reading
) -> tuple[tuple[Evaluable | None, EventSpec], ...]:
    """The events that completed instances throw: one or none, or one per condition."""
    behavior = xml.get("behavior")
    if behavior in {"None", "One"}:
        attribute = "noneBehaviorEventRef" if behavior == "None" else "oneBehaviorEventRef"
        ref = xml.get(attribute).strip()
        definition = lookup(reading.declared.event_definitions, ref) if ref else None
        if definition is None:
            message = f"The behavior {behavior} needs an event definition, but {attribute} names '{ref}'"
            reading.findings.error("MISSING_BEHAVIOR_EVENT", message, xml, "Declare the event definition at the root")
            return ()
        return ((None, read_definition(process, draft, definition, reading)),)
    found: list[tuple[Evaluable | None, EventSpec]] = []
    for rule in xml.every("complexBehaviorDefinition"):
        condition, event = rule.first("condition"), rule.first("event")
        definitions = event_definitions(event, reading) if event is not None else []
        if condition is None or not definitions:
            message = "A complex behavior needs a condition and an event definition"
            reading.findings.error("MISSING_BEHAVIOR_EVENT", message, rule)
            continue
        compiled = reading.expressions.expression(condition, "behavior condition")
        found.extend((compiled, read_definition(process, draft, definition, reading)) for definition in definitions)
    return tuple(found)
