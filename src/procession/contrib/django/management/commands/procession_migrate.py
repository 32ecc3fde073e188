"""``manage.py procession_migrate``: the tables in a database of Procession's own (PROCESSION["URL"])."""

from __future__ import annotations

import asyncio
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from procession.contrib.django.application import app


class Command(BaseCommand):
    """For databases that ``manage.py migrate`` does not know."""

    help = (
        "Brings Procession's tables to this program's version. `migrate` does that too, unless PROCESSION['URL'] names "
        "a database of its own."
    )
    requires_migrations_checks = False

    def add_arguments(self, parser: CommandParser) -> None:
        """The options."""
        parser.add_argument("--check", action="store_true", help="Only say what is missing; fails if something is.")

    def handle(self, *args: Any, **options: Any) -> None:  # noqa: ANN401, ARG002 - the signature is Django's
        """Migrate, or look. Raises CommandError."""
        if options["check"]:
            found, known = asyncio.run(app.schema_version())
            if found != known:
                message = f"The database has version {found} of Procession's tables, this program needs version {known}"
                raise CommandError(message)
            self.stdout.write(f"Version {found}: nothing to do")
            return
        applied = asyncio.run(app.migrate())
        self.stdout.write("\n".join(applied) if applied else "Nothing to do")
