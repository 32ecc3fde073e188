"""The queue's half of the suite: ``from procession.testing.conformance.queue import *``, with the fixtures of the first."""

from procession.testing.conformance.unique_keys import TestSubmit, TestTurns, TestUnique

__all__ = ["TestSubmit", "TestTurns", "TestUnique"]
