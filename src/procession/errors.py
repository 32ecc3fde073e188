"""The exceptions a user can meet, in three families. It raises nothing itself and never imports another room.

    ProcessionError
    ├── Rejected            your command; nothing was written; sending it again unchanged gives the same answer
    │   ├── InvalidModel    a resource cannot be deployed; lists every problem with element and line
    │   ├── NotFound        no such definition, instance, job, incident, ...
    │   ├── Conflict        it exists, but not in a state (or under a lease) that allows the command
    │   ├── InvalidValue    a value cannot be stored, decoded or is over a named limit
    │   │   └── Unreadable  what a codec has written cannot be read: its key is not here, or it was changed
    │   └── Misconfigured   a URL, option or handler is not usable as given
    ├── Unavailable         try again: the database does not answer, the engine stops, a limit is reached
    │   └── SchemaMismatch  the database's schema is newer or older than this program
    └── Bug                 ours: an invariant does not hold; nothing was written

BPMN errors, retries and incidents are not exceptions here: they are events of an instance.
"""

from __future__ import annotations

from collections.abc import Iterable


class ProcessionError(Exception):
    """The root of every exception that Procession raises on purpose."""


class Rejected(ProcessionError):
    """The command was refused and nothing was written. The message says what was expected and what was found."""


class InvalidModel(Rejected):
    """A resource cannot be deployed. ``problems`` are all of its errors (``model.Problem``), by line."""

    def __init__(self, problems: Iterable[object], *, name: str = "") -> None:
        self.problems = tuple(problems)
        self.name = name
        subject = f"'{name}'" if name else "The model"
        count = "1 error" if len(self.problems) == 1 else f"{len(self.problems)} errors"
        super().__init__("\n  ".join([f"{subject} cannot be deployed: {count}", *map(str, self.problems)]))


class NotFound(Rejected):
    """What the command names does not exist (any more)."""


class Conflict(Rejected):
    """What the command names exists, but its state or its lease does not allow the command."""


class InvalidValue(Rejected):
    """A value is of the wrong type, over a limit of ``limits.py``, or cannot be stored by the database."""


class Unreadable(InvalidValue):
    """What a codec has written cannot be read here: its key is missing or another one, or somebody has changed it."""


class Misconfigured(Rejected):
    """A URL, an option or a handler cannot be used as given."""


class Unavailable(ProcessionError):
    """Nothing is wrong with the command: try again later. Nothing was written, or the outcome is safe to resend."""


class SchemaMismatch(Unavailable):
    """The database's schema version is not the one that this program works with."""


class Bug(ProcessionError):
    """An invariant of ours does not hold. Nothing was written; please report it with the message."""
