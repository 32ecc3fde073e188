"""`manage.py deploy`: bring Procession's tables up to date and deploy the diagrams. Run it where you run `migrate`."""

from __future__ import annotations

import asyncio

from django.core.management.base import BaseCommand

from shop.processes import DIAGRAM, app


class Command(BaseCommand):
    """Deploy the shop's processes; the same bytes twice make no new version."""

    help = "Migrate Procession's tables and deploy the shop's processes."

    def handle(self, **_: object) -> None:
        """Deploy."""
        for definition in asyncio.run(self._deploy()):
            self.stdout.write(f"{definition.process_definition_id} version {definition.version}")

    async def _deploy(self) -> list:
        await app.migrate()
        await app.open(run_workers=False)
        try:
            return await app.deploy(DIAGRAM)
        finally:
            await app.close()
