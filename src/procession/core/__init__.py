"""The rules of a process, pure: ``decide(definition, state, command, now, keys)`` gives the events that follow.

Never here: a clock, a random number, a database, a log, an await. The state is the fold of the events (``fold``).
"""

from procession.core.apply import apply, fold
from procession.core.check import check
from procession.core.codec import decode_state, encode_state, marks_of
from procession.core.decide import Decision, decide
from procession.core.elements.starts import starts_that_hold
from procession.core.migrate import MigrationFinding, migrate, migration_findings
from procession.core.state import ElementInstance, Incident, IncidentKind, Phase, State, Status
from procession.core.surroundings import DecisionRequest, DeployedDecision, NotAtHand, Surroundings
from procession.core.variables import visible_variables

__all__ = [
    "Decision",
    "DecisionRequest",
    "DeployedDecision",
    "ElementInstance",
    "Incident",
    "IncidentKind",
    "MigrationFinding",
    "NotAtHand",
    "Phase",
    "State",
    "Status",
    "Surroundings",
    "apply",
    "check",
    "decide",
    "decode_state",
    "encode_state",
    "fold",
    "marks_of",
    "migrate",
    "migration_findings",
    "starts_that_hold",
    "visible_variables",
]
