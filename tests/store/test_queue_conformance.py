"""The queue's half of the conformance suite, on memory and SQLite."""

from procession.testing.conformance.queue import *  # noqa: F403 - the suite is classes of tests
