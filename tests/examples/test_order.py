"""The order process takes the ways that its diagram shows, and its demonstration tells the truth about its books."""

from __future__ import annotations

import asyncio
import importlib.util
import subprocess
import sys
from collections.abc import AsyncIterator
from types import ModuleType

import pytest
import pytest_asyncio

from procession import BpmnError, Procession
from tests.support.sources import ROOT

FOLDER = ROOT / "examples" / "order"
START = 1_767_225_600_000  # 2026-01-01T00:00:00Z
HOUR = 3_600_000


class Story:
    """The process on a store in memory, with handlers that note what they are asked for, and a clock turned by hand."""

    def __init__(self) -> None:
        self.now = START
        self.asked: list[str] = []
        self.app = Procession("memory://", clock=lambda: self.now)

        @self.app.method("price-order")
        def price_order(price: int) -> dict:
            return {"total": price}

        @self.app.job("charge-card")
        async def charge_card(card: str) -> None:
            self.asked.append("charge-card")
            if card == "declined":
                raise BpmnError("payment-declined", "no")

        for name in (
            "refund-card",
            "ask-warehouse",
            "ship-order",
            "notify-customer",
            "remind-warehouse",
            "remind-managers",
        ):
            self._note(name)

    def _note(self, name: str) -> None:
        @self.app.job(name)
        async def note() -> None:
            self.asked.append(name)

    async def order(self, price: int, card: str = "good") -> int:
        key = await self.app.start("order", {"orderId": "A-17", "price": price, "card": card})
        await self.app.run_until_idle()
        return key

    async def hours_pass(self, hours: int) -> None:
        self.now += hours * HOUR
        await self.app.run_until_idle()

    async def confirm_stock(self) -> None:
        await self.app.publish("stock-confirmed", correlation_key="A-17")
        await self.app.run_until_idle()

    async def decide(self, *, approved: bool) -> None:
        (task,) = await self.app.user_tasks(candidate_group="managers")
        await self.app.complete_user_task(task.user_task_key, {"approved": approved})
        await self.app.run_until_idle()

    async def end(self, key: int) -> str:
        """The end event at which the order ended."""
        assert (await self.app.instance(key)).instance.state == "COMPLETED"
        passed = [event.element_id for event in await self.app.history(key) if event.event == "passed"]
        (end,) = {"shipped", "declined", "rejected"} & set(passed)
        return end


@pytest_asyncio.fixture
async def story() -> AsyncIterator[Story]:
    made = Story()
    await made.app.open(run_workers=False)
    await made.app.deploy(FOLDER / "order.bpmn")
    yield made
    await made.app.close()


async def test_a_small_order_is_charged_confirmed_and_shipped(story: Story):
    key = await story.order(price=100)
    await story.confirm_stock()
    assert await story.end(key) == "shipped"
    assert story.asked == ["charge-card", "ask-warehouse", "ship-order"]


async def test_a_declined_card_ends_with_a_letter_to_the_customer(story: Story):
    key = await story.order(price=100, card="declined")
    assert await story.end(key) == "declined"
    assert story.asked == ["charge-card", "notify-customer"]


async def test_the_warehouse_is_reminded_after_a_day_and_once_only(story: Story):
    key = await story.order(price=100)
    await story.hours_pass(23)
    assert "remind-warehouse" not in story.asked
    await story.hours_pass(1)
    await story.hours_pass(48)
    assert story.asked.count("remind-warehouse") == 1
    await story.confirm_stock()
    assert await story.end(key) == "shipped"


async def test_an_order_over_1000_waits_for_a_manager_who_is_reminded_after_four_hours(story: Story):
    key = await story.order(price=1001)
    await story.confirm_stock()
    assert [element.element_id for element in (await story.app.instance(key)).elements] == ["approval", "approve-order"]
    await story.hours_pass(4)
    assert story.asked[-1] == "remind-managers"
    await story.decide(approved=True)
    assert await story.end(key) == "shipped"


async def test_the_history_names_an_element_only_where_an_event_is_about_one(story: Story):
    key = await story.order(price=100)
    await story.hours_pass(24)
    await story.confirm_stock()
    history = await story.app.history(key)
    assert {event.element_id for event in history if event.event in {"flow", "variables", "started", "ended"}} == {""}
    assert all(event.element_id for event in history if event.event in {"passed", "activated", "completed", "job"})


async def test_a_rejected_order_is_refunded(story: Story):
    key = await story.order(price=5000)
    await story.confirm_stock()
    await story.decide(approved=False)
    assert await story.end(key) == "rejected"
    assert story.asked == ["charge-card", "ask-warehouse", "refund-card"]


async def test_a_message_that_comes_before_it_is_waited_for_is_kept(story: Story):
    await story.app.publish("stock-confirmed", correlation_key="A-17", ttl="1h")
    key = await story.order(price=100)
    assert await story.end(key) == "shipped"


@pytest.mark.kill
async def test_the_demonstration_kills_a_worker_and_its_books_balance(tmp_path):
    """It runs as `make demo` does, with fewer orders."""
    command = [sys.executable, str(FOLDER / "demo.py"), "--directory", str(tmp_path), "--orders", "40"]
    process = await asyncio.create_subprocess_exec(*command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    output, _ = await asyncio.wait_for(process.communicate(), 100)
    text = output.decode()
    assert process.returncode == 0, text
    assert "is killed (SIGKILL)" in text
    assert "✓ The books balance" in text
    assert (tmp_path / "orders.db").exists()


@pytest.fixture(scope="module")
def books() -> ModuleType:
    spec = importlib.util.spec_from_file_location("order_books", FOLDER / "books.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


SHIPPED = {("A", "charge"), ("A", "ask"), ("A", "ship")}


def test_books_that_balance_have_no_problems(books):
    assert books.problems([books.Ended("A", "COMPLETED", 1, ["shipped"])], SHIPPED | {("A", "remind warehouse")}) == []


@pytest.mark.parametrize(
    ("state", "times", "ends", "effects", "problem"),
    [
        ("ACTIVE", 0, [], SHIPPED, "expected one end, found ACTIVE"),
        ("COMPLETED", 2, ["shipped"], SHIPPED, "ended 2 times"),
        ("COMPLETED", 1, ["shipped", "rejected"], SHIPPED, "at shipped, rejected"),
        ("COMPLETED", 1, ["shipped"], SHIPPED - {("A", "ship")}, "'ship' was never done"),
        ("COMPLETED", 1, ["declined"], SHIPPED | {("A", "notify")}, "'charge' was done"),
        ("COMPLETED", 1, ["shipped"], SHIPPED | {("B", "charge")}, "nobody placed"),
    ],
    ids=["not ended", "ended twice", "two ends", "not shipped", "charged though declined", "unknown order"],
)
def test_books_that_do_not_balance_say_why(books, state, times, ends, effects, problem):
    assert problem in "\n".join(books.problems([books.Ended("A", state, times, ends)], effects))


def test_the_demonstration_explains_itself():
    command = [sys.executable, str(FOLDER / "demo.py"), "--help"]
    run = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert "--orders" in run.stdout
