"""A store that fails as a seed decides: before it does what it is asked, or after, so that nobody knows."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

from procession.errors import Unavailable
from procession.store.port import Store

CALLS = (
    "commit", "claim", "finish", "promote", "load", "publish", "broadcast", "enqueue", "expire_messages", "take_keys",
    "definitions", "find_definition", "find",
)  # fmt: skip


class Faulty:
    """Stands before a store. While ``shaking`` a ``share`` of its calls fail, half of them after they took effect."""

    def __init__(self, store: Store, seed: int, share: float = 0.3) -> None:
        self.store = store
        self.shaking = False
        self.failed: Counter[str] = Counter()
        self._chance = random.Random(seed)
        self._share = share
        for name in CALLS:
            setattr(self, name, self._shaken(name))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.store, name)

    def _shaken(self, name: str) -> Any:
        call = getattr(self.store, name)

        async def shaken(*args: Any, **options: Any) -> Any:
            dice = self._chance.random() if self.shaking else 1.0
            if dice < self._share / 2:
                self.failed[f"{name} before"] += 1
                raise Unavailable(f"{name}: the connection was refused")
            answer = await call(*args, **options)
            if dice < self._share:
                self.failed[f"{name} after"] += 1
                raise Unavailable(f"{name}: the connection was lost before the answer came")
            return answer

        return shaken
