"""What a process says of itself to others: its counters, when they changed; nothing once it is gone."""

from __future__ import annotations

from pathlib import Path

from procession import Procession
from procession.api.pulse import Pulse
from procession.engine.vitals import KIND, vitals_of
from procession.store.rows.keeping import Kept
from procession.testing.bpmn import process

ORDER = process("order").start("begin").user("check").end("done").xml()


async def test_counters_are_said_when_they_changed_and_forgotten_at_the_end(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'shared.db'}"
    here, there = Procession(url), Procession(url, name="there")
    await here.open()
    await there.open()
    pulse = Pulse(here)
    await pulse.sample()
    await there.deploy(("order.bpmn", ORDER))
    for _ in range(3):
        await there.start("order")
    says = there._engine.vitals
    await says._round()
    (row,) = [row for row in await here.rows.kept(KIND) if row.key == says.key]
    assert vitals_of([row])[row.key].started == 3
    await pulse.sample()
    assert pulse.samples[-1].counts["started"] == 3
    assert [vital.name for vital in pulse.vitals()][1:] == ["there"]
    before = await here.rows.kept(KIND)
    await says._round()
    assert await here.rows.kept(KIND) == before, "nothing changed, so nothing is written"
    await there.close()
    assert not [row for row in await here.rows.kept(KIND) if row.name == "there"]
    await here.close()


async def test_a_store_of_one_process_is_told_nothing() -> None:
    app = await Procession("memory://").open()
    await app.deploy(("order.bpmn", ORDER))
    await app.start("order")
    assert await app.rows.kept(KIND) == []
    assert app.vital().started == 1
    await app.close()


def test_a_row_that_cannot_be_read_is_left_out() -> None:
    assert vitals_of([Kept(kind=KIND, key=1, body=b"nonsense")]) == {}
