"""Durable BPMN 2.0 processes and jobs for Python, on the database you already run.

    from procession import Procession

The names below are loaded when they are first used, so that ``procession.feel`` and ``procession.dmn`` stand alone:
they load neither a database driver nor an event loop.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from procession.app import Procession, SyncProcession
    from procession.app.flows import FlowJob
    from procession.app.job_defaults import job_defaults
    from procession.app.job_options import Limit, Unique
    from procession.app.middleware import JobsToCome
    from procession.app.recurring import Recurring
    from procession.app.tracing import trace_jobs
    from procession.engine import Settings
    from procession.worker import (
        ActivateElements,
        BpmnError,
        Cancel,
        Correct,
        Deny,
        Fail,
        Job,
        Retry,
        Snooze,
        WorkerSettings,
    )
    from procession.worker.at_work import JobFilter
    from procession.worker.codecs import Compression, Encryption

_HOMES = {
    "Procession": "procession.app",
    "SyncProcession": "procession.app",
    "ActivateElements": "procession.worker",
    "BpmnError": "procession.worker",
    "Cancel": "procession.worker",
    "Compression": "procession.worker.codecs",
    "Correct": "procession.worker",
    "Deny": "procession.worker",
    "Encryption": "procession.worker.codecs",
    "Fail": "procession.worker",
    "FlowJob": "procession.app.flows",
    "Job": "procession.worker",
    "JobFilter": "procession.worker.at_work",
    "JobsToCome": "procession.app.middleware",
    "Limit": "procession.app.job_options",
    "Recurring": "procession.app.recurring",
    "Retry": "procession.worker",
    "Settings": "procession.engine",
    "Snooze": "procession.worker",
    "Unique": "procession.app.job_options",
    "WorkerSettings": "procession.worker",
    "job_defaults": "procession.app.job_defaults",
    "trace_jobs": "procession.app.tracing",
}

__version__ = "0.1.0"
__all__ = [
    "ActivateElements",
    "BpmnError",
    "Cancel",
    "Compression",
    "Correct",
    "Deny",
    "Encryption",
    "Fail",
    "FlowJob",
    "Job",
    "JobFilter",
    "JobsToCome",
    "Limit",
    "Procession",
    "Recurring",
    "Retry",
    "Settings",
    "Snooze",
    "SyncProcession",
    "Unique",
    "WorkerSettings",
    "__version__",
    "job_defaults",
    "trace_jobs",
]


def __getattr__(name: str) -> object:
    """Load a public name when it is asked for."""
    home = _HOMES.get(name)
    if home is None:
        message = f"module 'procession' has no attribute '{name}'"
        raise AttributeError(message)
    return getattr(import_module(home), name)
