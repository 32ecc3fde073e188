"""The people and the warehouse: they see what was asked of them and answer, each at their own pace."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from decimal import Decimal

from shop import DECLINED_CARD, FLAKY_CARD, GOOD_CARD, Shop

from procession import Procession

LOOK_S = 0.1


@dataclass
class Plan:
    """An order, and what the world will make of it."""

    order_id: str
    about: str
    price: int
    card: str = GOOD_CARD
    slow_warehouse: bool = False  # answers only after it was reminded
    slow_managers: bool = False
    decision: bool = True

    def variables(self, patience: str | None = None) -> dict[str, object]:
        """What the process is started with."""
        items = [{"name": "shipping", "quantity": 1, "price": Decimal("4.90")}]
        items.append({"name": "goods", "quantity": 2, "price": Decimal(self.price) / 2})
        given = {"patience": patience} if patience else {}
        return {"orderId": self.order_id, "card": self.card, "items": items, **given}


SEVEN = [
    Plan("A-1", "a small one", 38),
    Plan("A-2", "big: a manager approves it", 1480),
    Plan("A-3", "its card is declined", 95, card=DECLINED_CARD),
    Plan("A-4", "the bank does not answer at first", 120, card=FLAKY_CARD),
    Plan("A-5", "the warehouse is slow", 210, slow_warehouse=True),
    Plan("A-6", "big: a manager rejects it", 9900, decision=False),
    Plan("A-7", "all of it", 2600, card=FLAKY_CARD, slow_warehouse=True, slow_managers=True),
]


def many(count: int) -> list[Plan]:
    """Orders of every kind, in turn; nobody is slow."""
    kinds = [
        Plan("", "small", 40),
        Plan("", "approved", 1500),
        Plan("", "declined", 80, card=DECLINED_CARD),
        Plan("", "small", 60),
        Plan("", "flaky", 70, card=FLAKY_CARD),
        Plan("", "rejected", 5000, decision=False),
    ]
    return [replace(kinds[n % len(kinds)], order_id=f"B-{n + 1}") for n in range(count)]


@dataclass
class World:
    """Answers for the orders of ``plans`` (instance key to plan) until cancelled."""

    app: Procession
    shop: Shop
    plans: dict[int, Plan] = field(default_factory=dict)
    answered: set[str] = field(default_factory=set)

    async def live(self) -> None:
        """Look around and answer, again and again."""
        while True:
            asked = {(call.order_id, call.what) for call in self.shop.calls() if call.answer == "done"}
            await self._confirm_stock(asked)
            await self._decide(asked)
            await asyncio.sleep(LOOK_S)

    async def _confirm_stock(self, asked: set[tuple[str, str]]) -> None:
        """The warehouse answers with a message; the order's id is the correlation key."""
        for plan in self.plans.values():
            reason = "remind warehouse" if plan.slow_warehouse else "ask"
            if plan.order_id not in self.answered and (plan.order_id, reason) in asked:
                self.answered.add(plan.order_id)
                await self.app.publish("stock-confirmed", correlation_key=plan.order_id, ttl="1h")

    async def _decide(self, asked: set[tuple[str, str]]) -> None:
        """The managers look at their list of tasks."""
        for task in await self.app.user_tasks(candidate_group="managers", limit=1000):
            plan = self.plans.get(task.process_instance_key)
            if plan is None or (plan.slow_managers and (plan.order_id, "remind managers") not in asked):
                continue
            await self.app.complete_user_task(task.user_task_key, {"approved": plan.decision})
