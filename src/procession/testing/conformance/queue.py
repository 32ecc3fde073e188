"""The queue's half of the suite, to be imported with ``*`` beside the fixtures of the first half."""

from procession.testing.conformance.administering import TestKeep, TestLook, TestOperate
from procession.testing.conformance.flows import TestFlows, TestNamedFlows
from procession.testing.conformance.job_batches import TestJobBatches
from procession.testing.conformance.limited_order import TestOrderOfLimited, TestReadsAtOnce
from procession.testing.conformance.limiting import TestPace, TestRules, TestSlots
from procession.testing.conformance.passing_over import TestStrangers
from procession.testing.conformance.recurring import TestRecurring, TestSweep
from procession.testing.conformance.runs import (
    TestArchive,
    TestAttempts,
    TestCancel,
    TestDeadline,
    TestLostRuns,
    TestReport,
    TestSettle,
)
from procession.testing.conformance.unique_keys import TestSubmit, TestTurns, TestUnique

__all__ = [
    "TestArchive",
    "TestAttempts",
    "TestCancel",
    "TestDeadline",
    "TestFlows",
    "TestJobBatches",
    "TestKeep",
    "TestLook",
    "TestLostRuns",
    "TestNamedFlows",
    "TestOperate",
    "TestOrderOfLimited",
    "TestPace",
    "TestReadsAtOnce",
    "TestRecurring",
    "TestReport",
    "TestRules",
    "TestSettle",
    "TestSlots",
    "TestStrangers",
    "TestSubmit",
    "TestSweep",
    "TestTurns",
    "TestUnique",
]
