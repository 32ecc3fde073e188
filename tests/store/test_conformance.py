"""The memory and the SQLite store keep what every store must keep."""

from __future__ import annotations

from procession.testing.conformance import *  # noqa: F403 - the classes are the tests
