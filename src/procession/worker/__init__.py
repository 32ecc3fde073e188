"""Runs Python handlers for the engine: registry, typed arguments, slots, threads, processes, outcomes.

It knows no database and no rule of a process.
"""

from procession.worker.context import Job
from procession.worker.dispatcher import LocalDispatcher
from procession.worker.outcomes import ActivateElements, BpmnError, Cancel, Correct, Deny, Fail, Outcome, Retry, Snooze
from procession.worker.registry import Handler, Registry
from procession.worker.remote import Both, RemoteWorkers
from procession.worker.settings import WorkerSettings

__all__ = [
    "ActivateElements",
    "Both",
    "BpmnError",
    "Cancel",
    "Correct",
    "Deny",
    "Fail",
    "Handler",
    "Job",
    "LocalDispatcher",
    "Outcome",
    "Registry",
    "RemoteWorkers",
    "Retry",
    "Snooze",
    "WorkerSettings",
]
