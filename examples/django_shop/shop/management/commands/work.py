"""`manage.py work`: a worker. As many as you like may run beside the web server, on any machine."""

from __future__ import annotations

import asyncio

from django.core.management.base import BaseCommand

from shop.processes import app


class Command(BaseCommand):
    """Run the jobs of the shop until SIGTERM or Ctrl-C."""

    help = "Run the jobs of the shop's processes."

    def handle(self, **_: object) -> None:
        """Work."""
        asyncio.run(app.run())
