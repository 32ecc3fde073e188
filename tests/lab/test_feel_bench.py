"""The benchmark of FEEL: what is timed is right, figures agree, bars are judged by them, others stand beside."""

from __future__ import annotations

import msgspec
import pytest
from typer.testing import CliRunner

from procession.lab import feel_peers
from procession.lab.commands import bench
from procession.lab.feel_bench import EXPRESSIONS, FeelOptions, bench_feel
from procession.lab.feel_report import feel_page, peers_table, write_feel_page
from procession.lab.results import FeelResult, PeerFigure, write_json
from tests.lab.page_reader import read_page


@pytest.fixture(scope="module")
def result() -> FeelResult:
    return bench_feel(FeelOptions(rounds=2, seconds=0.001))


def test_expressions_are_evaluated_and_compiled_and_tables_have_the_promised_size(result):
    groups = {
        group: [case for case in result.cases if case.group == group] for group in ("evaluate", "compile", "table")
    }
    assert len(groups["evaluate"]) == len(groups["compile"]) == 7
    assert [case.name for case in groups["table"]] == [
        "a table of 20 rules and 4 inputs, 1 of which match",
        "a table of 20 rules and 4 inputs, 7 of which match",
    ]
    for case in result.cases:
        assert 0 < case.best_us <= case.median_us <= case.worst_us
        assert case.per_s == pytest.approx(1e6 / case.best_us, rel=0.01)


def test_the_bars_are_judged_by_the_figures(result):
    condition = next(case for case in result.cases if case.name == "condition")
    first, compiling, table = result.bars
    assert first.found == round(condition.best_us, 2)
    assert first.reached == (condition.best_us <= 3)
    assert compiling.found == round(max(case.best_us for case in result.cases if case.group == "compile"), 2)
    assert table.expected == "at most 60 µs"


def test_the_result_is_read_as_it_was_written(result, tmp_path):
    file = tmp_path / "feel.json"
    write_json(result, file)
    assert msgspec.json.decode(file.read_bytes(), type=FeelResult) == result


def test_other_engines_stand_beside_ours_and_what_they_cannot_is_said(result, tmp_path):
    figures = [
        PeerFigure(engine="other", version="1", expression="condition", way="text", us=100.0),
        PeerFigure(engine="other", version="1", expression="function", way="text", note="refuses it"),
    ]
    compared = msgspec.structs.replace(result, peers=figures, notes=["third: is not there"])
    columns, rows = peers_table(compared)
    assert columns[-1] == "other 1, text, µs"
    assert [row[-1] for row in rows] == ["100", "cannot"]
    file = tmp_path / "feel.html"
    write_feel_page(compared, file)
    assert "third: is not there" in feel_page(compared)
    read_page(file)


def test_an_engine_that_cannot_be_installed_is_a_note(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(feel_peers, "PYTHON_ENGINES", (str(tmp_path / "not-there"),))
    asked = [{"name": name, "text": text, "expected": value} for name, text, value in EXPRESSIONS]
    figures, notes = feel_peers.time_peers(asked, {"orderTotal": 1}, folder=tmp_path / "peers", seconds=0.001)
    assert figures == []
    assert len(notes) == 2
    assert notes[1].startswith("feelin: node and npm are not there")


def test_the_command_writes_a_file_and_a_page(tmp_path):
    answer = CliRunner().invoke(
        bench, ["feel", "--rounds", "1", "--seconds", "0.001", "--out", str(tmp_path), "--json"]
    )
    assert answer.exit_code == 0
    assert msgspec.json.decode(answer.stdout.encode(), type=FeelResult).bars
    assert sorted(file.suffix for file in tmp_path.iterdir()) == [".html", ".json"]
