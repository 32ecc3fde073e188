"""The queue's half of the suite, to be imported with ``*`` beside the fixtures of the first half."""

from procession.testing.conformance.unique_keys import TestSubmit, TestTurns, TestUnique

__all__ = ["TestSubmit", "TestTurns", "TestUnique"]
