"""Wide and deep models: what grows with the square of their size would stop everybody else in the process."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from procession import Procession
from procession.core import decode_state
from procession.engine import lending
from procession.testing.bpmn import multi_instance, process

WIDTH = 1_500


async def test_the_jobs_of_a_wide_multi_instance_do_not_each_decode_its_state(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    decoded, ran = Counter[int](), Counter[int]()

    def counted(raw: bytes, variables: dict) -> object:
        decoded[len(raw)] += 1
        return decode_state(raw, variables)

    monkeypatch.setattr(lending, "decode_state", counted)
    app = Procession(f"sqlite:///{tmp_path / 'shop.db'}")

    @app.job("pack")
    async def pack(item: int) -> None:
        ran[item] += 1

    wide = multi_instance("=for n in 1..width return n", element="item")
    async with app:  # claims while steps are under way: then the state in memory cannot be lent
        await app.deploy(("wide.bpmn", process("wide").start().service("pack", type="pack", loop=wide).end().xml()))
        key = await app.start("wide", {"width": WIDTH})
        assert (await app.wait(key, timeout=60)).state == "COMPLETED"
    assert ran == Counter(range(1, WIDTH + 1))
    assert decoded.total() < 100


async def test_two_hundred_branches_come_together(make: Callable[..., Procession]) -> None:
    app = make()
    ran: list[str] = []

    @app.job("pack")
    async def pack() -> None:
        ran.append("")

    model = process("forks").start().parallel("fork").service("s0", type="pack").parallel("join").end()
    for number in range(1, 200):
        model = model.at("fork").service(f"s{number}", type="pack").to("join")
    await app.open(run_workers=False, migrate=True)
    await app.deploy(("fork.bpmn", model.xml()))
    key = await app.start("forks")
    await app.run_until_idle()
    assert (await app.wait(key, timeout=60)).state == "COMPLETED"
    assert len(ran) == 200
