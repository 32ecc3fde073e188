"""The rows that cross the port of the stores: what a step writes, what a claim reads. Plain data, no behaviour.

Instants are integer milliseconds since the epoch, UTC, on the store's own clock. ``bytes`` fields hold JSON where the
name says variables, args or events, and MessagePack where it says state. Empty strings and zeros mean "none".

``steps``    what a step writes, and what became of it
``calls``    what the other calls carry in and give back
``reading``  what is read back, and the filters of listings
"""

from procession.store.rows.calls import (
    ClaimedJob,
    Deployment,
    JobAdjustment,
    JobEnd,
    JobOutcome,
    NewDecision,
    NewDefinition,
    NewMessage,
    NewResource,
    NewStartSubscription,
    NewStartTimer,
    PublishResult,
    Rescue,
    StartRequest,
    Statement,
    Want,
)
from procession.store.rows.reading import (
    Deployed,
    HistoryRow,
    InstanceFilter,
    JobFilter,
    StoredDecision,
    StoredDefinition,
    StoredIncident,
    StoredInstance,
    StoredJob,
    StoredMessage,
    StoredNode,
    StoredSubscription,
    StoredUserTask,
)
from procession.store.rows.row import Row
from procession.store.rows.steps import (
    JobChange,
    JobFence,
    NewIncident,
    NewJob,
    NewSubscription,
    NewUserTask,
    Shape,
    Step,
    StepOutcome,
    StepResult,
    UserTaskChange,
)

__all__ = [
    "ClaimedJob",
    "Deployed",
    "Deployment",
    "HistoryRow",
    "InstanceFilter",
    "JobAdjustment",
    "JobChange",
    "JobEnd",
    "JobFence",
    "JobFilter",
    "JobOutcome",
    "NewDecision",
    "NewDefinition",
    "NewIncident",
    "NewJob",
    "NewMessage",
    "NewResource",
    "NewStartSubscription",
    "NewStartTimer",
    "NewSubscription",
    "NewUserTask",
    "PublishResult",
    "Rescue",
    "Row",
    "Shape",
    "StartRequest",
    "Statement",
    "Step",
    "StepOutcome",
    "StepResult",
    "StoredDecision",
    "StoredDefinition",
    "StoredIncident",
    "StoredInstance",
    "StoredJob",
    "StoredMessage",
    "StoredNode",
    "StoredSubscription",
    "StoredUserTask",
    "UserTaskChange",
    "Want",
]
