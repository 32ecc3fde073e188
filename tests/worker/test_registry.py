"""Handlers are checked when they are registered."""

from __future__ import annotations

import pytest

from procession.errors import Misconfigured
from procession.jobs.retry import Constant, Delays, Exponential
from procession.worker import Registry
from procession.worker.registry import Mode


def test_a_decorator_gives_the_function_back_and_takes_its_name():
    registry = Registry()

    @registry.job
    async def pay(): ...

    @registry.method()
    def price(): ...

    @registry.job("ship-it", process=True)
    def ship(): ...

    assert callable(pay)
    assert registry.jobs["pay"].mode is Mode.LOOP
    assert registry.methods["price"].mode is Mode.THREAD
    assert registry.jobs["ship-it"].mode is Mode.PROCESS


def test_a_name_belongs_to_one_function():
    registry = Registry()
    registry.job("pay")(lambda: None)
    with pytest.raises(Misconfigured, match="'pay'"):
        registry.job("pay")(lambda: 1)


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"retries": 0}, "at least 1 attempt"),
        ({"retries": 10**9}, "at most 32767"),
        ({"retries": True}, "found retries=True"),
        ({"retries": 2.5}, "found retries=2.5"),
        ({"concurrency": 0}, "concurrency of at least 1"),
        ({"concurrency": "3"}, "found '3'"),
        ({"concurrency": 10**9}, "at most 10000"),
        ({"timeout": float("nan")}, "timeout"),
        ({"timeout": 0}, "timeout of"),
        ({"timeout": "soon"}, "timeout"),
        ({"backoff": object()}, "backoff"),
        ({"queue": "$job:x"}, "engine's own"),
        ({"queue": "q" * 300}, "200 bytes"),
        ({"queue": "\ud800"}, "to be a text"),
        ({"queue": "a\0b"}, "to be a text"),
        ({"queue": None}, "to be a text"),
        ({"process": True}, "coroutine function"),
    ],
)
def test_options_that_cannot_work_are_refused(options, why):
    async def handler(): ...

    with pytest.raises(Misconfigured, match=why):
        Registry().job("pay", **options)(handler)


def test_backoff_is_told_in_many_ways():
    registry = Registry()
    registry.job("a", backoff="exponential")(lambda: None)
    registry.job("b", backoff="5s")(lambda: None)
    registry.job("c", backoff=[1, "1m"])(lambda: None)
    registry.job("d", backoff=lambda attempt: attempt * 2)(lambda: None)
    assert isinstance(registry.jobs["a"].backoff, Exponential)
    assert registry.jobs["b"].backoff == Constant(5_000)
    assert registry.jobs["c"].backoff == Delays((1_000, 60_000))
    assert registry.jobs["d"].backoff.delay_ms(3, 0.5) == 6_000
