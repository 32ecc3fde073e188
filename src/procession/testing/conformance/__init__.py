"""What every store must keep, as tests that any store can be put through.

A test module of a store imports the classes (``from procession.testing.conformance import *``) and provides fixtures:

``store``   an open, migrated, empty store whose clock is ``clock``
``clock``   a ``ManualClock``
``keys``    ``Keys`` with a block of the store's own keys
``reopen``  ``await reopen()`` opens another store object on the same database and clock, or gives None where a store
            is one object (memory)
"""

from procession.testing.conformance.claiming import TestClaim, TestConcurrency, TestFinish
from procession.testing.conformance.committing import TestCommit, TestFences, TestHistory, TestStartChannels
from procession.testing.conformance.deciding import TestDecisions, TestFindDecision
from procession.testing.conformance.deploying import TestDeploy, TestFindDefinition
from procession.testing.conformance.enqueuing import TestEnqueue, TestKeys, TestPromote
from procession.testing.conformance.forming import TestForms
from procession.testing.conformance.keeping import TestKeeping
from procession.testing.conformance.leasing import TestAdjustments, TestRemoteLeases
from procession.testing.conformance.listing import TestIncidents, TestListings, TestUserTasks
from procession.testing.conformance.messaging import TestPublish, TestPublishingJobs, TestSignals, TestSubscribe
from procession.testing.conformance.migrating import TestMigration
from procession.testing.conformance.nodes import TestHints, TestLeader, TestNodes, TestRescue
from procession.testing.conformance.operating import TestBatches, TestDeletion, TestWaitingJobs
from procession.testing.conformance.ordering import TestOrder
from procession.testing.conformance.persisting import TestDurability, TestMigrations
from procession.testing.conformance.refusing import TestRefusals
from procession.testing.conformance.stage import ManualClock, Reopen
from procession.testing.conformance.watching import TestFindInstances, TestTally, TestWatching

__all__ = [
    "ManualClock",
    "Reopen",
    "TestAdjustments",
    "TestBatches",
    "TestClaim",
    "TestCommit",
    "TestConcurrency",
    "TestDecisions",
    "TestDeletion",
    "TestDeploy",
    "TestDurability",
    "TestEnqueue",
    "TestFences",
    "TestFindDecision",
    "TestFindDefinition",
    "TestFindInstances",
    "TestFinish",
    "TestForms",
    "TestHints",
    "TestHistory",
    "TestIncidents",
    "TestKeeping",
    "TestKeys",
    "TestLeader",
    "TestListings",
    "TestMigration",
    "TestMigrations",
    "TestNodes",
    "TestOrder",
    "TestPromote",
    "TestPublish",
    "TestPublishingJobs",
    "TestRefusals",
    "TestRemoteLeases",
    "TestRescue",
    "TestSignals",
    "TestStartChannels",
    "TestSubscribe",
    "TestTally",
    "TestUserTasks",
    "TestWaitingJobs",
    "TestWatching",
]
