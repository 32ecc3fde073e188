"""Deployments: versions, and what their start events bring. One deployment at a time, each in one transaction."""

from __future__ import annotations

from typing import Any

import msgspec

from procession.ids import FIRST_PARTITION, key_of
from procession.store._shared.refusals import check_jobs, check_text
from procession.store._shared.timers import start_timer_job
from procession.store.postgres._columns import job_columns
from procession.store.postgres._decisions import decide_decisions, write_decisions
from procession.store.postgres._forms import decide_forms, write_forms
from procession.store.postgres._reading import stored_definition
from procession.store.postgres._sessions import Session, Sessions
from procession.store.rows import Deployed, Deployment, NewDefinition, NewResource, StoredDefinition


async def deploy(sessions: Sessions, deployment: Deployment, now: int | None) -> Deployed:
    """Store what is new of a deployment; what its files define in the order given."""
    _check(deployment)
    async with sessions.lend() as session, session.transaction():
        await session.fetch("deploy_lock")
        latest = await _latest(session, deployment)
        definitions = [
            _decide(deployment, resource, new, latest)
            for resource in deployment.resources
            for new in resource.definitions
        ]
        decisions, forms = await decide_decisions(session, deployment), await decide_forms(session, deployment)
        deployed = Deployed(definitions=definitions, decisions=decisions, forms=forms)
        written = await _written(session, deployment, deployed)
        if not written:
            return deployed
        meant = [sorted({each.key for each in made}) for made in (definitions, decisions, forms)]
        rows = await session.fetch("deploy_deployment", deployment.key, deployment.tenant, *meant, now)
        for each in (*definitions, *decisions, *forms):
            each.deployed_at = rows[0][0] if each.created else each.deployed_at
        await _write(session, deployment, deployed, written, now)
        await write_decisions(session, decisions)
        await write_forms(session, forms)
    return deployed


def _check(deployment: Deployment) -> None:
    for resource in deployment.resources:
        check_text(resource.name, "a resource's name")
        for new in resource.definitions:
            check_text(new.process_id, "a process id")
            for start in new.start_subscriptions:
                check_text(start.name, "the name of a start event's message or signal")
        for decision in resource.decisions:
            check_text(decision.decision_id, "a decision id")
        for form in resource.forms:
            check_text(form.form_id, "a form id")


async def _latest(session: Session, deployment: Deployment) -> dict[str, StoredDefinition]:
    process_ids = [new.process_id for resource in deployment.resources for new in resource.definitions]
    rows = await session.fetch("deploy_latest", deployment.tenant, process_ids)
    return {each.process_id: each for each in map(stored_definition, rows)}


async def _written(session: Session, deployment: Deployment, deployed: Deployed) -> set[int]:
    """The files to store: those with something new in them, that something new imports, or that define nothing."""
    every = (*deployed.definitions, *deployed.decisions, *deployed.forms)
    new = {each.resource for each in every if each.created}
    imported = {key for each in deployed.decisions if each.created for key in each.imports}
    return new | imported | await _new_files(session, deployment)


async def _new_files(session: Session, deployment: Deployment) -> set[int]:
    """Files that define nothing and are not stored yet."""
    files = [each for each in deployment.resources if not (each.definitions or each.decisions or each.forms)]
    if not files:
        return set()
    checksums, names = [each.checksum for each in files], [each.name for each in files]
    rows = await session.fetch("deploy_known_files", deployment.tenant, checksums, names)
    known = {(row[0], row[1]) for row in rows}
    return {each.key for each in files if (each.name, each.checksum) not in known}


def _decide(
    deployment: Deployment, resource: NewResource, new: NewDefinition, latest: dict[str, StoredDefinition]
) -> StoredDefinition:
    """The version that a definition is: the latest one if that is the same, or a new one."""
    before = latest.get(new.process_id)
    if before and not before.deleted and (before.checksum, before.methods) == (resource.checksum, new.methods):
        return msgspec.structs.replace(before, created=False)
    stored = StoredDefinition(
        key=new.key,
        process_id=new.process_id,
        version=before.version + 1 if before else 1,
        name=new.name,
        version_tag=new.version_tag,
        resource=resource.key,
        resource_name=resource.name,
        checksum=resource.checksum,
        deployment=deployment.key,
        deployed_at=0,
        elements=list(new.elements),
        methods=list(new.methods),
        tenant=deployment.tenant,
        created=True,
    )
    latest[new.process_id] = stored
    return stored


async def _write(
    session: Session, deployment: Deployment, deployed: Deployed, written: set[int], now: int | None
) -> None:
    created = {each.key: each for each in deployed.definitions if each.created}
    for resource in deployment.resources:
        if resource.key in written:
            values = (resource.key, deployment.key, resource.name, resource.kind, resource.checksum, resource.content)
            await session.fetch("deploy_resource", *values)
        for new in resource.definitions:
            if new.key in created:
                await _write_definition(session, created[new.key], new, now)


async def _write_definition(session: Session, stored: StoredDefinition, new: NewDefinition, now: int | None) -> None:
    tenant, process_id = stored.tenant, stored.process_id
    numbers = (stored.version, stored.name, stored.version_tag, stored.resource, stored.deployment)
    await session.fetch("deploy_definition", stored.key, tenant, process_id, *numbers, stored.elements, stored.methods)
    starts, timers = new.start_subscriptions, new.start_timers
    if not starts and not timers:
        return
    keys = await _take_keys(session, len(starts) + len(timers))
    if starts:
        columns: list[list[Any]] = [
            [int(start.trigger) for start in starts],
            [start.name for start in starts],
            [start.element for start in starts],
        ]
        await session.fetch("deploy_starts", stored.key, tenant, process_id, keys[: len(starts)], *columns)
    jobs = [
        start_timer_job(key, timer, stored.key, tenant) for key, timer in zip(keys[len(starts) :], timers, strict=True)
    ]
    check_jobs(jobs)
    if jobs:
        await session.fetch("enqueue", now, *job_columns(jobs))


async def _take_keys(session: Session, count: int) -> list[int]:
    first = (await session.fetch("take_keys", count))[0][0]
    return [key_of(FIRST_PARTITION, first + number) for number in range(count)]
