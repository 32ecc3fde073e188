"""The built-in functions of the DMN specification, and Camunda's (in `feel.camunda`), registered by import."""

from procession.feel.functions import context, conversion, number, string, temporal
from procession.feel.functions import list as lists
from procession.feel.functions import range as ranges

__all__ = ["context", "conversion", "lists", "number", "ranges", "string", "temporal"]
