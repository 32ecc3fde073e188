"""Deployments: versions, and what their start events bring."""

from __future__ import annotations

from typing import Any

import msgspec

from procession.store._shared.timers import start_timer_job
from procession.store.rows import Deployed, Deployment, NewDefinition, NewResource, StoredDefinition
from procession.store.sqlite._decisions import deploy_decision
from procession.store.sqlite._forms import deploy_form
from procession.store.sqlite._jobs import insert_jobs
from procession.store.sqlite._session import Session, as_json

_decode_texts = msgspec.json.Decoder(list[str]).decode


def deploy_resources(session: Session, deployment: Deployment) -> Deployed:
    """Store what is new of a deployment."""
    deployed = Deployed(definitions=[], decisions=[], forms=[])
    written: set[int] = set()  # files with something new in them, or that something new imports
    for resource in deployment.resources:
        definitions = [_deploy_definition(session, deployment, resource, new) for new in resource.definitions]
        decisions = [deploy_decision(session, deployment, resource, new) for new in resource.decisions]
        deployed.definitions += definitions
        forms = [deploy_form(session, deployment, resource, new) for new in resource.forms]
        deployed.decisions += decisions
        deployed.forms += forms
        if any(each.created for each in (*definitions, *decisions, *forms)) or _is_new_file(
            session, deployment, resource
        ):
            written.add(resource.key)
        written.update(key for each in decisions if each.created for key in each.imports)
    if written:
        _write_deployment(session, deployment, deployed, written)
    return deployed


def load_definitions(session: Session, keys: list[int]) -> list[StoredDefinition]:
    """Definitions by key."""
    return [read_definition(row) for row in session.rows("load_definitions", keys=as_json(keys))]


def read_definition(row: Any) -> StoredDefinition:  # noqa: ANN401 - a row of a query
    """A row of the queries for definitions."""
    return StoredDefinition(
        key=row[0],
        process_id=row[1],
        version=row[2],
        name=row[3],
        version_tag=row[4],
        resource=row[5],
        resource_name=row[6],
        checksum=row[7],
        deployment=row[8],
        deployed_at=row[9],
        elements=_decode_texts(row[10]),
        methods=_decode_texts(row[11]),
        tenant=row[12],
        deleted=len(row) > 13 and bool(row[13]),
    )


def _is_new_file(session: Session, deployment: Deployment, resource: NewResource) -> bool:
    if resource.definitions or resource.decisions or resource.forms:
        return False
    known = session.value("find_file", tenant=deployment.tenant, name=resource.name, checksum=resource.checksum)
    return known is None


def _write_deployment(session: Session, deployment: Deployment, deployed: Deployed, written: set[int]) -> None:
    for resource in deployment.resources:
        if resource.key in written:
            session.run(
                "insert_resource",
                key=resource.key,
                deployment=deployment.key,
                name=resource.name,
                kind=resource.kind,
                checksum=resource.checksum,
                tenant=deployment.tenant,
                content=resource.content,
            )
    session.run("insert_deployment", key=deployment.key, deployed_at=session.now, tenant=deployment.tenant)
    for each in deployed.definitions:
        session.run("insert_deployment_definition", deployment=deployment.key, definition=each.key)
    for each in deployed.decisions:
        session.run("insert_deployment_decision", deployment=deployment.key, decision=each.key)
    for each in deployed.forms:
        session.run("insert_deployment_form", deployment=deployment.key, form=each.key)


def _deploy_definition(
    session: Session, deployment: Deployment, resource: NewResource, new: NewDefinition
) -> StoredDefinition:
    process = {"process_id": new.process_id, "tenant": deployment.tenant}
    latest = session.rows("find_latest_definition", **process)
    version = 1
    if latest:
        last_version, checksum, methods, key, is_deleted = latest[0]
        if not is_deleted and checksum == resource.checksum and _decode_texts(methods) == new.methods:
            return load_definitions(session, [key])[0]
        version = last_version + 1
    session.run("delete_start_timers_of_process", **process)
    session.run("delete_starts_of_process", **process)
    session.run(
        "insert_definition",
        key=new.key,
        **process,
        version=version,
        name=new.name,
        version_tag=new.version_tag,
        resource=resource.key,
        deployment=deployment.key,
        deployed_at=session.now,
        elements=as_json(new.elements),
        methods=as_json(new.methods),
    )
    _open_starts(session, new, deployment.tenant)
    return StoredDefinition(
        key=new.key,
        process_id=new.process_id,
        version=version,
        name=new.name,
        version_tag=new.version_tag,
        resource=resource.key,
        resource_name=resource.name,
        checksum=resource.checksum,
        deployment=deployment.key,
        deployed_at=session.now,
        elements=list(new.elements),
        methods=list(new.methods),
        tenant=deployment.tenant,
        created=True,
    )


def _open_starts(session: Session, new: NewDefinition, tenant: str) -> None:
    keys = iter(session.take_keys(len(new.start_subscriptions) + len(new.start_timers)))
    for start in new.start_subscriptions:
        session.run(
            "insert_start_subscription",
            key=next(keys),
            definition=new.key,
            process_id=new.process_id,
            element=start.element,
            trigger=int(start.trigger),
            name=start.name,
            tenant=tenant,
        )
    insert_jobs(
        session,
        [start_timer_job(next(keys), timer, new.key, tenant) for timer in new.start_timers],
    )
