"""Explores every interleaving of a model in the pure core, up to bounds, and says what can go wrong. Pure.

    report = explore(definition)                                  # one process; everything outside may happen
    report = explore_together(definitions, resource.message_flows)
    problems = remarks(resource)                                  # for linters: bounded, and common sense besides

Data is abstracted from: decisions go any way, work ends at any time, events come in any order. It runs no job, reads no
clock, and never says that a model is right in what it computes.
"""

from procession.explorer.explore import explore, explore_together
from procession.explorer.network import Network
from procession.explorer.remarks import remarks
from procession.explorer.report import Decision, Found, Report, TraceStep, Verdict
from procession.explorer.search import Bounds

__all__ = [
    "Bounds",
    "Decision",
    "Found",
    "Network",
    "Report",
    "TraceStep",
    "Verdict",
    "explore",
    "explore_together",
    "remarks",
]
