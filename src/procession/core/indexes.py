"""What the fold keeps so that a step need not look at everything: counts, waits by signal. It decides nothing.

All of it can be made anew from the element instances; ``check`` compares.
"""

from __future__ import annotations

from procession.core.state import Compensation, ElementInstance, State

DONE = 2  # of a recorded handler


def count(state: State, scope: int, element: int, change: int = 1) -> None:
    """Keep how often an element is active in a scope, and the scope's mask of active elements."""
    counts = {} if state.counts is None else state.counts
    number = counts.get((scope, element), 0) + change
    if number:
        counts[scope, element] = number
        state.masks[scope] = state.masks.get(scope, 0) | 1 << element
        return
    del counts[scope, element]
    mask = state.masks[scope] & ~(1 << element)
    if mask:
        state.masks[scope] = mask
    else:
        del state.masks[scope]


def count_all(state: State) -> None:
    """Count every element instance, when an inclusive join asks for the first time."""
    state.counts, state.masks = {}, {}
    for node in state.nodes.values():
        if node.scope:
            count(state, node.scope, node.element)


def forget_signal(state: State, node: ElementInstance, key: int) -> None:
    """If this is a wait for a signal, it is open no more."""
    for wait in node.waits or ():
        if wait.key == key and wait.name:
            others = state.signals[wait.name]
            del others[key]
            if not others:
                del state.signals[wait.name]


def forget_done(records: list[Compensation] | None, path: tuple[int, ...]) -> None:
    """Drop the last records that are done, so that what is due is found without looking at them again."""
    for position in path[:-1]:
        records = (records or [])[position].nested
    while records and records[-1].state == DONE:
        records.pop()
