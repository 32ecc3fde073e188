"""What the admin's pages show and do: questions and verbs of the application, as rows, facts and buttons. No HTML."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from procession.app import SyncProcession
from procession.app.views import HistoryEvent, Incident, JobInfo, ProcessInstance
from procession.errors import NotFound
from procession.jobs.kinds import JobKind, JobState

PAGE = 50
EVENTS_SHOWN = 200

Verb = Callable[[SyncProcession, int], object]


class Filter(msgspec.Struct, frozen=True):
    """A field above a list. ``choices`` make it a menu."""

    name: str
    label: str
    choices: tuple[str, ...] = ()
    number: bool = False


class Action(msgspec.Struct, frozen=True):
    """Something that can be done with what is chosen."""

    name: str
    label: str
    done: str  # what is said afterwards, with the number of those it was done to
    verb: Verb


class Table(msgspec.Struct, frozen=True):
    """Rows under headings. A cell is a text, an instant, or a link to another page: (page, key)."""

    title: str
    headings: Sequence[str]
    rows: Sequence[Sequence[Any]]


class Listing(msgspec.Struct, frozen=True):
    """A page of a list: one key and its cells for each row, and where the next page begins (0: there is none)."""

    rows: Sequence[tuple[int, Sequence[Any]]]
    next: int


class Details(msgspec.Struct, frozen=True):
    """Everything about one thing."""

    facts: Sequence[tuple[str, Any]]
    tables: Sequence[Table]
    code: Sequence[tuple[str, str]]  # heading and text


class Link(msgspec.Struct, frozen=True):
    """A cell that leads to a page."""

    page: str  # processinstance | incident | job
    key: int


class Page(msgspec.Struct, frozen=True):
    """A list and the pages of its rows."""

    headings: Sequence[str]
    filters: Sequence[Filter]
    actions: Sequence[Action]
    listing: Callable[[SyncProcession, Mapping[str, Any], int], Listing]
    details: Callable[[SyncProcession, int], Details]


def _instances(app: SyncProcession, which: Mapping[str, Any], after: int) -> Listing:
    found = app.instances(
        process_id=which.get("process_id", ""),
        state=which.get("state", ""),
        business_id=which.get("business_id", ""),
        with_incident=which.get("with_incident") == "yes",
        after=after,
        limit=PAGE,
    )
    rows = [(each.process_instance_key, _instance_cells(each)) for each in found]
    return Listing(rows, found[-1].process_instance_key if len(found) == PAGE else 0)


def _instance_cells(instance: ProcessInstance) -> list[Any]:
    return [
        Link("processinstance", instance.process_instance_key),
        instance.process_definition_id,
        instance.state,
        instance.business_id,
        instance.start_date,
        instance.end_date,
        "yes" if instance.has_incident else "",
    ]


def _instance(app: SyncProcession, key: int) -> Details:
    details = app.instance(key)
    it = details.instance
    facts: list[tuple[str, Any]] = [
        ("Process", it.process_definition_id),
        ("State", it.state),
        ("Business id", it.business_id),
        ("Started", it.start_date),
        ("Ended", it.end_date),
        ("Called by", Link("processinstance", it.parent_process_instance_key)),
        ("Tags", ", ".join(it.tags)),
    ]
    elements = [[each.element_id, each.element_name, each.type, each.waits_for] for each in details.elements]
    incidents = [_incident_cells(each) for each in details.incidents]
    jobs = [_job_cells(each) for each in app.jobs(process_instance_key=key, limit=PAGE)]
    events = [_event_cells(each) for each in app.history(key)[-EVENTS_SHOWN:]]
    return Details(
        [(name, value) for name, value in facts if value and value != Link("processinstance", 0)],
        [
            Table("Where it is", ("Element", "Name", "Type", "Why it waits"), elements),
            Table("Incidents", INCIDENT_HEADINGS, incidents),
            Table("Jobs", JOB_HEADINGS, jobs),
            Table(f"History (the last {EVENTS_SHOWN} events)", ("At", "Event", "Element", "Details"), events),
        ],
        [("Variables", _json(details.variables))],
    )


def _event_cells(event: HistoryEvent) -> list[Any]:
    details = {name: value for name, value in event.details.items() if value not in (None, "", 0, [], {})}
    return [event.at, event.event, event.element_id, _json(details, indent=0)]


def _incidents(app: SyncProcession, which: Mapping[str, Any], after: int) -> Listing:
    found = app.incidents(
        process_id=which.get("process_id", ""),
        process_instance_key=int(which.get("process_instance_key") or 0),
        after=after,
        limit=PAGE,
    )
    rows = [(each.incident_key, _incident_cells(each)) for each in found]
    return Listing(rows, found[-1].incident_key if len(found) == PAGE else 0)


def _incident_cells(incident: Incident) -> list[Any]:
    summary, _, _ = incident.error_message.partition("\n")
    return [
        Link("incident", incident.incident_key),
        incident.process_definition_id,
        Link("processinstance", incident.process_instance_key),
        incident.element_id,
        incident.error_type,
        summary,
        incident.creation_time,
    ]


def _incident(app: SyncProcession, key: int) -> Details:
    it = next((each for each in app.incidents(after=key - 1, limit=1) if each.incident_key == key), None)
    if it is None:
        message = f"Expected an open incident with key {key}, found none: it may have been resolved"
        raise NotFound(message)
    facts = [
        ("Process", it.process_definition_id),
        ("Instance", Link("processinstance", it.process_instance_key)),
        ("Element", it.element_id),
        ("Type", it.error_type),
        ("Since", it.creation_time),
        ("Job", Link("job", it.job_key)),
    ]
    return Details([(name, value) for name, value in facts if value != Link("job", 0)], [], [("Why", it.error_message)])


def _jobs(app: SyncProcession, which: Mapping[str, Any], after: int) -> Listing:
    found = app.jobs(
        state=which.get("state", ""),
        kind=which.get("kind", ""),
        queue=which.get("queue", ""),
        type=which.get("type", ""),
        process_instance_key=int(which.get("process_instance_key") or 0),
        after=after,
        limit=PAGE,
    )
    return Listing([(each.job_key, _job_cells(each)) for each in found], found[-1].job_key if len(found) == PAGE else 0)


def _job_cells(job: JobInfo) -> list[Any]:
    return [
        Link("job", job.job_key),
        job.kind,
        job.type,
        job.queue,
        job.state,
        Link("processinstance", job.process_instance_key) if job.process_instance_key else "",
        job.run_at,
        job.attempt,
        job.retries,
    ]


def _job(app: SyncProcession, key: int) -> Details:
    it = next((each for each in app.jobs(after=key - 1, limit=1) if each.job_key == key), None)
    if it is None:
        message = f"Expected a job with key {key} in the queue, found none: it may have been done"
        raise NotFound(message)
    facts: list[tuple[str, Any]] = [
        ("Kind", it.kind),
        ("Type", it.type),
        ("Queue", it.queue),
        ("State", it.state),
        ("Instance", Link("processinstance", it.process_instance_key) if it.process_instance_key else ""),
        ("Element", it.element_id),
        ("Priority", it.priority),
        ("Due", it.run_at),
        ("Runs begun", it.attempt),
        ("Attempts left", it.retries),
        ("Process that runs it", it.node or ""),
        ("Since", it.creation_time),
    ]
    code = [("Last error", it.error_message)] if it.error_message else []
    return Details([(name, value) for name, value in facts if value != ""], [], code)


def _json(value: object, *, indent: int = 2) -> str:
    """A value for people."""
    return msgspec.json.format(msgspec.json.encode(value, enc_hook=repr), indent=indent).decode()


INCIDENT_HEADINGS = ("Incident", "Process", "Instance", "Element", "Type", "Why", "Since")
JOB_HEADINGS = ("Job", "Kind", "Type", "Queue", "State", "Instance", "Due", "Runs", "Attempts left")

INSTANCES = Page(
    ("Instance", "Process", "State", "Business id", "Started", "Ended", "Incident"),
    (
        Filter("process_id", "Process"),
        Filter("state", "State", ("ACTIVE", "SUSPENDED", "COMPLETED", "TERMINATED")),
        Filter("business_id", "Business id"),
        Filter("with_incident", "With an incident", ("yes",)),
    ),
    (
        Action("cancel", "Cancel", "canceled", lambda app, key: app.cancel(key, reason="from the admin site")),
        Action("suspend", "Suspend", "suspended", lambda app, key: app.suspend(key)),
        Action("resume", "Resume", "resumed", lambda app, key: app.resume(key)),
    ),
    _instances,
    _instance,
)
INCIDENTS = Page(
    INCIDENT_HEADINGS,
    (Filter("process_id", "Process"), Filter("process_instance_key", "Instance", number=True)),
    (Action("resolve", "Resolve: try again", "resolved", lambda app, key: app.resolve(key)),),
    _incidents,
    _incident,
)
JOBS = Page(
    JOB_HEADINGS,
    (
        Filter("state", "State", tuple(JobState.__members__)),
        Filter("kind", "Kind", tuple(JobKind.__members__)),
        Filter("queue", "Queue"),
        Filter("type", "Type"),
        Filter("process_instance_key", "Instance", number=True),
    ),
    (
        Action("requeue", "Try again", "to be tried again", lambda app, key: app.requeue(key)),
        Action("delete", "Delete", "deleted", lambda app, key: app.delete_job(key, reason="from the admin site")),
    ),
    _jobs,
    _job,
)
