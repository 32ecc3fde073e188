"""The built-in functions of the DMN specification, and Camunda's (in `feel.camunda`), registered by import."""

from procession.feel.functions import context, conversion, list, number, range, string, temporal

__all__ = ["context", "conversion", "list", "number", "range", "string", "temporal"]
