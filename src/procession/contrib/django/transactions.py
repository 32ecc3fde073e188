"""Starting and enqueuing within the transaction that Django has open, if it has one: both are committed, or neither."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Unpack

from django.db import connections

from procession.contrib.django.application import app

if TYPE_CHECKING:
    from procession.app.adapters import Connection
    from procession.app.flows import EnqueuedFlow, FlowJob
    from procession.app.job_rows import EnqueueOptions
    from procession.app.queueing import EnqueuedJob
    from procession.app.sync import StartOptions


def start(process_id: str, variables: dict[str, Any] | None = None, **options: Unpack[StartOptions]) -> int:
    """Start an instance; its key. Within ``transaction.atomic()`` it exists when, and only when, that commits.

    The options are those of ``Procession.start``. Raises what that raises. In asynchronous views: ``await
    sync_to_async(start)(...)``.
    """
    return app.sync.open().start(process_id, variables, connection=current_transaction(), **options)


def enqueue(type: str, args: Any = None, **options: Unpack[EnqueueOptions]) -> EnqueuedJob:  # noqa: A002, ANN401 - Camunda's word; an object of names and values
    """Put a job into the queue. Within ``transaction.atomic()`` it is there when, and only when, that commits.

    The options are those of ``Procession.enqueue``. Raises what that raises.
    """
    return app.sync.open().enqueue(type, args, connection=current_transaction(), **options)


def enqueue_flow(jobs: Iterable[FlowJob], *, title: str = "") -> EnqueuedFlow:
    """Put jobs that come after each other into the queue, all or none, as ``enqueue`` does one.

    Raises what ``Procession.enqueue_flow`` raises.
    """
    return app.sync.open().enqueue_flow(jobs, title=title, connection=current_transaction())


def current_transaction() -> Connection | None:
    """Django's connection to the database of Procession's tables if a transaction is open on it in this thread."""
    if not app.shares_connections:
        return None
    connection = connections[app.configuration.database]
    return connection if connection.in_atomic_block or not connection.get_autocommit() else None
