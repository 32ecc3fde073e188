"""The shell around the core: load, decide, commit, dispatch. Group commit, claims, leases, duties of the cluster.

It knows no database (``store`` does), no rule of a process (``core`` does) and no handler (``worker`` does).
"""

from procession.engine.cells import Ask, Asked, Told
from procession.engine.delivery import Delivery, Dispatcher, said
from procession.engine.engine import Engine
from procession.engine.settings import Counters, History, Settings
from procession.engine.steps import MethodCall, Result, StepRun
from procession.engine.values import plain_variables
from procession.engine.within import AskedWithin, TransactionalRun

__all__ = [
    "Ask",
    "Asked",
    "AskedWithin",
    "Counters",
    "Delivery",
    "Dispatcher",
    "Engine",
    "History",
    "MethodCall",
    "Result",
    "Settings",
    "StepRun",
    "Told",
    "TransactionalRun",
    "plain_variables",
    "said",
]
