"""The verbs of users: deploy, wait, cancel, write variables, resolve, publish, broadcast.

It translates users' words into the engine's; what a command leads to is decided by ``core``.
"""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

from procession.app import arguments
from procession.app.deployments import File, read_files
from procession.app.forms import Form
from procession.app.inspection import Inspection
from procession.app.views import Deployment, ProcessInstance, Published
from procession.core.commands import Cancel, ResolveIncident, SetVariables
from procession.core.listening import RETRIES_MAX
from procession.worker import Registry


class Verbs(Inspection):
    """The users' half of ``Procession``; starts stand with it, since they may be on a caller's connection."""

    handlers: Registry

    # -- processes ------------------------------------------------------------------------------------------------
    async def deploy(self, *files: File) -> Deployment:
        """Deploy BPMN, DMN and form files (paths, or (name, bytes) pairs) together, all or nothing.

        The answer is the list of processes; beside them ``decisions`` and ``forms``. A bare task whose id is the name
        of a registered method is bound to it from this version on. A process whose bytes and bindings are those of its
        latest version makes no new one (``created`` is False), nor does a decision whose file and imports are the same,
        nor a form. Raises InvalidModel with every problem of every file, NotFound for a missing file.
        """
        deployed = await self._engine.deploy(
            read_files(files), tenant=self._tenant, methods=self.handlers.methods.keys()
        )
        return Deployment.of(deployed, [Form.of(row) for row in deployed.forms])

    async def wait(self, process_instance_key: int, *, timeout: float | None = None) -> ProcessInstance:  # noqa: ASYNC109 - what users of asyncio.wait_for expect
        """Wait until an instance is over. ``timeout`` in seconds. Raises NotFound, InvalidValue, TimeoutError."""
        arguments.key(process_instance_key, "process_instance_key")
        async with asyncio.timeout(arguments.seconds(timeout, "timeout")):
            await self._engine.wait_ended(process_instance_key, tenant=self._tenant)
        return (await self.instance(process_instance_key)).instance

    async def cancel(self, process_instance_key: int, *, reason: str = "") -> None:
        """End an instance and everything it called. Raises NotFound, Conflict when it is over or was called."""
        arguments.key(process_instance_key, "process_instance_key")
        await self._command(process_instance_key, Cancel(reason=arguments.reason(reason)))

    async def set_variables(
        self,
        process_instance_key: int,
        variables: dict[str, Any],
        *,
        element_instance_key: int = 0,
        local: bool = False,
    ) -> None:
        """Write variables of an instance, or of one of its scopes. Raises NotFound, InvalidValue."""
        arguments.key(process_instance_key, "process_instance_key")
        scope = arguments.key_or_none(element_instance_key, "element_instance_key")
        command = SetVariables(arguments.variables(variables), element_instance=scope, local=bool(local))
        await self._command(process_instance_key, command)

    async def resolve(self, incident_key: int, *, retries: int = 1) -> None:
        """Try again what raised an incident; ``retries`` are the new attempts of its job. Raises NotFound, Conflict."""
        arguments.key(incident_key, "incident_key")
        arguments.whole(retries, "retries", 1, RETRIES_MAX)
        command = ResolveIncident(incident_key, retries)
        await self._engine.command_for("incident", incident_key, command, tenant=self._tenant)

    async def start_by_conditions(
        self, process_id: str, variables: dict[str, Any] | None = None, *, business_id: str = ""
    ) -> list[int]:
        """Start an instance of the latest version at each conditional start event that these variables fulfil.

        Nothing else looks at such a start: before there is an instance, no change of a variable can be noticed. The
        keys of what was started, perhaps none. Raises NotFound, InvalidValue.
        """
        return await self._engine.start_by_conditions(
            arguments.name(process_id, "process_id"),
            arguments.variables(variables),
            business_id=arguments.text(business_id, "business_id"),
            tenant=self._tenant,
        )

    # -- messages and signals -------------------------------------------------------------------------------------
    async def publish(
        self,
        name: str,
        *,
        correlation_key: str = "",
        variables: dict[str, Any] | None = None,
        ttl: str | float | timedelta = 0,
        message_id: str = "",
    ) -> Published:
        """Publish a message to whoever waits for its name and correlation key, or buffer it for ``ttl``.

        ``ttl`` is seconds, a text such as ``1h`` or ``30s``, an ISO 8601 duration, or a timedelta. With a
        ``message_id`` the same message is buffered once. Raises InvalidValue.
        """
        arguments.name(name, "the name of a message")
        arguments.key_text(correlation_key, "correlation_key")
        arguments.key_text(message_id, "message_id")
        ttl_ms = arguments.ttl_ms(ttl)
        (key,) = await self._engine.take_keys(1)
        result = await self._engine.publish(
            name,
            correlation_key,
            variables,
            ttl_ms=ttl_ms,
            message_id=message_id,
            tenant=self._tenant,
            key=key,
        )
        return Published.of(key, result)

    async def broadcast(self, name: str, variables: dict[str, Any] | None = None) -> list[int]:
        """Broadcast a signal; the keys of the instances reached or started. Raises InvalidValue."""
        arguments.name(name, "the name of a signal")
        return await self._engine.broadcast(name, variables, tenant=self._tenant)
