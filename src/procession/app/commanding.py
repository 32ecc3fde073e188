"""Commands as an edge gives them (HTTP, gRPC): any of the rules' own, to one instance, by any key that belongs to it.

It decides nothing; users' verbs for the same are on ``Procession`` itself.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from procession.app import arguments
from procession.app.inspection import Inspection
from procession.app.views import Published
from procession.core.commands import AnyCommand, CompleteJob


class Commanding(Inspection):
    """The commanding half of what edges need of ``Procession``."""

    async def start_version(
        self,
        process_definition_key: int,
        variables: dict[str, Any] | None = None,
        *,
        business_id: str = "",
        tags: Sequence[str] = (),
        at: Sequence[str] = (),
        key: int = 0,
    ) -> int:
        """Start an instance of exactly this version, at these elements if any; its key once the start is durable.

        ``key``: one of ``new_key``, where somebody had to know it before.
        Raises NotFound, InvalidValue.
        """
        arguments.key(process_definition_key, "process_definition_key")
        await self._engine.obtain_definition(process_definition_key, self._tenant)
        return await self._engine.start_instance(
            "",
            variables,
            definition=process_definition_key,
            business_id=arguments.text(business_id, "business_id"),
            tags=arguments.tags(tags),
            tenant=self._tenant,
            at=arguments.names(at, "at"),
            key=arguments.key_or_none(key, "key"),
        )

    async def command(self, process_instance_key: int, command: AnyCommand) -> None:
        """Give a command to an instance. Raises NotFound, Conflict, InvalidValue."""
        arguments.key(process_instance_key, "process_instance_key")
        await self._command(process_instance_key, command)

    def put_completion(
        self, process_instance_key: int, job_key: int, variables: dict[str, Any] | None, *, lease: int = 0
    ) -> asyncio.Future[int]:
        """Complete a job of an instance that is known, without a coroutine. Raises InvalidValue, Unavailable.

        The future raises NotFound, Conflict, InvalidValue. It is for an edge that sees every tenant.
        """
        command = CompleteJob(arguments.key(job_key, "job_key"), arguments.variables(variables))
        fences = {job_key: lease} if lease else None
        return self._engine.put_command(process_instance_key, command, fences=fences, tenant=self._tenant)

    async def command_for(self, kind: str, key: int, command: AnyCommand) -> None:
        """Give a command to the instance of a job, user_task, incident or subscription. Raises alike."""
        arguments.key(key, "key")
        await self._engine.command_for(kind, key, command, tenant=self._tenant)

    async def correlate(
        self, name: str, *, correlation_key: str = "", variables: dict[str, Any] | None = None
    ) -> Published:
        """Publish a message to whoever waits for it now; it is not buffered. Raises InvalidValue."""
        arguments.name(name, "the name of a message")
        arguments.key_text(correlation_key, "correlation_key")
        (key,) = await self._engine.take_keys(1)
        result = await self._engine.publish(
            name, correlation_key, variables, buffer=False, tenant=self._tenant, key=key
        )
        return Published.of(key, result)

    async def new_key(self) -> int:
        """A key that nothing else has."""
        (key,) = await self._engine.take_keys(1)
        return key

    @property
    def now(self) -> int:
        """The store's clock, in milliseconds since the epoch."""
        return self._engine.clock.now()
