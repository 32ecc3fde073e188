"""MariaDB's store keeps what every store must keep."""

from procession.testing.conformance import *  # noqa: F403 - the classes are the tests
