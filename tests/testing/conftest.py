"""An application with handlers, as its users have it at the top of a module."""

from __future__ import annotations

import pytest

from procession import Procession
from procession.testing.bpmn import process

ORDER = (
    process("order")
    .start()
    .service("charge", type="charge-card", retries=2)
    .user("pack")
    .end("shipped")
    .boundary("too-late", on="pack", timer="P14D")
    .end("expired")
)


class Shop:
    """The application, and what its handlers did."""

    def __init__(self, url: str) -> None:
        self.app = Procession(url)
        self.done: list[object] = []
        self.fails = 0

        @self.app.job("charge-card", backoff="1m")
        async def charge_card(amount: int) -> dict:
            if self.fails > 0:
                self.fails -= 1
                raise ValueError("the bank is closed")
            self.done.append(amount)
            return {"paid": True}


@pytest.fixture
def shop(tmp_path) -> Shop:
    return Shop(f"sqlite:///{tmp_path / 'production.db'}")
