"""``manage.py procession_work``: run handlers, timers and follow-ups until told to stop."""

from __future__ import annotations

import asyncio
from typing import Any

from django.core.management.base import BaseCommand

from procession.contrib.django.application import app


class Command(BaseCommand):
    """The worker of a Django project."""

    help = "Runs Procession's handlers, timers and follow-ups; SIGTERM or Ctrl-C stops it gracefully."
    requires_migrations_checks = False

    def handle(self, *args: Any, **options: Any) -> None:  # noqa: ANN401, ARG002 - the signature is Django's
        """Work."""
        app.settle()
        jobs = ", ".join(sorted(app.handlers.jobs)) or "none"
        methods = ", ".join(sorted(app.handlers.methods)) or "none"
        self.stdout.write(f"Working on {app.url}\njobs: {jobs}\nmethods: {methods}")
        self.stdout.flush()
        asyncio.run(app.run())
