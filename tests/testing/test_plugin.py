"""The plugin for pytest: found by itself, light until it is used, and plain about what it needs."""

from __future__ import annotations

import pytest

pytest_plugins = ["pytester"]

APPLICATION = """
    from procession import Procession
    from procession.testing.bpmn import process

    MODEL = process("order").start().service("charge", type="charge-card").end("shipped").xml()

    app = Procession("sqlite:///production.db")

    @app.job("charge-card")
    def charge_card(amount: int) -> dict:
        return {"paid": amount}
"""


@pytest.fixture
def project(pytester: pytest.Pytester) -> pytest.Pytester:
    """A project of a user's, with an application that works on a file."""
    pytester.makepyfile(orders=APPLICATION)
    pytester.makeini("[pytest]\nprocession_app = orders:app\npythonpath = .\naddopts = -p no:cacheprovider\n")
    return pytester


def test_a_test_gets_the_application_in_memory(project):
    project.makepyfile(
        """
        import pytest
        from orders import MODEL, app

        def test_in_memory(rehearsal):
            assert rehearsal.app is app
            app.sync.deploy(("order.bpmn", MODEL))
            key = app.sync.start("order", {"amount": 3})
            rehearsal.assert_at(key, "charge")
            rehearsal.drain()
            rehearsal.assert_completed(key, end="shipped")
            rehearsal.assert_variables(key, {"paid": 3})

        @pytest.mark.procession(inline=True, at="2026-05-01T08:00:00Z")
        def test_each_has_its_own(rehearsal):
            assert rehearsal.now.month == 5
            app.sync.deploy(("order.bpmn", MODEL))
            rehearsal.assert_completed(app.sync.start("order", {"amount": 4}))
            rehearsal.assert_enqueued("charge-card", count=1)
        """
    )
    project.runpytest_subprocess("-q").assert_outcomes(passed=2)
    assert not (project.path / "production.db").exists()


def test_an_asynchronous_test_opens_it_itself(project):
    project.makepyfile(
        """
        import asyncio
        from orders import MODEL, app

        def test_in_a_loop(unopened_rehearsal):
            async def story():
                async with unopened_rehearsal as rehearsal:
                    await app.deploy(("order.bpmn", MODEL))
                    key = await app.start("order", {"amount": 3})
                    await rehearsal.drain()
                    await rehearsal.assert_completed(key)
            asyncio.run(story())
        """
    )
    project.runpytest_subprocess("-q").assert_outcomes(passed=1)


def test_without_a_setting_it_says_what_to_do(project):
    project.makeini("[pytest]\npythonpath = .\n")
    project.makepyfile("def test_one(rehearsal): ...")
    result = project.runpytest_subprocess("-q")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*Expected procession_app in pytest's settings as module:name*"])


def test_a_fixture_of_the_users_takes_the_place_of_the_setting(project):
    project.makeini("[pytest]\npythonpath = .\n")
    project.makepyfile(
        """
        import pytest
        from procession import Procession

        @pytest.fixture
        def procession_app():
            return Procession("memory://", name="mine")

        def test_one(rehearsal, procession_app):
            assert rehearsal.app is procession_app
        """
    )
    project.runpytest_subprocess("-q").assert_outcomes(passed=1)


def test_an_unknown_option_of_the_marker_is_refused(project):
    project.makepyfile(
        """
        import pytest

        @pytest.mark.procession(eager=True)
        def test_one(rehearsal): ...
        """
    )
    result = project.runpytest_subprocess("-q")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*Expected @pytest.mark.procession(inline=..., at=...), found eager*"])


def test_unused_it_loads_nothing_but_itself(project):
    project.makeini("[pytest]\naddopts = -p no:randomly -p no:asyncio\n")
    project.makepyfile(
        """
        import sys

        def test_nothing_is_loaded():
            ours = sorted(name for name in sys.modules if name.split(".")[0] == "procession")
            assert ours == ["procession", "procession.testing", "procession.testing.plugin"]
            assert not {"asyncpg", "msgspec", "lxml", "uvloop", "sqlalchemy", "django"} & set(sys.modules)
        """
    )
    project.runpytest_subprocess("-q").assert_outcomes(passed=1)
