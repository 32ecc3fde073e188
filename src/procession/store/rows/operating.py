"""What operators' calls carry in and give back: batches of operations and what became of their items."""

from __future__ import annotations

from enum import IntEnum

from procession.store.rows.row import Row
from procession.store.rows.steps import NewJob


class BatchState(IntEnum):
    """Where a batch is in its life."""

    ACTIVE = 0
    COMPLETED = 1
    CANCELED = 2
    SUSPENDED = 3  # no item begins until it is resumed


class NewBatch(Row, kw_only=True):
    """A batch to begin: ``request`` is for the engine alone."""

    key: int
    kind: str  # cancel | resolve | modify | migrate | delete | …
    request: bytes  # JSON
    total: int  # items that its filter meant when it was made
    tenant: str = ""
    retry_of: int = 0  # the batch whose failed items it does again


class BatchAdvance(Row, kw_only=True):
    """The next items of a batch, if it still stands at ``cursor``: each is a job, an instance to delete, or done."""

    key: int
    cursor: int  # where it stands
    to: int  # where it stands afterwards
    jobs: list[NewJob] = []
    deletes: list[int] = []
    done: list[int] = []  # items that somebody has done already
    errors: dict[int, str] = {}  # why some of them were not
    open: list[int] = []  # jobs of earlier items that are not known to have ended
    ended: bool = False  # there are no more items

    @property
    def count(self) -> int:
        """How many items these are."""
        return len(self.jobs) + len(self.deletes) + len(self.done)


class StoredBatch(Row, kw_only=True):
    """A batch as it stands. Of the ``emitted`` items some are ``open``, some ``failed``; the others are done."""

    key: int
    kind: str
    request: bytes
    state: int
    total: int
    emitted: int
    failed: int
    cursor: int
    open: list[int]  # jobs of its items that are still there
    created_at: int
    ended_at: int
    tenant: str = ""
    retry_of: int = 0


class StoredBatchError(Row, kw_only=True):
    """Why an item of a batch was not done."""

    batch: int
    item: int
    message: str
