"""The requirement graph of one resource: which element an `href` means, and in which order decisions are compiled.

Nothing is evaluated here. What is wrong becomes a problem with element and line, and the requirement is left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from procession.dmn.model import DecisionModel, Imports
from procession.model.problems import Findings
from procession.model.xml import Xml

_ELEMENTS: Final = ("inputData", "decision", "businessKnowledgeModel", "decisionService", "knowledgeSource")
_WORDS: Final = {
    "inputData": "input data",
    "decision": "decision",
    "businessKnowledgeModel": "business knowledge model",
    "decisionService": "decision service",
    "knowledgeSource": "knowledge source",
}


class Target(NamedTuple):
    """What an `href` means: an element of this resource, or one of the model that was imported under `prefix`."""

    prefix: str
    model: DecisionModel | None
    id: str


class Elements:
    """The elements of a resource by id, and the models that it imports."""

    def __init__(self, root: Xml, imports: Imports, findings: Findings) -> None:
        self.root = root
        self.imports = imports
        self.findings = findings
        self.by_id: dict[str, Xml] = {}
        self._namespace = root.get("namespace")
        self._refused = {element.get("namespace") for element in root.every("import")}
        names: dict[str, Xml] = {}
        for element in root.children:
            if element.name not in _ELEMENTS or element.space:
                continue
            self._keep(element, names)

    def _keep(self, element: Xml, names: dict[str, Xml]) -> None:
        word, name = _WORDS[element.name], " ".join(element.get("name").split())
        if not name and not element.id:
            self.findings.error("NO_NAME", f"The {word} has neither a name nor an id", element)
            return
        identity = element_id(element)
        if identity in self.by_id:
            self.findings.error("ID_TWICE", f"There are two elements with the id '{identity}'", element)
            return
        self.by_id[identity] = element
        other = names.setdefault(name, element)
        if name and other is not element and element.name != "knowledgeSource":
            message = f"The {word} has the same name '{name}' as the {_WORDS[other.name]} of line {other.line}"
            self.findings.warning("NAME_TWICE", message, element)

    def of_kind(self, kind: str) -> Iterator[Xml]:
        """The elements of a kind, in the order of the resource."""
        return (element for element in self.by_id.values() if element.name == kind)

    def targets(self, element: Xml, requirement: str, reference: str, *kinds: str) -> Iterator[tuple[str, Target]]:
        """What an element requires: each target with its kind. `requirement` may be empty for direct references."""
        holders = element.every(requirement) if requirement else iter((element,))
        for holder in holders:
            for referring in holder.every(reference):
                found = self._resolve(referring, kinds)
                if found is not None:
                    yield found

    def _resolve(self, referring: Xml, kinds: tuple[str, ...]) -> tuple[str, Target] | None:
        href = referring.get("href").strip()
        namespace, _, identity = href.rpartition("#")
        if namespace and namespace != self._namespace:
            return self._resolve_imported(referring, namespace, identity, kinds)
        found = self.by_id.get(identity)
        if found is None or found.name not in kinds:
            wanted = " or ".join(_WORDS[kind] for kind in kinds)
            message = f"The {referring.name} refers to '{href}', and there is no {wanted} with this id"
            self.findings.error("UNKNOWN_REFERENCE", message, referring)
            return None
        return found.name, Target("", None, identity)

    def _resolve_imported(
        self, referring: Xml, namespace: str, identity: str, kinds: tuple[str, ...]
    ) -> tuple[str, Target] | None:
        for prefix, model in self.imports:
            if model.namespace != namespace:
                continue
            for kind in kinds:
                if identity in elements_of(model, kind):
                    return kind, Target(prefix, model, identity)
            wanted = " or ".join(_WORDS[kind] for kind in kinds)
            message = f"The imported model '{model.name}' has no {wanted} with the id '{identity}'"
            self.findings.error("UNKNOWN_REFERENCE", message, referring)
            return None
        if namespace in self._refused:
            return None  # the import itself is the problem, and told as one
        message = f"The {referring.name} refers to the namespace '{namespace}', which is not imported"
        self.findings.error("UNKNOWN_REFERENCE", message, referring)
        return None

    def decisions_in_order(self) -> list[Xml]:
        """The decisions, those required first. A cycle is a problem; one of its requirements is left out then."""
        order: dict[str, Xml] = {}
        on_the_way: set[str] = set()
        stack = [(element, False) for element in reversed(list(self.of_kind("decision")))]
        while stack:
            element, is_ready = stack.pop()
            identity = element_id(element)
            if is_ready:
                on_the_way.discard(identity)
                order[identity] = element
                continue
            if identity in order or identity in on_the_way:
                continue
            on_the_way.add(identity)
            stack.append((element, True))
            for required in self._required_decisions(element):
                if element_id(required) in on_the_way:
                    message = f"The decision requires '{required.get('name')}', which requires it in turn"
                    self.findings.error("REQUIREMENT_CYCLE", message, element)
                else:
                    stack.append((required, False))
        return list(order.values())

    def _required_decisions(self, element: Xml) -> Iterator[Xml]:
        for requirement in element.every("informationRequirement"):
            for referring in requirement.every("requiredDecision"):
                namespace, _, identity = referring.get("href").strip().rpartition("#")
                found = self.by_id.get(identity)
                if found is not None and found.name == "decision" and namespace in ("", self._namespace):
                    yield found


def element_id(element: Xml) -> str:
    """An element's id, or its name where it has none."""
    return element.id or " ".join(element.get("name").split())


def variable_name(element: Xml) -> str:
    """The name that an element's value has in expressions."""
    variable = element.first("variable")
    written = (variable.get("name") if variable is not None else "") or element.get("name") or element.id
    return " ".join(written.split())


def elements_of(model: DecisionModel, kind: str) -> Mapping[str, object]:
    """The elements of a kind of a compiled model, by id."""
    match kind:
        case "inputData":
            return model.inputs
        case "decision":
            return model.decisions
        case "businessKnowledgeModel":
            return model.knowledge
        case "decisionService":
            return model.services
        case _:
            return {}
