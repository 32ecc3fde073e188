"""Changing many jobs at once, as the items of a batch: which are next, and their change (``batches`` says when)."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from procession.store.port import Store
from procession.store.rows import JobAdjustment

NOT_CHANGED = (
    "Expected a job that is there, that does not age (priority), and that a remote worker holds (timeout): it is over, "
    "or it cannot be changed in this way"
)


class JobUpdate(msgspec.Struct, omit_defaults=True):
    """These jobs, and what becomes of them: as in a JobAdjustment. The keys ascend."""

    jobs: list[int]
    lease_ms: int = -1
    retries: int = -1
    priority: int | None = None

    def after(self, cursor: int, size: int) -> list[int]:
        """The next of them."""
        return [key for key in self.jobs if key > cursor][:size]


async def update_jobs(store: Store, update: JobUpdate, jobs: Sequence[int]) -> dict[int, str]:
    """Change some of them; why some were not changed. Twice is once."""
    changes = [
        JobAdjustment(key=key, lease_ms=update.lease_ms, retries=update.retries, priority=update.priority)
        for key in jobs
    ]
    changed = await store.adjust_jobs(changes) if changes else []
    return {key: NOT_CHANGED for key, is_changed in zip(jobs, changed, strict=True) if not is_changed}
