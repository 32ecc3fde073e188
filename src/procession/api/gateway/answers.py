"""Answers of the REST API's endpoints as messages of the gateway."""

from __future__ import annotations

import msgspec

from procession.api.gateway.messages import Message, new
from procession.api.verbs.cluster import Broker, Topology
from procession.api.verbs.decisions import DecisionResult, Evaluated, MatchedRule
from procession.api.verbs.jobs import Job
from procession.api.verbs.messages import BroadcastedSignal, PublishedMessage
from procession.api.verbs.resources import Deployed, Deployment
from procession.api.verbs.running import CreatedInstance

JOB_KINDS = {"BPMN_ELEMENT": 0, "EXECUTION_LISTENER": 1, "TASK_LISTENER": 2, "AD_HOC_SUB_PROCESS": 3}
LISTENER_EVENTS = {
    name: number
    for number, name in enumerate(
        ("ASSIGNING", "CANCELING", "COMPLETING", "CREATING", "END", "START", "UNSPECIFIED", "UPDATING")
    )
}


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()


def topology(result: Topology) -> Message:
    """Who works on the database."""
    return new(
        "TopologyResponse",
        brokers=[_broker(each) for each in result.brokers],
        clusterSize=result.cluster_size,
        partitionsCount=result.partitions_count,
        replicationFactor=result.replication_factor,
        gatewayVersion=result.gateway_version,
        clusterId=result.cluster_id,
    )


def _broker(broker: Broker) -> Message:
    """A process; the first one leads the only partition, as the REST API says, too."""
    partitions = [new("Partition", partitionId=each.partition_id, role=0, health=0) for each in broker.partitions]
    return new(
        "BrokerInfo",
        nodeId=broker.node_id,
        host=broker.host,
        port=broker.port,
        partitions=partitions,
        version=broker.version,
    )


def job(record: Job) -> Message:
    """A job for its worker."""
    return new(
        "ActivatedJob",
        key=int(record.job_key),
        type=record.type,
        processInstanceKey=int(record.process_instance_key),
        bpmnProcessId=record.process_definition_id,
        processDefinitionVersion=record.process_definition_version,
        processDefinitionKey=int(record.process_definition_key),
        elementId=record.element_id,
        elementInstanceKey=int(record.element_instance_key),
        customHeaders=_json(record.custom_headers),
        worker=record.worker,
        retries=record.retries,
        deadline=record.deadline,
        variables=_json(record.variables),
        tenantId=record.tenant_id,
        kind=JOB_KINDS.get(record.kind, 0),
        listenerEventType=LISTENER_EVENTS.get(record.listener_event_type, LISTENER_EVENTS["UNSPECIFIED"]),
        tags=record.tags,
    )


def created(result: CreatedInstance) -> Message:
    """An instance that has started."""
    return new("CreateProcessInstanceResponse", **_instance(result))


def created_with_result(result: CreatedInstance) -> Message:
    """An instance that has ended."""
    return new("CreateProcessInstanceWithResultResponse", variables=_json(result.variables), **_instance(result))


def _instance(result: CreatedInstance) -> dict[str, object]:
    return {
        "processDefinitionKey": int(result.process_definition_key),
        "bpmnProcessId": result.process_definition_id,
        "version": result.process_definition_version,
        "processInstanceKey": int(result.process_instance_key),
        "tenantId": result.tenant_id,
        "tags": result.tags,
    }


def deployment(result: Deployment) -> Message:
    """Everything that was deployed."""
    return new(
        "DeployResourceResponse",
        key=int(result.deployment_key),
        deployments=[_deployed(each) for each in result.deployments],
        tenantId=result.tenant_id,
    )


def deployed_processes(result: Deployment) -> Message:
    """The processes of it."""
    found = [_deployed(each).process for each in result.deployments if each.process_definition is not None]
    return new("DeployProcessResponse", key=int(result.deployment_key), processes=found)


