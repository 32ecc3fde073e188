"""The product as the benchmark uses it: like any user, through `Procession` alone."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Self

import msgspec

from procession.app import Procession
from procession.lab import models
from procession.lab.options import VARIABLES, Load
from procession.lab.stub import Call

Before = Callable[[], Awaitable[None]]


class Product:
    """One process' application: the two calls as methods or as jobs, and starts. `handled` counts calls done."""

    def __init__(self, load: Load, call: Call | None, *, before: Before | None = None) -> None:
        self.handled = 0
        self._call = call
        self._before = before
        self._app = Procession(load.url, history="activity" if load.history == "activity" else "off")
        self._process_id, self._model = self._bind(load)

    def _bind(self, load: Load) -> tuple[str, str]:
        """Register the handlers; (process id, name of the model)."""
        handler = self._handler()
        if load.way == "methods":
            for name in models.METHODS:
                self._app.method(name, concurrency=load.step_workers)(handler)
            return models.METHODS_PROCESS, "methods"
        self._app.job(models.JOB_TYPE, concurrency=load.job_workers)(handler)
        return models.SERVICE_TASKS_PROCESS, "service_tasks"

    def _handler(self) -> Callable[[], Awaitable[None]]:
        """What a user's handler would be: one call and nothing else, or nothing at all."""
        call, before = self._call, self._before

        async def make_call() -> None:
            if before is not None:
                await before()
            if call is not None:
                await call()
            self.handled += 1

        return make_call

    async def __aenter__(self) -> Self:
        await self._app.open(run_workers=True, migrate=True)
        try:
            await self._app.deploy((f"{self._model}.bpmn", models.model(self._model)))
        except BaseException:
            await self._app.close()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self._app.close()

    def start(self) -> Awaitable[int]:
        """Start one instance; its key once the start is durable."""
        return self._app.start(self._process_id, VARIABLES)

    async def wait(self, key: int) -> None:
        """Wait until an instance is over."""
        await self._app.wait(key, timeout=30)

    def counters(self) -> dict[str, int]:
        """What the product counted itself."""
        counted = msgspec.to_builtins(self._app.counters)
        return {name: value for name, value in counted.items() if isinstance(value, int)}
