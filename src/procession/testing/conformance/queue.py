"""The queue's half of the suite, to be imported with ``*`` beside the fixtures of the first half."""

from procession.testing.conformance.administering import TestLook, TestOperate
from procession.testing.conformance.runs import (
    TestArchive,
    TestCancel,
    TestDeadline,
    TestLostRuns,
    TestReport,
    TestSettle,
)
from procession.testing.conformance.unique_keys import TestSubmit, TestTurns, TestUnique

__all__ = [
    "TestArchive",
    "TestCancel",
    "TestDeadline",
    "TestLook",
    "TestLostRuns",
    "TestOperate",
    "TestReport",
    "TestSettle",
    "TestSubmit",
    "TestTurns",
    "TestUnique",
]
