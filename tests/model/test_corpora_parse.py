"""The deploy verdicts over the collections of other people's models: located or accepted, never an internal error."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.corpora.parse import JUDGES, is_refused, models
from tests.corpora.runner import Case, Failed, Judge, OutOfTime, run

pytestmark = pytest.mark.corpora
DEPLOY = [judge for judge in JUDGES if judge.name != "betsy:constraints"]
# The rest of the constraints is about data, messages' operations and notation, which decide nothing at run time.
CONSTRAINTS_REFUSED_MIN = 0.7


@pytest.mark.parametrize("judge", DEPLOY, ids=lambda judge: judge.name)
def test_every_file_is_accepted_or_refused_with_its_place(judge: Judge, corpora: Path):
    folder = corpora / judge.folder
    if not folder.is_dir():
        pytest.skip(f"no {judge.folder} in {corpora}")
    score = run(judge, folder)
    assert score.total > 0
    assert score.failures == []


def test_most_violations_of_the_standard_are_noticed(corpora: Path):
    folder = corpora / "betsy" / "bpmn_constraints"
    if not folder.is_dir():
        pytest.skip(f"no betsy/bpmn_constraints in {corpora}")
    (judge,) = (judge for judge in JUDGES if judge.name == "betsy:constraints")
    score = run(judge, folder)
    assert score.crashed == 0
    assert score.passed >= CONSTRAINTS_REFUSED_MIN * score.total


# -- the frame itself -------------------------------------------------------------------------------------------------


def failing(problem: Exception):
    """A check that raises this."""

    def check() -> None:
        raise problem

    return check


def test_the_frame_counts_what_passes_and_keeps_what_fails(tmp_path: Path):
    cases = [
        Case("good", lambda: None),
        Case("bad", failing(Failed("so"))),
        Case("broken", failing(ZeroDivisionError())),
    ]
    score = run(Judge("j", "f", lambda folder: cases), tmp_path)
    assert (score.passed, score.total, score.crashed) == (1, 3, 1)
    assert [verdict.case for verdict in score.failures] == ["bad", "broken"]
    assert "internal error: ZeroDivisionError" in score.failures[1].detail


def test_the_frame_ends_a_case_that_takes_too_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("tests.corpora.runner.CASE_SECONDS", 0.05)

    def endless() -> None:
        while True:
            pass

    score = run(Judge("j", "f", lambda folder: [Case("slow", endless)]), tmp_path)
    assert score.failures[0].detail == str(OutOfTime("took more than 0.05 s"))


def test_only_bpmn_files_are_judged(tmp_path: Path):
    (tmp_path / "a.bpmn").write_text("x")
    (tmp_path / "b.xml").write_text("<web-app/>")
    (tmp_path / "c.xml").write_text('<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL"/>')
    assert [path.name for path in models(tmp_path)] == ["a.bpmn", "c.xml"]


def test_a_violation_that_nobody_remarks_on_fails(tmp_path: Path):
    fine = tmp_path / "fine.bpmn"
    fine.write_text(
        '<definitions><process id="p" isExecutable="true"><startEvent id="s"/>'
        '<sequenceFlow id="f" sourceRef="s" targetRef="e"/><endEvent id="e"/></process></definitions>'
    )
    with pytest.raises(Failed):
        is_refused(fine)
