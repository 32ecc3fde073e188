"""The operation of Django's migrations that brings Procession's own tables to one of their versions.

The statements are the stores' own migrations, so that ``procession db migrate`` and ``manage.py migrate`` mean the same
and whoever comes second finds nothing to do.
"""

from __future__ import annotations

import asyncio
import time
from typing import Any

from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.operations.base import Operation
from django.db.migrations.state import ProjectState

from procession.app import Procession
from procession.app.wiring import SchemaScript, schema_script, target_of
from procession.contrib.django.configuration import database_url, read_configuration


class MigrateSchema(Operation):
    """Apply the migrations of Procession's schema up to ``version`` that are not applied yet."""

    reduces_to_sql = False
    reversible = False
    atomic = True

    def __init__(self, version: int) -> None:
        self.version = version

    def state_forwards(self, app_label: str, state: ProjectState) -> None:
        """These tables are no models."""

    def database_forwards(
        self,
        app_label: str,  # noqa: ARG002 - the signature is Django's
        schema_editor: BaseDatabaseSchemaEditor,
        from_state: ProjectState,  # noqa: ARG002
        to_state: ProjectState,  # noqa: ARG002
    ) -> None:
        """On the database that PROCESSION means; elsewhere nothing."""
        configuration = read_configuration()
        connection = schema_editor.connection
        if configuration.url or connection.alias != configuration.database:
            return
        if connection.vendor == "sqlite":  # the file's name does not matter here: it may be a test's, in memory
            script = schema_script(target_of("sqlite:///here"), time.time_ns() // 1_000_000)
        else:
            script = schema_script(target_of(database_url(configuration)), 0)
        if script is None:
            asyncio.run(Procession(database_url(configuration)).migrate())
        else:
            self._apply(script, connection)

    def database_backwards(
        self,
        app_label: str,
        schema_editor: BaseDatabaseSchemaEditor,
        from_state: ProjectState,
        to_state: ProjectState,
    ) -> None:
        """Procession's schema goes forward only."""
        raise NotImplementedError

    def describe(self) -> str:
        """For ``migrate --plan``."""
        return f"Bring the tables of Procession to version {self.version}"

    def _apply(self, script: SchemaScript, connection: Any) -> None:  # noqa: ANN401 - a backend's wrapper
        """Execute what is missing on Django's connection, in its transaction."""
        with connection.cursor() as cursor:
            for statement in script.prepare:
                cursor.execute(statement)
            cursor.execute(script.applied)
            done = {row[0] for row in cursor.fetchall()}
            missing = [one for one in script.changes if one.version <= self.version and one.version not in done]
            for statement in [statement for change in missing for statement in change.statements]:
                cursor.execute(statement)
