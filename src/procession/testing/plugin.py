"""A plugin for pytest, found by itself: ``rehearsal`` gives your application in memory, with a clock that you turn.

    # pyproject.toml
    [tool.pytest.ini_options]
    procession_app = "orders:app"

    def test_an_order_is_shipped(rehearsal):
        key = rehearsal.app.sync.start("order", {"orderId": "A-17"})
        rehearsal.drain()
        rehearsal.assert_completed(key)

It imports nothing of the package before a test asks for one of its fixtures. What it gives is ``testing.Rehearsal``.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from procession.app import Procession
    from procession.testing.rehearsal import Rehearsal
    from procession.testing.rehearsal_sync import SyncRehearsal

SETTING = "procession_app"
MARKER = "procession"
OPTIONS = ("inline", "at")


def pytest_addoption(parser: pytest.Parser) -> None:
    """The setting."""
    parser.addini(SETTING, "the Procession that the fixture `rehearsal` is for, as module:name", default="")


def pytest_configure(config: pytest.Config) -> None:
    """The marker."""
    config.addinivalue_line(
        "markers",
        f"{MARKER}(inline=False, at=None): how the fixture `rehearsal` runs: handlers before the call that causes them "
        "returns; where its clock stands at first",
    )


@pytest.fixture
def procession_app(pytestconfig: pytest.Config) -> Procession:
    """The application that ``rehearsal`` is for: what ``procession_app`` in pytest's settings names; override it."""
    name = str(pytestconfig.getini(SETTING))
    module, _, attribute = name.partition(":")
    if not module or not attribute:
        message = (
            f"Expected {SETTING} in pytest's settings as module:name (such as orders:app), or a fixture of yours "
            f"named {SETTING}; found {name!r}"
        )
        raise pytest.UsageError(message)
    return getattr(import_module(module), attribute)


@pytest.fixture
def unopened_rehearsal(procession_app: Procession, request: pytest.FixtureRequest) -> Rehearsal:
    """A rehearsal of ``procession_app`` for asynchronous tests: ``async with unopened_rehearsal as rehearsal:``."""
    from procession.testing.rehearsal import Rehearsal  # noqa: PLC0415 - nothing is loaded before it is used

    return Rehearsal(procession_app, **_options(request))


@pytest.fixture
def rehearsal(unopened_rehearsal: Rehearsal) -> Iterator[SyncRehearsal]:
    """``procession_app`` in memory with a clock turned by hand, for code that uses ``app.sync``."""
    with unopened_rehearsal as opened:
        yield opened


def _options(request: pytest.FixtureRequest) -> dict[str, Any]:
    """What the nearest marker says. Raises UsageError for what it does not know."""
    marker = request.node.get_closest_marker(MARKER)
    if marker is None:
        return {}
    options: dict[str, Any] = dict(marker.kwargs)
    unknown = [*map(repr, marker.args), *sorted(options.keys() - set(OPTIONS))]
    if unknown:
        message = f"Expected @pytest.mark.{MARKER}({', '.join(f'{name}=...' for name in OPTIONS)}), found {unknown[0]}"
        raise pytest.UsageError(message)
    return {name: value for name, value in options.items() if value is not None}
