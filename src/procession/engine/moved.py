"""The rows of an instance that change with its definition: all that stay, each at its element of now. Pure."""

from __future__ import annotations

from collections.abc import Container

from procession.core import State
from procession.model.definition import Definition
from procession.store.rows.steps import MovedRow


def moved_rows(definition: Definition, state: State, timers: Container[int], new: Container[int]) -> list[MovedRow]:
    """The rows of a migrated instance that were there before the step (not ``new``); which waits are ``timers``."""
    elements = definition.elements
    moved: list[MovedRow] = []
    for node in state.nodes.values():
        element = elements[node.element]
        if node.job:
            moved.append(MovedRow(table="job", key=node.job, element=element.id))
        if node.user_task:
            moved.append(MovedRow(table="user_task", key=node.user_task, element=element.id, name=element.name))
        if node.incident:
            moved.append(MovedRow(table="incident", key=node.incident, element=element.id))
        for wait in node.waits or ():
            table = "job" if wait.key in timers else "subscription"
            moved.append(MovedRow(table=table, key=wait.key, element=elements[wait.element].id))
    return [row for row in moved if row.key not in new]
