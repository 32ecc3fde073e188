"""What a process says of itself to others: its counters, when they changed; nothing once it is gone."""

from __future__ import annotations

from pathlib import Path

from procession import Procession
from procession.api.pulse import Pulse
from procession.engine.vitals import KIND, LAST_WORD_MS, vitals_of
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


async def test_what_a_short_life_has_done_is_counted_once_and_its_last_word_forgotten(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'short.db'}"
    here = await Procession(url).open()
    pulse = Pulse(here)
    await pulse.sample()
    there = await Procession(url, name="short").open()
    await there.deploy(("order.bpmn", ORDER))
    await there.start("order")
    await there.close()
    await pulse.sample()
    await pulse.sample()
    assert sum(sample.counts["started"] for sample in pulse.samples) == 1
    assert [vital.name for vital in pulse.vitals()][1:] == [], "it works no more"
    (key,) = pulse.others
    pulse.others[key].at -= LAST_WORD_MS + 1_000
    await pulse._tidy(0.0)
    assert not [row for row in await here.rows.kept(KIND) if row.name == "short"]
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
