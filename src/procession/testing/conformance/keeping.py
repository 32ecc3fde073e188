"""What an edge keeps beside the engine's rows."""
# ruff: noqa: D102 - a test is named as a sentence

from __future__ import annotations

from procession.store.port import Store
from procession.store.rows.keeping import Kept
from procession.testing.conformance.stage import ManualClock


class TestKeeping:
    """Rows by kind and key."""

    async def test_what_is_kept_is_given_back_as_it_was(self, store: Store, clock: ManualClock) -> None:
        body = bytes(range(256))
        await store.keep([Kept(kind="document", key=7, name="ünï.pdf", tenant="acme", body=body)])
        (row,) = await store.kept("document")
        assert (row.kind, row.key, row.name, row.tenant, row.body) == ("document", 7, "ünï.pdf", "acme", body)
        assert row.created_at == clock()

    async def test_keeping_again_replaces_and_leaves_the_instant(self, store: Store, clock: ManualClock) -> None:
        await store.keep(
            [Kept(kind="token", key=1, name="a", body=b"1"), Kept(kind="token", key=1, name="b", body=b"2")]
        )
        clock.advance(5)
        (row,) = await store.kept("token")
        assert (row.name, row.body) == ("b", b"2")
        await store.keep([])

    async def test_a_page_goes_either_way(self, store: Store) -> None:
        await store.keep([Kept(kind="audit", key=key, name=f"n{key % 2}") for key in (5, 1, 9, 3)])
        await store.keep([Kept(kind="other", key=2)])
        assert [row.key for row in await store.kept("audit", limit=3)] == [1, 3, 5]
        assert [row.key for row in await store.kept("audit", after=5)] == [9]
        assert [row.key for row in await store.kept("audit", newest=True, limit=2)] == [9, 5]
        assert [row.key for row in await store.kept("audit", newest=True, after=5)] == [3, 1]
        assert [row.key for row in await store.kept("audit", name="n1", after=2)] == [3, 5, 9]
        assert [row.key for row in await store.kept("audit", key=3)] == [3]

    async def test_what_is_forgotten_is_gone(self, store: Store) -> None:
        await store.keep([Kept(kind="audit", key=key) for key in range(1, 7)])
        await store.keep([Kept(kind="token", key=1)])
        assert await store.forget_kept("audit", keys=[6, 99]) == 1
        assert await store.forget_kept("audit", before=4) == 3
        assert [row.key for row in await store.kept("audit")] == [4, 5]
        assert await store.forget_kept("audit") == 0
        assert len(await store.kept("token")) == 1
