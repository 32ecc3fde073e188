"""The messages of the gateway: those that pyzeebe publishes, and the fields that Camunda has added since.

The added ones are put beside the published ones in a pool of this module's own, so that clients which know them are
understood, and those which do not never see a difference. Numbers are for good in protocol buffers.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from google.protobuf import descriptor_pool, message_factory
from google.protobuf.descriptor_pb2 import DescriptorProto, FieldDescriptorProto, FileDescriptorProto
from google.protobuf.message import DecodeError
from pyzeebe.proto import gateway_pb2

from procession.api.problems import Problem

Message = Any  # of a class that is made when this module is imported

PACKAGE = "gateway_protocol"
SERVICE = f"{PACKAGE}.Gateway"


class Field(NamedTuple):
    """A field that is younger than the published messages."""

    name: str
    number: int
    kind: str  # string | bool | int32 | int64, or the name of a message; enumerations are numbers on the wire
    is_list: bool = False


NEWER: dict[str, tuple[Field, ...]] = {
    "StringList": (Field("values", 1, "string", is_list=True),),
    "JobResultCorrections": (
        Field("assignee", 1, "string"),
        Field("dueDate", 2, "string"),
        Field("followUpDate", 3, "string"),
        Field("candidateUsers", 4, "StringList"),
        Field("candidateGroups", 5, "StringList"),
        Field("priority", 6, "int32"),
    ),
    "JobResultActivateElement": (Field("elementId", 1, "string"), Field("variables", 2, "string")),
    "JobResult": (
        Field("denied", 1, "bool"),
        Field("corrections", 2, "JobResultCorrections"),
        Field("deniedReason", 3, "string"),
        Field("type", 4, "string"),
        Field("activateElements", 5, "JobResultActivateElement", is_list=True),
        Field("isCompletionConditionFulfilled", 6, "bool"),
        Field("isCancelRemainingInstances", 7, "bool"),
    ),
    "CompleteJobRequest": (Field("result", 3, "JobResult"),),
    "ActivatedJob": (
        Field("kind", 16, "int32"),
        Field("listenerEventType", 17, "int32"),
        Field("tags", 18, "string", is_list=True),
    ),
    "TerminateProcessInstanceInstruction": (Field("afterElementId", 1, "string"),),
    "ProcessInstanceCreationRuntimeInstruction": (Field("terminate", 1, "TerminateProcessInstanceInstruction"),),
    "CreateProcessInstanceRequest": (
        Field("runtimeInstructions", 8, "ProcessInstanceCreationRuntimeInstruction", is_list=True),
        Field("tags", 9, "string", is_list=True),
    ),
    "CreateProcessInstanceResponse": (Field("tags", 6, "string", is_list=True),),
    "CreateProcessInstanceWithResultResponse": (Field("tags", 7, "string", is_list=True),),
    "EvaluateDecisionResponse": (Field("decisionEvaluationKey", 13, "int64"),),
    "EvaluatedDecision": (Field("decisionEvaluationInstanceKey", 10, "string"),),
    "TopologyResponse": (Field("clusterId", 6, "string"),),
}

_SCALARS = {
    "string": FieldDescriptorProto.TYPE_STRING,
    "bool": FieldDescriptorProto.TYPE_BOOL,
    "int32": FieldDescriptorProto.TYPE_INT32,
    "int64": FieldDescriptorProto.TYPE_INT64,
}


def new(name: str, **fields: Any) -> Message:  # noqa: ANN401 - whatever the message holds
    """A message by its name."""
    return _class_of(name)(**fields)


def parsed(name: str, raw: bytes) -> Message:
    """A message as it came. Raises Problem."""
    message = _class_of(name)()
    try:
        message.ParseFromString(raw)
    except DecodeError:
        raise Problem(400, f"The request cannot be read: it is no {name}") from None
    return message


def has(message: Message, field: str) -> bool:
    """Whether a message knows an optional field, and has it set."""
    return field in message.DESCRIPTOR.fields_by_name and bool(message.HasField(field))


def signature(rpc: str) -> tuple[str, str]:
    """What a remote procedure takes, and what it answers."""
    method = gateway_pb2.DESCRIPTOR.services_by_name["Gateway"].methods_by_name[rpc]
    return method.input_type.name, method.output_type.name


def published_rpcs() -> frozenset[str]:
    """Every remote procedure of the published interface."""
    return frozenset(gateway_pb2.DESCRIPTOR.services_by_name["Gateway"].methods_by_name)


def _class_of(name: str) -> type[Any]:
    found = _CLASSES.get(name)
    if found is None:
        found = _CLASSES[name] = message_factory.GetMessageClass(_POOL.FindMessageTypeByName(f"{PACKAGE}.{name}"))
    return found


def _pool() -> descriptor_pool.DescriptorPool:
    """The published messages with what was added to them."""
    file = FileDescriptorProto()
    gateway_pb2.DESCRIPTOR.CopyToProto(file)
    messages = {message.name: message for message in file.message_type}
    for name, fields in NEWER.items():
        message = messages.get(name)
        if message is None:
            message = file.message_type.add(name=name)
        known = {field.name for field in message.field}
        for field in fields:
            if field.name not in known:
                _add(message, field)
    pool = descriptor_pool.DescriptorPool()
    pool.AddSerializedFile(file.SerializeToString())
    return pool


def _add(message: DescriptorProto, field: Field) -> None:
    """Put a field into the description of a message."""
    made = message.field.add(name=field.name, number=field.number)
    made.label = FieldDescriptorProto.LABEL_REPEATED if field.is_list else FieldDescriptorProto.LABEL_OPTIONAL
    scalar = _SCALARS.get(field.kind)
    if scalar is None:
        made.type = FieldDescriptorProto.TYPE_MESSAGE
        made.type_name = f".{PACKAGE}.{field.kind}"
        return
    made.type = scalar
    if not field.is_list:  # whether it was set is seen, as with `optional` in the language of protocol buffers
        made.proto3_optional = True
        made.oneof_index = len(message.oneof_decl)
        message.oneof_decl.add(name=f"_{field.name}")


_CLASSES: dict[str, type[Any]] = {}
_POOL = _pool()
