"""Decisions of a deployment: their versions, in the transaction of the deployment."""

from __future__ import annotations

import msgspec

from procession.store.postgres._reading import stored_decision
from procession.store.postgres._sessions import Session
from procession.store.rows import Deployment, NewDecision, NewResource, StoredDecision


async def decide_decisions(session: Session, deployment: Deployment) -> list[StoredDecision]:
    """The versions that the decisions are: the latest ones where those are the same, or new ones. Writes nothing."""
    ids = [new.decision_id for resource in deployment.resources for new in resource.decisions]
    if not ids:
        return []
    rows = await session.fetch("deploy_latest_decisions", deployment.tenant, ids)
    latest = {each.decision_id: each for each in map(stored_decision, rows)}
    return [
        _decide(deployment, resource, new, latest) for resource in deployment.resources for new in resource.decisions
    ]


async def write_decisions(session: Session, decisions: list[StoredDecision]) -> None:
    """Insert the new versions."""
    for each in decisions:
        if each.created:
            names = (each.name, each.version_tag, each.requirements_id)
            where = (each.resource, each.imports, each.checksum, each.deployment)
            which = (each.key, each.tenant, each.decision_id, each.version)
            await session.fetch("deploy_decision", *which, *names, *where)


def _decide(
    deployment: Deployment, resource: NewResource, new: NewDecision, latest: dict[str, StoredDecision]
) -> StoredDecision:
    before = latest.get(new.decision_id)
    if before is not None and before.checksum == new.checksum:
        return msgspec.structs.replace(before, created=False)
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
        deployed_at=0,
        tenant=deployment.tenant,
        created=True,
    )
    latest[new.decision_id] = stored
    return stored
