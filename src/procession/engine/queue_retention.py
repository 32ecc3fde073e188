"""How long queues keep what has succeeded in them: set for a queue, seen by every process within seconds.

A job of such a queue is archived when it succeeds, whatever its own options say; one that is to be kept longer by them
is. A queue that says nothing costs nothing: its plain jobs are deleted by the short statement, as ever.
"""

from __future__ import annotations

from typing import Final

import msgspec

from procession.limits import PAGE_MAX
from procession.store.port import Store
from procession.store.rows.keeping import Kept

KIND: Final = "queue-retention"  # of what is kept; the name is the queue's


class Rule(msgspec.Struct):
    """Of one queue."""

    keep_ms: int


_decode: Final = msgspec.json.Decoder(Rule).decode


async def kept_by_queue(store: Store) -> dict[str, int]:
    """Milliseconds by queue; queues that keep nothing are not there."""
    rows = await store.kept(KIND, limit=PAGE_MAX)
    return {row.name: _decode(row.body).keep_ms for row in rows}


async def keep_by_queue(store: Store, queue: str, keep_ms: int, new_key: int) -> None:
    """From now on a queue keeps what succeeds in it so long; 0: no longer than its jobs say."""
    known = [row.key for row in await store.kept(KIND, name=queue, limit=PAGE_MAX)]
    if not keep_ms:
        await store.forget_kept(KIND, keys=known)
        return
    key = known[-1] if known else new_key
    await store.keep([Kept(kind=KIND, key=key, name=queue, body=msgspec.json.encode(Rule(keep_ms)))])
