"""Decisions: their versions, and how one is found."""

from __future__ import annotations

import msgspec

from procession.store.memory._tables import Tables
from procession.store.rows import Deployment, NewDecision, NewResource, StoredDecision


def deploy_decision(
    tables: Tables, deployment: Deployment, resource: NewResource, new: NewDecision, now: int
) -> StoredDecision:
    """The version that a decision is: the latest one if that is the same, or a new one."""
    versions = tables.decision_versions.setdefault((deployment.tenant, new.decision_id), [])
    latest = tables.decisions[versions[-1]] if versions else None
    if latest and latest.checksum == new.checksum:
        return msgspec.structs.replace(latest)
    stored = StoredDecision(
        key=new.key,
        decision_id=new.decision_id,
        version=len(versions) + 1,
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
    )
    tables.decisions[new.key] = stored
    versions.append(new.key)
    return msgspec.structs.replace(stored, created=True)


def find_decision(
    tables: Tables, decision_id: str, *, version: int, version_tag: str, deployment: int, tenant: str
) -> StoredDecision | None:
    """The newest decision that fits, if any."""
    within = set(tables.deployed_decisions.get(deployment, ()))
    for key in reversed(tables.decision_versions.get((tenant, decision_id), ())):
        found = tables.decisions[key]
        if (
            version in (0, found.version)
            and version_tag in ("", found.version_tag)
            and (not deployment or key in within)
        ):
            return msgspec.structs.replace(found)
    return None


def list_decisions(tables: Tables, decision_id: str, tenant: str) -> list[StoredDecision]:
    """All versions, the newest first within each decision id."""
    found = [
        msgspec.structs.replace(each)
        for each in tables.decisions.values()
        if decision_id in ("", each.decision_id) and tenant in ("", each.tenant)
    ]
    return sorted(found, key=lambda each: (each.decision_id, -each.version, each.tenant))
