"""The queue's half of the conformance suite behind PgBouncer in transaction mode."""

from procession.testing.conformance.queue import *  # noqa: F403 - the suite is classes of tests
