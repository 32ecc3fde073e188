"""Jobs that come after jobs: circles, and what a parent's end means for a child. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import Enum, auto

from procession.errors import InvalidValue
from procession.jobs.kinds import JobState


class Effect(Enum):
    """What the state of a parent means for a child."""

    RESOLVED = auto()
    WAITS = auto()
    DOOMED = auto()


def effect_of(parent: int, *, either: bool) -> Effect:
    """What a parent in this state means for a child that comes after it (``either``: however it ends)."""
    match parent:
        case JobState.SUCCEEDED:
            return Effect.RESOLVED
        case JobState.FAILED:
            return Effect.RESOLVED if either else Effect.WAITS
        case JobState.DELETED:
            return Effect.RESOLVED if either else Effect.DOOMED
        case _:
            return Effect.WAITS


def order_of(parents: Mapping[int, Sequence[int]]) -> list[int]:
    """The jobs of a flow, each after its parents; keys that are no jobs of the flow do not matter.

    Raises InvalidValue with the circle, if there is one.
    """
    ordered: dict[int, None] = {}
    for start in parents:
        path: list[int] = []
        stack: list[tuple[int, bool]] = [(start, False)]
        while stack:
            key, is_left = stack.pop()
            if is_left:
                ordered[key] = None
                path.pop()
            elif key in path:
                raise InvalidValue(_circle([*path[path.index(key) :], key]))
            elif key not in ordered:
                path.append(key)
                stack.append((key, True))
                stack += [(parent, False) for parent in parents[key] if parent in parents and parent not in ordered]
    return list(ordered)


def _circle(keys: Iterable[int]) -> str:
    return f"Expected jobs that come after each other without a circle, found {' after '.join(map(str, keys))}"
