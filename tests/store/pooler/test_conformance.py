"""Behind PgBouncer in transaction mode PostgreSQL keeps what every store must keep."""

from procession.testing.conformance import *  # noqa: F403 - the suite's classes
