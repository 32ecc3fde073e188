"""The application object of a Django project: made from the settings, with handlers that mind Django's connections."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, Self

from asgiref.sync import sync_to_async
from django.core.exceptions import ImproperlyConfigured
from django.db import close_old_connections, reset_queries

from procession.app import Procession
from procession.app.job_defaults import check_defaults
from procession.contrib.django.configuration import Configuration, database_url, read_configuration
from procession.worker import Registry
from procession.worker.registry import Handler, Mode

NOT_YET = "memory://"  # until it is opened: the test runner names its databases after the handlers were registered


class DjangoProcession(Procession):
    """``procession.contrib.django.app``. It works on the database that the settings mean when it is opened."""

    def __init__(self, configuration: Configuration) -> None:
        try:
            super().__init__(NOT_YET, **configuration.options)
        except TypeError as error:
            message = f"Expected PROCESSION['OPTIONS'] to be keyword arguments of Procession: {error}"
            raise ImproperlyConfigured(message) from error
        self.configuration = configuration
        self._before_settings = self._target
        self.handlers = DjangoRegistry(check_defaults)
        self.method = self.handlers.method
        self.job = self.handlers.job

    async def open(self, *, run_workers: bool = True, migrate: bool | None = None) -> Self:
        """See ``Procession.open``. ``manage.py migrate`` migrates, not this. Raises ImproperlyConfigured."""
        self.settle()
        return await super().open(run_workers=run_workers, migrate=bool(migrate))

    async def migrate(self) -> list[str]:
        """See ``Procession.migrate``."""
        self.settle()
        return await super().migrate()

    async def schema_version(self) -> tuple[int, int]:
        """See ``Procession.schema_version``."""
        self.settle()
        return await super().schema_version()

    def settle(self) -> Self:
        """Work on the database that the settings mean now, unless rehearsed or open. Raises ImproperlyConfigured."""
        if self._opened is None and self._target is self._before_settings:
            self.use(database_url(self.configuration))
            self._before_settings = self._target
        return self

    @property
    def shares_connections(self) -> bool:
        """Whether its tables are in a database of Django's, and so can be written in one transaction with others."""
        return not self.configuration.url


class DjangoRegistry(Registry):
    """Handlers that find no connection that has died or grown too old since the run before, and leave none behind."""

    def _add(self, table: dict[str, Handler], handler: Handler) -> None:
        there = table.get(handler.name)
        if there is not None and inspect.unwrap(there.function) is handler.function:
            return
        if handler.mode == Mode.THREAD:
            handler.function = _in_thread(handler.function)
        elif handler.mode == Mode.LOOP:
            handler.function = _on_loop(handler.function)
        super()._add(table, handler)


def _in_thread(function: Callable[..., Any]) -> Callable[..., Any]:
    """What Django does around a request, around a run: the thread lives longer than a connection may."""

    @functools.wraps(function)
    def run(*args: Any, **options: Any) -> Any:  # noqa: ANN401 - the handler's own
        reset_queries()
        close_old_connections()
        try:
            return function(*args, **options)
        finally:
            close_old_connections()

    return run


def _on_loop(function: Callable[..., Any]) -> Callable[..., Any]:
    """The same for a coroutine function: the thread in which Django's asynchronous calls run has the connections."""

    @functools.wraps(function)
    async def run(*args: Any, **options: Any) -> Any:  # noqa: ANN401 - the handler's own
        try:
            return await function(*args, **options)
        finally:
            await sync_to_async(close_old_connections)()

    return run


app = DjangoProcession(read_configuration())
