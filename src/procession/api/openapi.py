"""The OpenAPI document, made of the very table that serves: what is not in the code is not in the document. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import Any

import msgspec

from procession import __version__
from procession.api.endpoints import NO_BODY, Content, Endpoint
from procession.api.problems import MEDIA_TYPE, TITLES, ProblemDetail

PARAMETER = re.compile(r"\{(\w+)\}")
KEY = {"type": "string", "pattern": "^[0-9]{1,19}$", "examples": ["2251799813685249"]}
MULTIPART = {
    "createDeployment": {
        "type": "object",
        "properties": {
            "resources": {"type": "array", "items": {"type": "string", "format": "binary"}},
            "tenantId": {"type": "string"},
        },
        "required": ["resources"],
    },
    "createDocument": {
        "type": "object",
        "properties": {"file": {"type": "string", "format": "binary"}, "metadata": {"type": "string"}},
        "required": ["file"],
    },
    "createDocuments": {
        "type": "object",
        "properties": {
            "files": {"type": "array", "items": {"type": "string", "format": "binary"}, "minItems": 1},
            "metadataList": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["files"],
    },
}


@cache
def document(endpoints: Sequence[tuple[str, Endpoint]], *, identity: bool) -> dict[str, Any]:
    """The document of endpoints, each with the prefix that it stands under."""
    shown = [(prefix, endpoint) for prefix, endpoint in endpoints if endpoint.documented]
    types: list[Any] = [ProblemDetail]
    for _, endpoint in shown:
        if endpoint.body is not NO_BODY:
            types.append(endpoint.body)
        if _is_json(endpoint):
            types.append(endpoint.answer)
    schemas, components = msgspec.json.schema_components(types, ref_template="#/components/schemas/{name}")
    of_type = {id(kind): schema for kind, schema in zip(types, schemas, strict=True)}
    paths: dict[str, Any] = {}
    for prefix, endpoint in shown:
        where = paths.setdefault(prefix + endpoint.path, {})
        where[endpoint.method.lower()] = _operation(endpoint, of_type, identity=identity)
    found: dict[str, Any] = {
        "openapi": "3.1.0",
        "info": {
            "title": "Procession",
            "version": __version__,
            "description": "Under /v2 the paths and names of Camunda 8's REST API, under /api our own.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "paths": paths,
        "components": {"schemas": components},
    }
    if identity:
        found["components"]["securitySchemes"] = {
            "basic": {"type": "http", "scheme": "basic"},
            "bearer": {"type": "http", "scheme": "bearer"},
        }
    return found


def _is_json(endpoint: Endpoint) -> bool:
    return endpoint.answer is not NO_BODY and endpoint.answer is not Content


def _operation(endpoint: Endpoint, of_type: dict[int, Any], *, identity: bool) -> dict[str, Any]:
    operation: dict[str, Any] = {
        "operationId": endpoint.operation_id,
        "summary": endpoint.summary,
        "tags": [endpoint.group],
        "responses": {str(status): _response(endpoint, status, of_type) for status in endpoint.statuses},
    }
    parameters = [_in_path(name) for name in PARAMETER.findall(endpoint.path)]
    parameters += [{"name": name, "in": "query", "schema": {"type": "string"}} for name in endpoint.queries]
    if parameters:
        operation["parameters"] = parameters
    if endpoint.multipart:
        content = {"multipart/form-data": {"schema": MULTIPART[endpoint.operation_id]}}
        operation["requestBody"] = {"required": True, "content": content}
    elif endpoint.body is not NO_BODY:
        content = {"application/json": {"schema": of_type[id(endpoint.body)]}}
        operation["requestBody"] = {"required": not endpoint.optional, "content": content}
    if identity and endpoint.role is not None:
        operation["security"] = [{"basic": []}, {"bearer": []}]
        if endpoint.any_role:
            return operation
        operation["description"] = f"Needs the role `{endpoint.role.value}`, or one that includes it."
    return operation


def _in_path(name: str) -> dict[str, Any]:
    schema = KEY if name.endswith("Key") else {"type": "string", "minLength": 1, "maxLength": 255}
    return {"name": name, "in": "path", "required": True, "schema": schema}


def _response(endpoint: Endpoint, status: int, of_type: dict[int, Any]) -> dict[str, Any]:
    if status == 204:
        return {"description": "Done" if endpoint.status == 204 else "There is none"}
    if status < 300:
        schema: dict[str, Any] = {} if endpoint.answer is Content else {"schema": of_type[id(endpoint.answer)]}
        return {"description": "As asked", "content": {endpoint.media_type: schema}}
    problem = {"schema": {"$ref": "#/components/schemas/ProblemDetail"}}
    return {"description": TITLES[status].replace("_", " ").capitalize(), "content": {MEDIA_TYPE: problem}}
