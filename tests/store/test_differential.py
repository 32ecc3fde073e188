"""SQLite answers like the memory store, whatever is asked in whatever order."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import HealthCheck, settings

from procession.store.port import Store
from procession.store.sqlite import SqliteStore
from tests.store.machine import Jobs, Mail, Steps, TwoStores

SETTINGS = settings(max_examples=40, stateful_step_count=30, suppress_health_check=[HealthCheck.too_slow])


class MemoryAndSqlite(TwoStores):
    """Each example on a file of its own."""

    def open_other(self) -> Store:
        self.folder = tempfile.TemporaryDirectory()
        store = SqliteStore(Path(self.folder.name) / "procession.db", clock=self.clock)
        self.runner.run(store.migrate())
        self.runner.run(store.open())
        return store

    def teardown(self) -> None:
        super().teardown()
        self.folder.cleanup()


class QueueOnSqlite(Jobs, MemoryAndSqlite):
    """Plain jobs only: deeper than everything at once gets."""


class MailOnSqlite(Steps, Mail, MemoryAndSqlite):
    """Instances that wait for messages and signals."""


class EverythingOnSqlite(Jobs, Steps, Mail, MemoryAndSqlite):
    """Everything at once."""


TestQueue = QueueOnSqlite.TestCase
TestMail = MailOnSqlite.TestCase
TestEverything = EverythingOnSqlite.TestCase
TestQueue.settings = TestMail.settings = TestEverything.settings = SETTINGS
