"""The queue's half of the conformance suite, on MariaDB."""

from procession.testing.conformance.queue import *  # noqa: F403 - the suite is classes of tests
