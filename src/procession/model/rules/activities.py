"""Rules about activities: names that are stored and indexed, output collections, receive tasks."""

from __future__ import annotations

from procession.limits import NAME_BYTES_MAX
from procession.model.draft import ACTIVITIES, ProcessDraft
from procession.model.reader.reading import Reading


def ids_are_short(process: ProcessDraft, reading: Reading) -> None:
    """Ids are stored with every event of history and indexed."""
    texts = [(draft.id, draft.xml) for draft in process.elements] + [(flow.id, flow.xml) for flow in process.flows]
    for text, xml in texts:
        if len(text.encode()) > NAME_BYTES_MAX:
            message = f"The id '{text[:40]}...' is longer than NAME_BYTES_MAX = {NAME_BYTES_MAX} bytes"
            reading.findings.error("ID_TOO_LONG", message, xml, "Shorten it")


def results_are_collected_somewhere(process: ProcessDraft, reading: Reading) -> None:
    """A multi-instance activity names both what it collects and where, or neither."""
    for draft in process.elements:
        loop = draft.loop
        if loop is None or not loop.multi_instance or not reading.zeebe:
            continue
        if bool(loop.output_collection) != (loop.output_element is not None):
            has, lacks = ("outputCollection", "outputElement")
            if not loop.output_collection:
                has, lacks = lacks, has
            message = f"The multi-instance {draft.label} has an {has}, but no {lacks}"
            reading.findings.error("OUTPUT_COLLECTION", message, draft.xml, "Set both or neither")


def activity_is_decided_completely(process: ProcessDraft, reading: Reading) -> None:
    """Conditional flows behind a task without a default: none true is an incident."""
    for draft in process.elements:
        flows = [process.flows[index] for index in draft.outgoing]
        if not flows or draft.kind not in ACTIVITIES or draft.default_flow >= 0:
            continue
        if all(flow.condition is not None for flow in flows):
            message = f"Every flow from {draft.label} has a condition; if none is true, an incident is raised"
            reading.findings.info("NO_DEFAULT_FLOW", message, draft.xml, "Give it a default flow")


RULES = (ids_are_short, results_are_collected_somewhere, activity_is_decided_completely)
