"""Modification: tokens are put, moved and taken away by hand. Checked as a whole before anything changes.

New tokens come first, then what is to go goes, so that a scope that still has use for its variables lives on. A scope
that loses its last token is terminated with it, the instance too.
"""

from __future__ import annotations

from procession.core.commands import Modify, Move
from procession.core.elements.paths import activate_at, path_to
from procession.core.elements.removed import remove
from procession.core.events import Modified
from procession.core.removal import is_going, is_gone
from procession.core.state import ElementInstance, Phase, Status
from procession.core.step import Step
from procession.errors import Conflict, NotFound
from procession.model.definition import Element


def modify(step: Step, command: Modify) -> None:
    """Put, move and take away tokens."""
    if step.state.status not in {Status.ACTIVE, Status.SUSPENDED}:
        message = f"Instance {step.state.key} is over already"
        raise Conflict(message)
    if step.state.nodes[step.state.root].phase == Phase.TERMINATING:
        message = f"Instance {step.state.key} is being cancelled"
        raise Conflict(message)
    moved = [(source, move.target) for move in command.move for source in _sources(step, move)]
    leaving = [*command.terminate, *(node.key for node, _ in moved)]
    for key in leaving:
        _must_be_removable(step, key)
    for instruction in command.activate:
        path_to(step, _element(step, instruction.element), instruction.ancestor)
    for node, target in moved:
        path_to(step, _element(step, target), node.scope)
    _tell(step, command, leaving, [target for _, target in moved])
    for instruction in command.activate:
        element = _element(step, instruction.element)
        activate_at(step, element, instruction.ancestor, dict(instruction.variables))
    for node, target in moved:
        activate_at(step, _element(step, target), node.scope)
    for key in leaving:
        if not is_gone(step.state, key):
            remove(step, key)


def _tell(step: Step, command: Modify, leaving: list[int], targets: list[str]) -> None:
    """The history says that what comes next was done by hand."""
    begun = [*(each.element for each in command.activate), *targets]
    step.emit(
        Modified(
            ended=[step.state.nodes[key].element for key in dict.fromkeys(leaving)],
            begun=[_element(step, each).index for each in begun],
        )
    )


def _sources(step: Step, move: Move) -> list[ElementInstance]:
    """The element instances to move: one by its key, or all of an element. Raises NotFound."""
    nodes = step.state.nodes
    if move.element_instance:
        if move.element_instance not in nodes:
            message = f"Instance {step.state.key} has no active element instance {move.element_instance}"
            raise NotFound(message)
        return [nodes[move.element_instance]]
    index = _element(step, move.source).index
    found = [
        node
        for node in nodes.values()
        if node.element == index and not _is_inner(step, node) and not is_going(step.state, node.key)
    ]
    if not found:
        message = f"'{move.source}' is not active in instance {step.state.key}: there is nothing to move"
        raise NotFound(message)
    return found


def _is_inner(step: Step, node: ElementInstance) -> bool:
    """Whether this is an inner instance of a repeated activity: moved as a whole, with its body."""
    return bool(node.loop_index) and step.state.nodes[node.scope].body


def _must_be_removable(step: Step, key: int) -> None:
    """Raises NotFound or Conflict."""
    if key == step.state.root:
        message = f"Instance {key} cannot be taken away from itself: cancel it"
        raise Conflict(message)
    if key not in step.state.nodes:
        message = f"Instance {step.state.key} has no active element instance {key}"
        raise NotFound(message)
    if is_going(step.state, key):
        message = f"Element instance {key} is being taken away already"
        raise Conflict(message)


def _element(step: Step, element_id: str) -> Element:
    """The element with this id. Raises NotFound."""
    index = step.definition.index_of.get(element_id)
    if index is None:
        message = f"Process '{step.definition.process_id}' has no element '{element_id}'"
        raise NotFound(message)
    return step.elements[index]
