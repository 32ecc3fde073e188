"""The page of the acceptance scenarios says what the tests say."""

from __future__ import annotations

from tests.support.scenarios import EVERYWHERE, MISSING, NUMBERS, PAGE, PARTLY, page, shown


def test_the_page_of_the_scenarios_is_the_one_that_the_tests_make():
    written = PAGE.read_text(encoding="utf-8")
    assert written == page(), "write it again: python -m tests.support.scenarios"


def test_every_scenario_is_shown_or_has_a_reason():
    found = shown()
    assert set(found) <= set(NUMBERS)
    assert sorted(set(NUMBERS) - set(found)) == sorted(MISSING)


def test_a_scenario_that_no_store_shows_has_a_reason():
    silent = {
        number for number, tests in shown().items() if not any("PostgreSQL" in test.told_on for test in tests)
    } - set(PARTLY)
    assert silent == {89}, "how cron counts is a matter of the rules alone"
    assert EVERYWHERE.endswith("PostgreSQL, MariaDB")
