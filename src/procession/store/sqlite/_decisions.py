"""Decisions: their versions, and how their rows are read."""

from __future__ import annotations

from typing import Any

import msgspec

from procession.store.rows import Deployment, NewDecision, NewResource, StoredDecision
from procession.store.sqlite._session import Session, as_json

_decode_keys = msgspec.json.Decoder(list[int]).decode


def deploy_decision(
    session: Session, deployment: Deployment, resource: NewResource, new: NewDecision
) -> StoredDecision:
    """The version that a decision is: the latest one if that is the same, or a new one."""
    which = {"decision_id": new.decision_id, "tenant": deployment.tenant}
    latest = session.rows("find_decision", **which, version=0, version_tag="", deployment=0)
    before = read_decision(latest[0]) if latest else None
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
        deployed_at=session.now,
        tenant=deployment.tenant,
        created=True,
    )
    session.run(
        "insert_decision",
        key=stored.key,
        decision_id=stored.decision_id,
        version=stored.version,
        name=stored.name,
        version_tag=stored.version_tag,
        requirements_id=stored.requirements_id,
        resource=stored.resource,
        resource_name=stored.resource_name,
        imports=as_json(stored.imports),
        checksum=stored.checksum,
        deployment=stored.deployment,
        deployed_at=stored.deployed_at,
        tenant=stored.tenant,
    )
    return stored


def read_decision(row: Any) -> StoredDecision:  # noqa: ANN401 - a row of a query
    """A row of the queries for decisions."""
    return StoredDecision(
        key=row[0],
        decision_id=row[1],
        version=row[2],
        name=row[3],
        version_tag=row[4],
        requirements_id=row[5],
        resource=row[6],
        resource_name=row[7],
        imports=_decode_keys(row[8]),
        checksum=row[9],
        deployment=row[10],
        deployed_at=row[11],
        tenant=row[12],
    )
