"""Deployments: versions, and what their start events bring."""

from __future__ import annotations

import msgspec

from procession.jobs.kinds import JobKind
from procession.store._shared.timers import start_timer_job
from procession.store.memory._decisions import deploy_decision
from procession.store.memory._forms import deploy_form
from procession.store.memory._tables import Tables
from procession.store.rows import (
    Deployed,
    Deployment,
    NewDefinition,
    NewResource,
    StoredDefinition,
    StoredSubscription,
)


def deploy_resources(tables: Tables, deployment: Deployment) -> Deployed:
    """Store what is new of a deployment."""
    now = tables.clock()
    deployed = Deployed(definitions=[], decisions=[], forms=[])
    written: set[int] = set()  # files with something new in them, or that something new imports
    for resource in deployment.resources:
        definitions = [_deploy_definition(tables, deployment, resource, new, now) for new in resource.definitions]
        decisions = [deploy_decision(tables, deployment, resource, new, now) for new in resource.decisions]
        deployed.definitions += definitions
        forms = [deploy_form(tables, deployment, resource, new, now) for new in resource.forms]
        deployed.decisions += decisions
        deployed.forms += forms
        if any(each.created for each in (*definitions, *decisions, *forms)) or _is_new_file(
            tables, deployment, resource
        ):
            written.add(resource.key)
        written.update(key for each in decisions if each.created for key in each.imports)
    for resource in deployment.resources:
        if resource.key in written:
            tables.resources[resource.key] = resource.content
            tables.files.add((deployment.tenant, resource.name, resource.checksum))
    if written:
        tables.deployments[deployment.key] = [each.key for each in deployed.definitions]
        tables.deployed_decisions[deployment.key] = [each.key for each in deployed.decisions]
        tables.deployed_forms[deployment.key] = [each.key for each in deployed.forms]
    return deployed


def _is_new_file(tables: Tables, deployment: Deployment, resource: NewResource) -> bool:
    if resource.definitions or resource.decisions or resource.forms:
        return False
    return (deployment.tenant, resource.name, resource.checksum) not in tables.files


def find_definition(
    tables: Tables, process_id: str, *, version: int, version_tag: str, deployment: int, tenant: str
) -> StoredDefinition | None:
    """The newest definition that fits, if any."""
    within = set(tables.deployments.get(deployment, ()))
    for key in reversed(tables.versions.get((tenant, process_id), ())):
        found = tables.definitions[key]
        if found.deleted:
            continue
        if (
            version in (0, found.version)
            and version_tag in ("", found.version_tag)
            and (not deployment or key in within)
        ):
            return msgspec.structs.replace(found)
    return None


def _deploy_definition(
    tables: Tables, deployment: Deployment, resource: NewResource, new: NewDefinition, now: int
) -> StoredDefinition:
    versions = tables.versions.setdefault((deployment.tenant, new.process_id), [])
    latest = tables.definitions[versions[-1]] if versions else None
    if latest and not latest.deleted and (latest.checksum, latest.methods) == (resource.checksum, new.methods):
        return msgspec.structs.replace(latest)
    stored = StoredDefinition(
        key=new.key,
        process_id=new.process_id,
        version=latest.version + 1 if latest else 1,
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
    )
    tables.definitions[new.key] = stored
    _take_over_starts(tables, new, deployment.tenant, versions, now)
    versions.append(new.key)
    return msgspec.structs.replace(stored, created=True)


def _take_over_starts(tables: Tables, new: NewDefinition, tenant: str, old: list[int], now: int) -> None:
    tables.starts[tenant, new.process_id] = [
        StoredSubscription(
            key=tables.take_key(),
            instance=0,
            element_instance=0,
            element=start.element,
            definition=new.key,
            process_id=new.process_id,
            trigger=start.trigger,
            name=start.name,
            correlation_key="",
            once=False,
            tenant=tenant,
        )
        for start in new.start_subscriptions
    ]
    outdated = [
        job.key
        for job in tables.jobs.values()
        if job.kind == JobKind.TIMER and not job.instance and job.definition in old
    ]
    for key in outdated:
        del tables.jobs[key]
    for timer in new.start_timers:
        job = start_timer_job(tables.take_key(), timer, new.key, tenant)
        tables.insert_job(job, now)
