"""Item definitions to types: names first, so that they may refer to each other in any order, then their content."""

from __future__ import annotations

from collections.abc import Mapping

from procession.dmn.build import Build, text_of
from procession.dmn.types import ANY, Types, constrained, names_in
from procession.feel.build import TypeMeaning
from procession.feel.syntax import ContextType, FunctionType, ListType, NamedType, TypeNode
from procession.feel.types import conforms
from procession.model.xml import Xml


def read_items(build: Build, root: Xml) -> None:
    """Fill the types of a build with the item definitions of a resource."""
    meanings = build.types.meanings
    items: dict[str, Xml] = {}
    for item in root.every("itemDefinition"):
        name = " ".join(item.get("name").split())
        if not name:
            build.findings.error("NO_NAME", "The item definition has no name", item)
        elif name in items:
            build.findings.error("NAME_TWICE", f"There are two item definitions '{name}'", item)
        else:
            items[name] = item
            meanings[name] = ANY
    bases = {name: _base(build, item, name) for name, item in items.items()}
    circles = _circles(bases)
    for name in circles:
        build.findings.error("TYPE_CYCLE", f"The type '{name}' is defined by itself", items[name])
    for name, node in bases.items():
        base = ANY if name in circles else node
        build.types.shapes[name] = base
        meanings[name] = _meaning(build, items[name], base)
        _keep_allowed_text(build.types, name, items[name])


def share_types(types: Types, prefix: str, imported: Types) -> None:
    """Make the types of an imported model known under the name of the import."""
    for name, meaning in imported.meanings.items():
        shared = f"{prefix}.{name}" if prefix else name
        types.meanings.setdefault(shared, _shared(name, meaning, imported.meanings))
        types.shapes.setdefault(shared, _shared(name, imported.shapes[name], imported.shapes))
        if name in imported.allowed_texts:
            types.allowed_texts.setdefault(shared, imported.allowed_texts[name])


def _shared(name: str, meaning: TypeMeaning, meanings: Mapping[str, TypeMeaning]) -> TypeMeaning:
    if not callable(meaning) and not any(part in meanings for part in names_in(meaning)):
        return meaning
    node = NamedType(name)
    return lambda value, run: conforms(value, node, meanings, run)


def _base(build: Build, item: Xml, path: str) -> TypeNode:
    """The type of an item definition or component, without its constraints."""
    components = list(item.every("itemComponent"))
    function = item.first("functionItem")
    reference = item.first("typeRef")
    node: TypeNode = ANY
    if components:
        node = ContextType(tuple(_component(build, component, path) for component in components))
    elif function is not None:
        node = _function(build, function)
    elif reference is not None and reference.text:
        found = build.types.node(reference.text)
        if found is None:
            build.unknown_type(reference, reference.text)
        node = found or ANY
    return ListType(node) if item.get("isCollection").strip() in ("true", "1") else node


def _component(build: Build, item: Xml, path: str) -> tuple[str, TypeNode]:
    name = " ".join(item.get("name").split())
    if not name:
        build.findings.error("NO_NAME", "The component has no name", item)
    inner = f"{path}/{name}"
    base = _base(build, item, inner)
    meaning = _meaning(build, item, base)
    if not callable(meaning):
        return name, base
    build.types.meanings[inner] = meaning
    build.types.shapes[inner] = base
    return name, NamedType(inner)


def _function(build: Build, item: Xml) -> TypeNode:
    parameters = tuple(build.type(parameter) or ANY for parameter in item.every("parameters"))
    reference = item.get("outputTypeRef").strip()
    result = build.types.node(reference) if reference else ANY
    if result is None:
        build.unknown_type(item, reference)
    return FunctionType(parameters, result or ANY)


def _meaning(build: Build, item: Xml, base: TypeNode) -> TypeMeaning:
    allowed, constraint = build.tests(item.first("allowedValues")), build.tests(item.first("typeConstraint"))
    return constrained(base, allowed, constraint, build.types.meanings)


def _keep_allowed_text(types: Types, name: str, item: Xml) -> None:
    allowed, reference = item.first("allowedValues"), item.first("typeRef")
    if allowed is not None:
        types.allowed_texts[name] = text_of(allowed)
    elif reference is not None and types.allowed_texts.get(reference.text):
        types.allowed_texts[name] = types.allowed_texts[reference.text]


def _circles(bases: Mapping[str, TypeNode]) -> set[str]:
    """The names that mean themselves, or such a name, with nothing in between that a value could be."""
    circular: set[str] = set()
    seen: set[str] = set()
    for name in bases:
        way: dict[str, None] = {}
        node: TypeNode | None = NamedType(name)
        while isinstance(node, NamedType) and node.name in bases and node.name not in seen and node.name not in way:
            way[node.name] = None
            node = bases[node.name]
        if isinstance(node, NamedType) and (node.name in way or node.name in circular):
            circular.update(way)
        seen.update(way)
    return circular


def member_names(root: Xml) -> frozenset[str]:
    """Names that may stand after a dot and are more than a word: of components, entries, columns and outputs."""
    found = {" ".join(element.get("name").split()) for element in root.walk() if element.name in _NAMED}
    return frozenset(name for name in found if name and not name.isidentifier())


_NAMED = frozenset(
    [
        "itemComponent",
        "variable",
        "column",
        "output",
        "decision",
        "inputData",
        "businessKnowledgeModel",
        "decisionService",
        "import",
    ]
)
