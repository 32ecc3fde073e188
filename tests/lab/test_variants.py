"""Which variants are run, and in which order."""

from __future__ import annotations

import pytest

from procession.errors import Misconfigured
from procession.lab.options import ProcessOptions
from procession.lab.variants import all_variants, chosen_variants, rotation


def names(patterns: str, *, ceiling: bool = True) -> list[str]:
    return [variant.name for variant in chosen_variants(patterns, ceiling=ceiling)]


def test_every_combination_of_way_history_and_commit_is_there_once():
    variants = all_variants()
    assert len(variants) == len({variant.name for variant in variants}) == 14
    on_postgres = {(v.way, v.history, v.commit) for v in variants if v.database == "postgres"}
    assert on_postgres == {
        (way, history, commit)
        for way in ("methods", "service")
        for history in ("off", "activity")
        for commit in ("on", "async")
    }
    on_sqlite = {(v.way, v.history, v.commit) for v in variants if v.database == "sqlite"}
    assert [v.name for v in variants if v.database == "mariadb"] == ["mariadb-methods", "mariadb-service"]
    assert on_sqlite == {(way, "activity", commit) for way in ("methods", "service") for commit in ("NORMAL", "FULL")}


def test_a_ceiling_comes_with_each_way_on_postgresql():
    assert names("postgres-methods") == ["postgres-methods-ceiling", "postgres-methods"]
    assert names("postgres-methods", ceiling=False) == ["postgres-methods"]
    assert names("sqlite-*-full") == ["sqlite-methods-full", "sqlite-service-full"]
    assert len(names("*")) == 16


def test_a_name_that_fits_nothing_is_refused_with_those_that_would():
    with pytest.raises(Misconfigured, match="found 'oracle-\\*', which fits none"):
        names("postgres-methods,oracle-*")


def test_every_second_round_runs_backwards():
    variants = chosen_variants("sqlite-methods-*", ceiling=False)
    order = [(number, variant.name) for number, variant in rotation(variants, 3)]
    first, second = "sqlite-methods-normal", "sqlite-methods-full"
    assert order == [(1, first), (1, second), (2, second), (2, first), (3, first), (3, second)]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"rounds": 0}, "Expected rounds to be at least 1, found 0"),
        ({"starters": 3, "processes": 2}, "found 3 starters, 2 processes"),
        ({"instances": 4}, "no more starters than instances"),
    ],
    ids=["no rounds", "starters that cannot be shared", "fewer instances than starters"],
)
def test_options_that_cannot_be_measured_are_refused(changes, words):
    with pytest.raises(Misconfigured, match=words):
        ProcessOptions(**changes)


def test_a_result_shows_neither_the_address_nor_the_folder():
    shown = ProcessOptions(url="postgresql://somebody:secret@host/db").public()
    assert shown["url"] == "given"
    assert "secret" not in str(shown)
    assert shown["out"] == ""
