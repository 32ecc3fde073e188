"""Requests of the gateway as those of the REST API: a path and a body, which the endpoint's own type then checks."""

from __future__ import annotations

from typing import Any, cast

import msgspec

from procession.api.endpoints import Upload
from procession.api.gateway.messages import Message, has
from procession.api.problems import Problem
from procession.limits import AWAIT_MS_MAX

Body = dict[str, Any]
LATEST = -1


class Asked(msgspec.Struct, kw_only=True):
    """What is asked of the endpoint."""

    path: dict[str, str] = {}
    body: Body = {}
    uploads: list[Upload] = []


def variables_of(text: str, what: str = "variables") -> dict[str, Any] | None:
    """A JSON object; None for an empty text. Raises Problem."""
    if not text:
        return None
    try:
        value = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError, UnicodeError) as error:
        raise Problem(
            400, f"Expected {what} to be a JSON object, but they cannot be read: {str(error)[:300]}"
        ) from None
    if not isinstance(value, dict):
        raise Problem(400, f"Expected {what} to be a JSON object, found {_kind(value)}")
    return cast("dict[str, Any]", value)


def _kind(value: object) -> str:
    if value is None:
        return "null"
    return "a list" if isinstance(value, list) else "a single value"


def key_text(key: int, what: str) -> str:
    """A key for a path. Raises Problem: nothing has a key of zero or less."""
    if key <= 0:
        raise Problem(404, f"Expected {what} to be the key of something that is there, found {key}")
    return str(key)


def _tenant(tenant_id: str) -> Body:
    return {"tenantId": tenant_id} if tenant_id else {}


# -- deployments ------------------------------------------------------------------------------------------------------
def deploy_resource(request: Message) -> Asked:
    """Files, and whose they are."""
    parts = [_file(each.name, each.content) for each in request.resources]
    if request.tenantId:
        parts.append(Upload(name="tenantId", filename="", content_type="text/plain", data=request.tenantId.encode()))
    return Asked(uploads=_files(parts))


def deploy_process(request: Message) -> Asked:
    """Processes only, of the default tenant: what clients called before 8.0."""
    return Asked(uploads=_files([_file(each.name, each.definition) for each in request.processes]))


def _file(name: str, content: bytes) -> Upload:
    return Upload(name="resources", filename=name, content_type="application/octet-stream", data=content)


def _files(parts: list[Upload]) -> list[Upload]:
    if not any(part.name == "resources" for part in parts):
        raise Problem(400, "Expected at least one resource to deploy, found none")
    return parts


def delete_resource(request: Message) -> Asked:
    """Its key."""
    return Asked(path={"resourceKey": key_text(request.resourceKey, "resourceKey")})


# -- instances --------------------------------------------------------------------------------------------------------
def create_instance(request: Message) -> Asked:
    """A version by its key, or a process by its id."""
    body: Body = {
        "variables": variables_of(request.variables),
        "startInstructions": [{"elementId": each.elementId} for each in request.startInstructions],
        "runtimeInstructions": [{"type": "TERMINATE"} for _ in request.runtimeInstructions],
        "tags": list(request.tags),
        **_tenant(request.tenantId),
    }
    if request.processDefinitionKey > 0:
        body["processDefinitionKey"] = str(request.processDefinitionKey)
    else:
        body["processDefinitionId"] = request.bpmnProcessId
        body["processDefinitionVersion"] = request.version or LATEST
    return Asked(body=body)


def create_instance_with_result(request: Message) -> Asked:
    """The same, and how long to wait for its end."""
    asked = create_instance(request.request)
    asked.body["awaitCompletion"] = True
    asked.body["fetchVariables"] = list(request.fetchVariables)
    asked.body["requestTimeout"] = max(0, request.requestTimeout)
    return asked


def cancel_instance(request: Message) -> Asked:
    """Its key."""
    return Asked(path=_instance(request))


def _instance(request: Message) -> dict[str, str]:
    return {"processInstanceKey": key_text(request.processInstanceKey, "processInstanceKey")}


def modify_instance(request: Message) -> Asked:
    """What begins, and what ends."""
    activate = [
        {
            "elementId": each.elementId,
            "ancestorElementInstanceKey": str(each.ancestorElementInstanceKey)
            if each.ancestorElementInstanceKey > 0
            else "-1",
            "variableInstructions": [
                {"variables": variables_of(one.variables) or {}, "scopeId": one.scopeId}
                for one in each.variableInstructions
            ],
        }
        for each in request.activateInstructions
    ]
    terminate = [
        {"elementInstanceKey": key_text(each.elementInstanceKey, "elementInstanceKey")}
        for each in request.terminateInstructions
    ]
    return Asked(path=_instance(request), body={"activateInstructions": activate, "terminateInstructions": terminate})


def migrate_instance(request: Message) -> Asked:
    """Where to, and which element is which."""
    plan = request.migrationPlan
    mapping = [
        {"sourceElementId": each.sourceElementId, "targetElementId": each.targetElementId}
        for each in plan.mappingInstructions
    ]
    target = key_text(plan.targetProcessDefinitionKey, "targetProcessDefinitionKey")
    return Asked(path=_instance(request), body={"targetProcessDefinitionKey": target, "mappingInstructions": mapping})


