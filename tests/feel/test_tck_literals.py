"""The DMN TCK's literal expressions, read in place from the collections of models."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.feel.tck import Outcome, cases, run

# Folders whose point is what the types of variables do to values; that is a matter of decisions, not of FEEL.
ABOUT_DECISIONS = {"0082-feel-coercion", "0021-singleton-list"}
PART_OF_ALL = 0.96


@pytest.fixture(scope="module")
def outcomes(corpora: Path) -> list[Outcome]:
    folders = [
        path for path in sorted((corpora / "dmn-tck" / "TestCases").glob("compliance-level-*/*")) if path.is_dir()
    ]
    if not folders:
        pytest.skip(f"no dmn-tck in {corpora}")
    found = [run(case) for folder in folders if folder.name not in ABOUT_DECISIONS for case in cases(folder)]
    return [outcome for outcome in found if outcome is not None]


@pytest.mark.corpora
def test_at_least_96_of_100_literal_expressions_of_the_tck_have_the_expected_result(outcomes, record_property):
    failed = [outcome for outcome in outcomes if not outcome.passed]
    passed = len(outcomes) - len(failed)
    record_property("tck literals", f"{passed} / {len(outcomes)}")
    report = "\n".join(f"{o.case.name}: expected {o.case.expected!r}, found {o.found!r}" for o in failed)
    assert len(outcomes) > 1000
    assert passed >= PART_OF_ALL * len(outcomes), f"{passed} / {len(outcomes)}\n{report}"


@pytest.mark.corpora
def test_an_expression_of_the_tck_never_meets_a_bug_of_the_evaluation(outcomes):
    bugs = [(o.case.name, w) for o in outcomes for w in o.warnings if w.code == "internal"]
    assert bugs == []


@pytest.mark.corpora
def test_a_result_that_the_tck_calls_an_error_comes_with_a_warning(outcomes):
    silent = [o.case.name for o in outcomes if o.case.error and o.passed and not o.warnings and o.found is None]
    assert silent == []
