"""Everything that is served, in the order in which paths are looked up: what workers ask for most comes first."""

from __future__ import annotations

from procession.api import audit
from procession.api.endpoints import Call, Endpoint
from procession.api.problems import Problem
from procession.api.roles import Role
from procession.api.verbs import (
    authorizations,
    batches,
    cluster,
    correlations,
    counts,
    decision_instances,
    decisions,
    definitions,
    documents,
    elements,
    incidents,
    instance_page,
    instances,
    job_statistics,
    jobs,
    messages,
    own,
    page_definitions,
    page_instances,
    page_messages,
    page_overview,
    page_tools,
    queue_jobs,
    queue_rules,
    resources,
    running,
    user_tasks,
    variables,
    waits,
)

V2 = "/v2"
OWN = "/api"
CLUSTERS = "/cluster/v2"
PAGES = (page_overview, page_definitions, page_instances, page_messages, page_tools)

# What Camunda 8 serves and this server does not, by its name: a client hears so instead of guessing at a typing error.
NOT_SERVED: tuple[tuple[str, str, str], ...] = (
    ("POST", "/decision-instances/deletion", "deleteDecisionInstancesBatchOperation"),
    ("POST", "/decision-instances/{key}/deletion", "deleteDecisionInstance"),
)
FAMILIES_NOT_SERVED = (
    "agent-definitions",
    "agent-instances",
    "authorizations",
    "backups",
    "cluster-variables",
    "exporting",
    "global-task-listeners",
    "groups",
    "mapping-rules",
    "mode",
    "restore",
    "roles",
    "secrets",
    "setup",
    "tenants",
    "users",
)


def _absent(method: str, path: str, operation: str) -> Endpoint:
    async def answer(call: Call) -> None:
        del call
        raise Problem(501, f"'{operation}' of Camunda 8's API is not served by Procession")

    return Endpoint(
        method=method,
        path=path,
        operation_id=operation,
        verb=answer,
        role=Role.READER,
        any_role=True,
        summary="Not served",
        group="Not served",
        status=501,
        documented=False,
    )


def _of_clusters() -> list[Endpoint]:
    """What Camunda 8 serves for whole clusters, beside its API."""
    methods = ("GET", "POST", "PUT", "PATCH", "DELETE")
    return [_absent(method, "/{rest:path}", f"{method} {CLUSTERS}/…") for method in methods]


def _families() -> list[Endpoint]:
    return [
        _absent(method, path, f"{method} /v2/{name}/…")
        for name in FAMILIES_NOT_SERVED
        for path in (f"/{name}", f"/{name}/{{rest:path}}")
        for method in ("GET", "POST", "PUT", "PATCH", "DELETE")
    ]


def endpoints() -> tuple[tuple[str, Endpoint], ...]:
    """Each with the prefix that it stands under. Fixed paths stand before those with names in the same place."""
    served = [
        *jobs.ENDPOINTS,
        *running.ENDPOINTS[:1],
        *messages.ENDPOINTS,
        *correlations.ENDPOINTS,
        *batches.ENDPOINTS,
        *instances.ENDPOINTS,
        *incidents.ENDPOINTS,
        *running.ENDPOINTS[1:],
        *user_tasks.ENDPOINTS,
        *elements.ENDPOINTS,
        *waits.ENDPOINTS,
        *variables.ENDPOINTS,
        *definitions.ENDPOINTS,
        *resources.ENDPOINTS,
        *decisions.ENDPOINTS,
        *decision_instances.ENDPOINTS,
        *documents.ENDPOINTS,
        *counts.ENDPOINTS,
        *job_statistics.ENDPOINTS,
        *cluster.ENDPOINTS,
        *authorizations.ENDPOINTS,
        *audit.ENDPOINTS,
    ]
    absent = [_absent(*each) for each in NOT_SERVED]
    rows = [*served, *absent, *_families()]
    rows.sort(key=lambda row: row.path.count("{"))
    ours = [row for module in (own, instance_page, queue_jobs, queue_rules, *PAGES) for row in module.ENDPOINTS]
    ours += documents.LINKS
    ours.sort(key=lambda row: row.path.count("{"))
    beside = ((CLUSTERS, row) for row in _of_clusters())
    return (*((V2, row) for row in rows), *((OWN, row) for row in ours), *beside)