def set_variables(request: Message) -> Asked:
    """Of an instance or element instance."""
    return Asked(
        path={"elementInstanceKey": key_text(request.elementInstanceKey, "elementInstanceKey")},
        body={"variables": variables_of(request.variables) or {}, "local": request.local},
    )


def resolve_incident(request: Message) -> Asked:
    """Its key."""
    return Asked(path={"incidentKey": key_text(request.incidentKey, "incidentKey")})


# -- jobs -------------------------------------------------------------------------------------------------------------
def activate_jobs(request: Message) -> Asked:
    """What a worker takes."""
    if not request.worker.strip():
        raise Problem(400, "Expected the name of a worker, found none")
    return Asked(
        body={
            **_taken(request),
            "maxJobsToActivate": request.maxJobsToActivate,
            "requestTimeout": min(request.requestTimeout, AWAIT_MS_MAX),
        }
    )


def stream_jobs(request: Message) -> Asked:
    """What a worker is pushed."""
    return Asked(body={**_taken(request), "maxJobsToActivate": 1})


def _taken(request: Message) -> Body:
    if not request.type.strip():
        raise Problem(400, "Expected the type of the jobs, found none")
    return {
        "type": request.type,
        "worker": request.worker,
        "timeout": request.timeout,
        "fetchVariable": list(request.fetchVariable),
        "tenantIds": list(request.tenantIds),
    }


def _job(request: Message) -> dict[str, str]:
    return {"jobKey": key_text(request.jobKey, "jobKey")}


def complete_job(request: Message) -> Asked:
    """A job is done; the worker of a listener or ad-hoc sub-process says more."""
    body: Body = {"variables": variables_of(request.variables)}
    if has(request, "result"):
        body["result"] = _result(request.result)
    return Asked(path=_job(request), body=body)


def _result(result: Message) -> Body:
    if result.type == "adHocSubProcess":
        return {
            "type": "adHocSubProcess",
            "activateElements": [
                {"elementId": each.elementId, "variables": variables_of(each.variables)}
                for each in result.activateElements
            ],
            "isCompletionConditionFulfilled": result.isCompletionConditionFulfilled,
            "isCancelRemainingInstances": result.isCancelRemainingInstances,
        }
    if result.type not in ("", "userTask"):
        raise Problem(400, f"Expected a result of type userTask or adHocSubProcess, found '{result.type[:60]}'")
    body: Body = {"type": "userTask", "denied": result.denied, "deniedReason": result.deniedReason}
    if has(result, "corrections"):
        body["corrections"] = _corrections(result.corrections)
    return body


def _corrections(corrections: Message) -> Body:
    """Those that are set: an empty text or list clears what is there."""
    texts = {name: getattr(corrections, name) for name in ("assignee", "dueDate", "followUpDate", "priority")}
    lists = {name: list(getattr(corrections, name).values) for name in ("candidateUsers", "candidateGroups")}
    return {name: value for name, value in {**texts, **lists}.items() if has(corrections, name)}


def fail_job(request: Message) -> Asked:
    """A job could not be done."""
    return Asked(
        path=_job(request),
        body={
            "retries": request.retries,
            "errorMessage": request.errorMessage,
            "retryBackOff": request.retryBackOff,
            "variables": variables_of(request.variables),
        },
    )


def throw_error(request: Message) -> Asked:
    """A job ends with a modelled error."""
    return Asked(
        path=_job(request),
        body={
            "errorCode": request.errorCode,
            "errorMessage": request.errorMessage,
            "variables": variables_of(request.variables),
        },
    )


def update_retries(request: Message) -> Asked:
    """Attempts left."""
    return Asked(path=_job(request), body={"changeset": {"retries": request.retries}})


def update_timeout(request: Message) -> Asked:
    """The time that a lease still has."""
    return Asked(path=_job(request), body={"changeset": {"timeout": request.timeout}})


# -- messages, signals, decisions -------------------------------------------------------------------------------------
def publish_message(request: Message) -> Asked:
    """A message."""
    return Asked(
        body={
            "name": request.name,
            "correlationKey": request.correlationKey,
            "timeToLive": request.timeToLive,
            "messageId": request.messageId,
            "variables": variables_of(request.variables),
            **_tenant(request.tenantId),
        }
    )


def broadcast_signal(request: Message) -> Asked:
    """A signal."""
    return Asked(
        body={
            "signalName": request.signalName,
            "variables": variables_of(request.variables),
            **_tenant(request.tenantId),
        }
    )


def evaluate_decision(request: Message) -> Asked:
    """A decision by its id or by its key. Raises Problem for both and for neither."""
    if bool(request.decisionId) == bool(request.decisionKey):
        raise Problem(400, "Expected either decisionId or decisionKey, found both or neither")
    name, value = ("decisionDefinitionId", request.decisionId)
    if request.decisionKey:
        name, value = ("decisionDefinitionKey", key_text(request.decisionKey, "decisionKey"))
    return Asked(body={name: value, "variables": variables_of(request.variables), **_tenant(request.tenantId)})


def nothing(request: Message) -> Asked:
    """A request that says nothing."""
    del request
    return Asked()
