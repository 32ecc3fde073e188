"""BPMN files to compiled definitions, with every problem reported at once. Pure: bytes in, values out.

    resource = compile_resource(content, name="order.bpmn")    # raises InvalidModel with every error
    problems = lint_resource(content)                          # never raises for a bad model

It executes nothing, stores nothing, and fetches nothing that a file refers to.
"""

from procession.errors import InvalidModel
from procession.model.compile import Declaration, MessageFlow, Resource, compile_resource, lint_resource
from procession.model.definition import Definition, Problem
from procession.model.expressions import Static

__all__ = [
    "Declaration",
    "Definition",
    "InvalidModel",
    "MessageFlow",
    "Problem",
    "Resource",
    "Static",
    "compile_resource",
    "lint_resource",
]
