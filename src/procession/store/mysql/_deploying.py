"""Deployments: versions, and what their start events bring. One deployment at a time, each in one transaction."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from procession.ids import FIRST_PARTITION, key_of
from procession.store._shared.refusals import check_jobs, check_text
from procession.store._shared.timers import start_timer_job
from procession.store.mysql._jobs import put_jobs, put_keys, put_rows
from procession.store.mysql._reading import stored_decision, stored_definition, stored_form
from procession.store.mysql._sessions import Session, Sessions
from procession.store.mysql._statements import Blob, number, text
from procession.store.rows import (
    Deployed,
    Deployment,
    NewDecision,
    NewDefinition,
    NewForm,
    NewResource,
    StoredDecision,
    StoredDefinition,
    StoredForm,
)

_encode_json: Final = msgspec.json.Encoder().encode
_LATEST: Final[dict[str, Any]] = {"version": 0, "version_tag": "", "deployment": 0}


async def deploy(sessions: Sessions, deployment: Deployment) -> Deployed:
    """Store what is new of a deployment; what its files define in the order given."""
    _check(deployment)

    async def work(session: Session) -> Deployed:
        session.put("lock_deploy")
        now = (await session.fetch("now_of_transaction"))[0][0]
        deployed = Deployed(definitions=[], decisions=[], forms=[])
        written: set[int] = set()  # files with something new in them, or that something new imports
        for resource in deployment.resources:
            made = [
                *[await _definition(session, deployment, resource, new, now) for new in resource.definitions],
                *[await _decision(session, deployment, resource, new, now) for new in resource.decisions],
                *[await _form(session, deployment, resource, new, now) for new in resource.forms],
            ]
            deployed.definitions += [each for each in made if isinstance(each, StoredDefinition)]
            deployed.decisions += [each for each in made if isinstance(each, StoredDecision)]
            deployed.forms += [each for each in made if isinstance(each, StoredForm)]
            if any(each.created for each in made) or await _is_new_file(session, deployment, resource):
                written.add(resource.key)
            written.update(
                key for each in made if isinstance(each, StoredDecision) and each.created for key in each.imports
            )
        if written:
            _put_deployment(session, deployment, deployed, written)
        return deployed

    return await sessions.transact(work)


async def delete_definition(sessions: Sessions, key: int) -> bool:
    """Delete a version that no instance is of, with its start events; its row and file stay for a while."""

    async def work(session: Session) -> bool:
        found = session.put("lock_unused_definition", key=key)
        timers = session.put("find_start_timers_of_definition", key=key)
        await session.send()
        if not found.rows:
            return False
        for name in ("mark_definition_deleted", "delete_deployment_definition", "delete_starts_of_definition"):
            session.put(name, key=key)
        put_keys(session, "delete_jobs", [row[0] for row in timers.rows])
        return True

    return await sessions.transact(work)


async def purge_definitions(sessions: Sessions, deleted_before: int) -> int:
    """Remove versions that were deleted long ago; their files if nothing else is of them."""

    async def work(session: Session) -> int:
        found = await session.fetch("find_purgeable_definitions", deleted_before=deleted_before)
        for key, resource in found:
            session.put("delete_definition", key=key)
            session.put("delete_resource", key=resource)
        return len(found)

    return await sessions.transact(work)


async def delete_form(sessions: Sessions, key: int) -> bool:
    """Delete a version with its file."""

    async def work(session: Session) -> bool:
        resource = (await session.run("lock_form", key=key)).value()
        if resource is None:
            return False
        session.put("delete_form", key=key)
        session.put("delete_deployment_form", key=key)
        session.put("delete_resource", key=resource)
        return True

    return await sessions.transact(work)


def _check(deployment: Deployment) -> None:
    check_text(deployment.tenant, "a tenant")
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


async def _is_new_file(session: Session, deployment: Deployment, resource: NewResource) -> bool:
    if resource.definitions or resource.decisions or resource.forms:
        return False
    return not await session.fetch(
        "find_file", tenant=deployment.tenant, name=resource.name, checksum=resource.checksum
    )


def _put_deployment(session: Session, deployment: Deployment, deployed: Deployed, written: set[int]) -> None:
    for resource in deployment.resources:
        if resource.key in written:
            session.put(
                "insert_resource",
                key=resource.key,
                deployment=deployment.key,
                name=resource.name,
                kind=resource.kind,
                checksum=resource.checksum,
                tenant=deployment.tenant,
                content=Blob(resource.content),
            )
    session.put("insert_deployment", key=deployment.key, tenant=deployment.tenant)
    for noun in ("definition", "decision", "form"):
        meant = sorted({each.key for each in getattr(deployed, f"{noun}s")})
        rows = [(number(deployment.key), number(key)) for key in meant]
        put_rows(session, f"insert_deployment_{noun}s", rows)


async def _definition(
    session: Session, deployment: Deployment, resource: NewResource, new: NewDefinition, now: int
) -> StoredDefinition:
    process = {"process_id": new.process_id, "tenant": deployment.tenant}
    latest = session.put("find_latest_definition", **process)
    timers = session.put("find_start_timers_of_process", **process)
    await session.send()
    before = stored_definition(latest.rows[0]) if latest.rows else None
    same = (resource.checksum, new.methods)
    if before is not None and not before.deleted and (before.checksum, before.methods) == same:
        return before
    put_keys(session, "delete_jobs", [row[0] for row in timers.rows])
    session.put("delete_starts_of_process", **process)
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
        deployed_at=now,
        elements=list(new.elements),
        methods=list(new.methods),
        tenant=deployment.tenant,
        created=True,
    )
    session.put(
        "insert_definition",
        key=stored.key,
        **process,
        version=stored.version,
        name=stored.name,
        version_tag=stored.version_tag,
        resource=stored.resource,
        deployment=stored.deployment,
        elements=_encode_json(stored.elements),
        methods=_encode_json(stored.methods),
    )
    await _open_starts(session, new, deployment.tenant)
    return stored


async def _open_starts(session: Session, new: NewDefinition, tenant: str) -> None:
    starts, timers = new.start_subscriptions, new.start_timers
    if not starts and not timers:
        return
    first = (await session.run("take_keys", count=len(starts) + len(timers))).inserted
    keys = [key_of(FIRST_PARTITION, first + place) for place in range(len(starts) + len(timers))]
    rows = [
        (
            number(key),
            number(new.key),
            text(new.process_id),
            text(start.element),
            number(start.trigger),
            text(start.name),
            text(tenant),
        )
        for key, start in zip(keys, starts, strict=False)
    ]
    put_rows(session, "insert_start_subscriptions", rows)
    jobs = [
        start_timer_job(key, timer, new.key, tenant) for key, timer in zip(keys[len(starts) :], timers, strict=True)
    ]
    check_jobs(jobs)
    put_jobs(session, jobs)


async def _decision(
    session: Session, deployment: Deployment, resource: NewResource, new: NewDecision, now: int
) -> StoredDecision:
    which = {"decision_id": new.decision_id, "tenant": deployment.tenant}
    latest = await session.fetch("find_decision", **which, **_LATEST)
    before = stored_decision(latest[0]) if latest else None
    if before is not None and before.checksum == new.checksum:
        return before
    stored = StoredDecision(
        key=new.key,
        decision_id=new.decision_id,
        version=before.version + 1 if before else 1,
        name=new.name,
        version_tag=new.version_tag,
        requirements_id=new.requirements_id,
        resource=resource.key,
        resource_name=resource.name,
        imports=list(new.imports),
        checksum=new.checksum,
        deployment=deployment.key,
        deployed_at=now,
        tenant=deployment.tenant,
        created=True,
    )
    values = msgspec.structs.asdict(stored)
    session.put("insert_decision", **{**values, "imports": _encode_json(stored.imports)})
    return stored


async def _form(session: Session, deployment: Deployment, resource: NewResource, new: NewForm, now: int) -> StoredForm:
    which = {"form_id": new.form_id, "tenant": deployment.tenant}
    latest = await session.fetch("find_form", **which, **_LATEST)
    before = stored_form(latest[0]) if latest else None
    if before is not None and before.checksum == new.checksum:
        return before
    stored = StoredForm(
        key=new.key,
        form_id=new.form_id,
        version=before.version + 1 if before else 1,
        version_tag=new.version_tag,
        resource=resource.key,
        resource_name=resource.name,
        checksum=new.checksum,
        deployment=deployment.key,
        deployed_at=now,
        tenant=deployment.tenant,
        created=True,
    )
    session.put("insert_form", **msgspec.structs.asdict(stored))
    return stored