def _deployed(item: Deployed) -> Message:
    if item.process_definition is not None:
        process = item.process_definition
        fields = {
            "bpmnProcessId": process.process_definition_id,
            "version": process.process_definition_version,
            "processDefinitionKey": int(process.process_definition_key),
            "resourceName": process.resource_name,
            "tenantId": process.tenant_id,
        }
        return new("Deployment", process=new("ProcessMetadata", **fields))
    if item.decision_definition is not None:
        decision = item.decision_definition
        fields = {
            "dmnDecisionId": decision.decision_definition_id,
            "dmnDecisionName": decision.name,
            "version": decision.version,
            "decisionKey": int(decision.decision_definition_key),
            "dmnDecisionRequirementsId": decision.decision_requirements_id,
            "decisionRequirementsKey": int(decision.decision_requirements_key),
            "tenantId": decision.tenant_id,
        }
        return new("Deployment", decision=new("DecisionMetadata", **fields))
    if item.decision_requirements is not None:
        file = item.decision_requirements
        fields = {
            "dmnDecisionRequirementsId": file.decision_requirements_id,
            "dmnDecisionRequirementsName": file.decision_requirements_name,
            "version": file.version,
            "decisionRequirementsKey": int(file.decision_requirements_key),
            "resourceName": file.resource_name,
            "tenantId": file.tenant_id,
        }
        return new("Deployment", decisionRequirements=new("DecisionRequirementsMetadata", **fields))
    form = item.form
    assert form is not None, "a deployment holds processes, decisions, their files and forms"
    fields = {
        "formId": form.form_id,
        "version": form.version,
        "formKey": int(form.form_key),
        "resourceName": form.resource_name,
        "tenantId": form.tenant_id,
    }
    return new("Deployment", form=new("FormMetadata", **fields))


def published(result: PublishedMessage) -> Message:
    """A message that was taken."""
    return new("PublishMessageResponse", key=int(result.message_key), tenantId=result.tenant_id)


def broadcasted(result: BroadcastedSignal) -> Message:
    """A signal that was broadcast."""
    return new("BroadcastSignalResponse", key=int(result.signal_key), tenantId=result.tenant_id)


def decision(result: DecisionResult) -> Message:
    """What a decision says, and why."""
    return new(
        "EvaluateDecisionResponse",
        decisionKey=int(result.decision_definition_key),
        decisionId=result.decision_definition_id,
        decisionName=result.decision_definition_name,
        decisionVersion=result.decision_definition_version,
        decisionRequirementsId=result.decision_requirements_id,
        decisionRequirementsKey=int(result.decision_requirements_key),
        decisionOutput=result.output,
        evaluatedDecisions=[_evaluated(each) for each in result.evaluated_decisions],
        tenantId=result.tenant_id,
        decisionInstanceKey=int(result.decision_instance_key),
        decisionEvaluationKey=int(result.decision_evaluation_key),
    )


def _evaluated(each: Evaluated) -> Message:
    return new(
        "EvaluatedDecision",
        decisionKey=int(each.decision_definition_key),
        decisionId=each.decision_definition_id,
        decisionName=each.decision_definition_name,
        decisionVersion=each.decision_definition_version,
        decisionType=each.decision_definition_type,
        decisionOutput=each.output,
        matchedRules=[_rule(rule) for rule in each.matched_rules],
        evaluatedInputs=[
            new("EvaluatedDecisionInput", inputId=one.input_id, inputName=one.input_name, inputValue=one.input_value)
            for one in each.evaluated_inputs
        ],
        tenantId=each.tenant_id,
        decisionEvaluationInstanceKey=each.decision_evaluation_instance_key,
    )


def _rule(rule: MatchedRule) -> Message:
    outputs = [
        new("EvaluatedDecisionOutput", outputId=one.output_id, outputName=one.output_name, outputValue=one.output_value)
        for one in rule.evaluated_outputs
    ]
    return new("MatchedDecisionRule", ruleId=rule.rule_id, ruleIndex=rule.rule_index, evaluatedOutputs=outputs)
