"""A stage for operators' stories: one application on one database, its handlers, and a clock turned by hand."""

from __future__ import annotations

from procession import Procession
from procession.engine import Settings
from procession.testing.bpmn import ProcessBuilder, resource

START = 1_767_225_600_000  # 2026-01-01T00:00:00Z
MINUTE, DAY = 60_000, 86_400_000


class Stage:
    """One application, a clock."""

    def __init__(self, url: str, settings: Settings | None = None) -> None:
        self.now = START
        self.url = url
        self.app = Procession(url, history="full", settings=settings, clock=self.clock)

    def clock(self) -> int:
        return self.now

    async def open(self) -> None:
        await self.app.open(run_workers=False, migrate=True)

    async def deploy(self, *processes: ProcessBuilder) -> int:
        """The key of the first process' version."""
        if not self.is_open:
            await self.open()
        return (await self.app.deploy(("test.bpmn", resource(*processes))))[0].process_definition_key

    @property
    def is_open(self) -> bool:
        return self.app._opened is not None

    async def start(self, process_id: str, variables: dict[str, object] | None = None) -> int:
        key = await self.app.start(process_id, variables)
        await self.app.run_until_idle()
        return key

    async def pass_time(self, ms: int) -> None:
        self.now += ms
        await self.app.run_until_idle()

    async def state(self, key: int) -> str:
        return (await self.app.instance(key)).instance.state

    async def active(self, key: int) -> list[str]:
        return sorted(it.element_id for it in (await self.app.instance(key)).elements)
