"""What an edge keeps beside the engine's own rows: tokens, an audit log, small documents. Their insides are its own."""

from __future__ import annotations

from procession.store.rows.row import Row


class Kept(Row, kw_only=True):
    """One thing that is kept, known by its kind and key."""

    kind: str
    key: int
    name: str = ""  # something to find it by
    body: bytes = b""
    tenant: str = ""
    created_at: int = 0  # the store's own: what is given does not count
