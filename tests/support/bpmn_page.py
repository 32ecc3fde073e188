"""The parts of docs/bpmn.md that are drawn from the code: elements, triggers by position, the life of an element.

python -m tests.support.bpmn_page         writes them into the page
"""

from __future__ import annotations

import re
import sys
from types import ModuleType

from procession.core import elements
from procession.core.elements import triggers
from procession.core.life import LIFE
from procession.core.lifecycle import FAMILIES
from procession.core.state import Phase
from procession.model.definition import Kind
from procession.model.rules.events import ALLOWED
from tests.support.sources import ROOT

PAGE = ROOT / "docs" / "bpmn.md"
_BLOCK = re.compile(r"(<!-- from the code: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


def page() -> str:
    """The page, its blocks drawn anew."""
    blocks = {"elements": _elements(), "triggers": _triggers(), "life": _life()}
    return _BLOCK.sub(
        lambda found: f"{found[1]}{blocks[found[2]]}\n{found[3]}",
        PAGE.read_text(encoding="utf-8"),
    )


def _elements() -> str:
    rows = ["| elements | their rules |", "|---|---|"]
    kinds: dict[ModuleType, list[str]] = {}
    for kind in Kind:
        kinds.setdefault(_family(kind), []).append(kind.name.lower().replace("_", " "))
    for module, names in kinds.items():
        path = f"src/{module.__name__.replace('.', '/')}.py"
        first = (module.__doc__ or "").partition("\n")[0]
        rows.append(f"| {', '.join(names)} | {first} (`{path}`) |")
    return "\n".join(rows)


def _family(kind: Kind) -> ModuleType:
    """The module with the rules of an element: of its work, else of its tokens, else of its triggers."""
    family = FAMILIES[kind]
    for function in (family.start, family.enter):
        if function.__module__ != elements.__name__:
            return sys.modules[function.__module__]
    return triggers


def _triggers() -> str:
    rows = ["| position | triggers, besides none where that has a meaning |", "|---|---|"]
    for position, allowed in ALLOWED.items():
        names = ", ".join(sorted(trigger.name.lower() for trigger in allowed)) or "none only"
        rows.append(f"| {position} | {names} |")
    return "\n".join(rows)


def _life() -> str:
    turns = [f"    {_state(turn.source)} --> {_state(turn.target)}: {turn.why}" for turn in LIFE]
    return "\n".join(["```mermaid", "stateDiagram-v2", *turns, "```"])


def _state(phase: Phase | None) -> str:
    return "[*]" if phase is None else phase.name


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
