"""Each action of the server is tried with each role: nobody without the right does a thing.

Who may what stands here a second time, by the names of operations: whoever adds one that changes something says here
who may, and whoever changes a role by mistake hears of it.
"""

from __future__ import annotations

import re

import pytest

from procession.api import tokens
from procession.api.endpoints import Endpoint
from procession.api.tables import endpoints
from tests.api.conftest import MakeServed, Served

READER, WORKER, OPERATOR, DEPLOYER, ADMIN = "reader", "worker", "operator", "deployer", "admin"
ROLES = (READER, WORKER, OPERATOR, DEPLOYER, ADMIN)

LOOKERS = {READER, OPERATOR, DEPLOYER, ADMIN}
ANYBODY = set(ROLES)
MAY = {
    WORKER: {WORKER, ADMIN},
    OPERATOR: {OPERATOR, ADMIN},
    DEPLOYER: {DEPLOYER, ADMIN},
    ADMIN: {ADMIN},
    READER: LOOKERS,
}

# Without a name at all.
OPEN = {"getStatus", "getLicense", "followDocumentLink"}
# With any name, whatever the role.
ANY_ROLE = {"getAuthentication", "getTopology", "searchOwnAuthorizations"}
# Requests that are no GET and change nothing. Searches, and what begins with "get", are known by their names.
LOOKS = {
    "evaluateExpression",
    "evaluateFeel",
    "explainMessage",
    "lintFile",
    "tryDecision",
}
ACTIONS = {
    WORKER: {"activateJobs", "completeJob", "endJobs", "failJob", "throwJobError", "updateJob"},
    DEPLOYER: {"createDeployment", "deleteResource"},
    ADMIN: {"pinClock", "resetClock", "searchAuditLogs", "getAuditLog", "searchUserTaskAuditLogs"},
    OPERATOR: {
        *("activateAdHocSubProcessActivities", "assignUserTask", "broadcastSignal", "cancelBatchOperation"),
        *("cancelJobBatch", "cancelProcessInstance", "cancelProcessInstancesBatchOperation", "changeJob"),
        *("changeJobsInBulk", "changeRetries", "completeUserTask", "correlateMessage", "createDocument"),
        *("createDocuments", "evaluateConditionals", "setQueueRetention"),
        *("createElementInstanceVariables", "createProcessInstance", "deleteDocument", "deleteJob", "deleteLimit"),
        *("deleteProcessInstance", "deleteProcessInstancesBatchOperation", "enqueueFlow", "enqueueJobs"),
        *("evaluateDecision", "migrateProcessInstance", "migrateProcessInstancesBatchOperation"),
        *("modifyProcessInstance", "modifyProcessInstancesBatchOperation", "openJobBatch", "pauseJobType"),
        *("pauseQueue", "pauseRecurringJob", "publishMessage", "putRecurringJob", "removeRecurringJob"),
        *("requeueJob", "resolveIncident", "resolveIncidentsBatchOperation", "resolveProcessInstanceIncidents"),
        *("restartInstance", "resumeJobType", "resumeProcessInstance", "resumeQueue", "resumeRecurringJob"),
        *("retryIncident", "retryInstance", "retryJob", "sealJobBatch", "setLimit", "suspendProcessInstance"),
        *("resumeProcessInstancesBatchOperation", "suspendProcessInstancesBatchOperation"),
        *("assignProcessInstanceBusinessId", "createDocumentLink", "resumeBatchOperation", "suspendBatchOperation"),
        *("updateJobsBatchOperation",),
        *("triggerRecurringJob", "tryMigration", "unassignUserTask", "updateUserTask"),
    },
}
OPERATIONS = [(prefix, row) for prefix, row in endpoints() if row.documented]


def who_may(row: Endpoint) -> set[str]:
    """The roles that an operation is for; it has to be named above where it changes something."""
    name = row.operation_id
    if name in OPEN | ANY_ROLE:
        return ANYBODY
    for role, names in ACTIONS.items():
        if name in names:
            return MAY[role]
    is_look = row.method == "GET" or name.startswith(("search", "get")) or name in LOOKS
    assert is_look, f"Expected '{name}' among the actions of a role in this file, for it may change something"
    return LOOKERS


async def status_of(served: Served, prefix: str, row: Endpoint, headers: dict[str, str]) -> int:
    """What a request with nothing in it is answered with."""
    path = prefix + re.sub(r"\{[^}]*\}", "1", row.path)
    body = {"files": {"resources": ("x.txt", b"x")}} if row.multipart else {"json": {}}
    given = {} if row.method == "GET" else body
    async with served.client.stream(row.method, path, headers=headers, **given) as answer:
        return answer.status_code


@pytest.fixture
async def guarded(make_served: MakeServed) -> Served:
    """A server that wants to know who comes."""
    return await make_served(identity=True)


@pytest.mark.parametrize("role", [*ROLES, ""])
async def test_each_action_is_for_its_roles_and_for_nobody_else(guarded: Served, role: str) -> None:
    headers = {}
    if role:
        _, text = await tokens.create_token(guarded.app, role, [role])
        headers = {"Authorization": f"Bearer {text}"}
    wrong: list[str] = []
    for prefix, row in OPERATIONS:
        may = role in who_may(row) or row.operation_id in OPEN
        status = await status_of(guarded, prefix, row, headers)
        refused = status == (403 if role else 401)
        if may == refused or status in (500, 404 if row.path.count("{") == 0 else 0):
            wrong.append(f"{row.method} {prefix}{row.path} ({row.operation_id}): {status}")
    assert not wrong, f"{role or 'nobody'}: {wrong}"


def test_every_operation_has_its_place_once() -> None:
    names = [name for group in (*ACTIONS.values(), OPEN, ANY_ROLE, LOOKS) for name in group]
    assert len(names) == len(set(names))
    served = {row.operation_id for _, row in OPERATIONS}
    assert not set(names) - served, "named here and not served"
    for _, row in OPERATIONS:
        who_may(row)


def test_what_a_role_may_is_what_the_table_says() -> None:
    for _, row in OPERATIONS:
        if row.role is not None and not row.any_role:
            assert who_may(row) == MAY[row.role.value], row.operation_id
