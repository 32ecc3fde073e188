"""Every remote procedure of the gateway: whose endpoint it is, how its request is read, how the answer is written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from procession.api.gateway import answers, requests
from procession.api.gateway.messages import Message
from procession.api.gateway.requests import Asked

Read = Callable[[Message], Asked]
Write = Callable[[Any], Message]


class Rpc(msgspec.Struct, frozen=True):
    """One row."""

    name: str
    operation_id: str  # of the endpoint of the REST API that does it
    read: Read
    write: Write | None = None  # None: an empty message
    is_key: bool = False  # the message holds nothing but a key of its own


UNARY = (
    Rpc("Topology", "getTopology", requests.nothing, answers.topology),
    Rpc("DeployResource", "createDeployment", requests.deploy_resource, answers.deployment),
    Rpc("DeployProcess", "createDeployment", requests.deploy_process, answers.deployed_processes),
    Rpc("DeleteResource", "deleteResource", requests.delete_resource),
    Rpc("CreateProcessInstance", "createProcessInstance", requests.create_instance, answers.created),
    Rpc(
        "CreateProcessInstanceWithResult",
        "createProcessInstance",
        requests.create_instance_with_result,
        answers.created_with_result,
    ),
    Rpc("CancelProcessInstance", "cancelProcessInstance", requests.cancel_instance),
    Rpc("ModifyProcessInstance", "modifyProcessInstance", requests.modify_instance),
    Rpc("MigrateProcessInstance", "migrateProcessInstance", requests.migrate_instance),
    Rpc("SetVariables", "createElementInstanceVariables", requests.set_variables, is_key=True),
    Rpc("ResolveIncident", "resolveIncident", requests.resolve_incident),
    Rpc("CompleteJob", "completeJob", requests.complete_job),
    Rpc("FailJob", "failJob", requests.fail_job),
    Rpc("ThrowError", "throwJobError", requests.throw_error),
    Rpc("UpdateJobRetries", "updateJob", requests.update_retries),
    Rpc("UpdateJobTimeout", "updateJob", requests.update_timeout),
    Rpc("PublishMessage", "publishMessage", requests.publish_message, answers.published),
    Rpc("BroadcastSignal", "broadcastSignal", requests.broadcast_signal, answers.broadcasted),
    Rpc("EvaluateDecision", "evaluateDecision", requests.evaluate_decision, answers.decision),
)
ACTIVATE = Rpc("ActivateJobs", "activateJobs", requests.activate_jobs)
STREAM = Rpc("StreamActivatedJobs", "activateJobs", requests.stream_jobs)
