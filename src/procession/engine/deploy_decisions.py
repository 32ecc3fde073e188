"""DMN files to the rows of a deployment: files that import each other are compiled in the order of their imports."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from procession.dmn import DecisionModel, compile_resource
from procession.engine.decisions import checksums
from procession.errors import InvalidModel
from procession.ids import Keys
from procession.model.xml import ZEEBE, Xml, parse
from procession.store.rows import NewDecision, NewResource

LOOKED_AT = 4_096  # bytes in which a file without a telling name says what it is


def is_dmn(name: str, content: bytes) -> bool:
    """Whether a file holds decisions: by its name, or by the namespace of its root."""
    if name.lower().endswith((".dmn", ".bpmn")):
        return name.lower().endswith(".dmn")
    return b"/spec/DMN/" in content[:LOOKED_AT]


def decision_resources(files: Sequence[tuple[str, bytes]], keys: Keys) -> tuple[list[NewResource], list[InvalidModel]]:
    """The rows of DMN files, in the order given, and what is wrong with those that do not compile."""
    sources = {name: _Source(name, content) for name, content in files}
    models: dict[str, DecisionModel] = {}
    refused = [
        InvalidModel(["another file of this name with other bytes stands in the deployment"], name=name)
        for name, content in files
        if sources[name].content != content
    ]
    for source in _in_order(list(sources.values())):
        try:
            models[source.name] = compile_resource(source.content, name=source.name, imports=models.values())
        except InvalidModel as error:
            refused.append(error)
    if refused:
        return [], refused
    needed = {name: _needed(source, list(sources.values())) for name, source in sources.items()}
    sums = checksums({name: source.content for name, source in sources.items()}, needed)
    key_of = {name: keys.take() for name in sources}
    rows = [
        NewResource(
            key=key_of[name],
            name=name,
            kind="dmn",
            content=source.content,
            checksum=hashlib.sha256(source.content).hexdigest(),
            decisions=[
                NewDecision(
                    key=keys.take(),
                    decision_id=decision.id,
                    checksum=sums[name],
                    name=decision.name,
                    version_tag=source.tags.get(decision.id, ""),
                    requirements_id=models[name].id,
                    imports=sorted(key_of[other] for other in needed[name]),
                )
                for decision in models[name].decisions.values()
            ],
        )
        for name, source in sources.items()
    ]
    return rows, []


class _Source:
    """A file, its namespace, the namespaces that it imports, and the version tags of its decisions."""

    def __init__(self, name: str, content: bytes) -> None:
        self.name = name
        self.content = content
        root, _ = parse(content)
        self.namespace = root.get("namespace") if root is not None else ""
        self.imports = {each.get("namespace") for each in root.every("import")} if root is not None else set[str]()
        decisions = list(root.every("decision")) if root is not None else []
        self.tags = {each.id: _version_tag(each) for each in decisions}


def _version_tag(decision: Xml) -> str:
    tag = decision.extension("versionTag", ZEEBE)
    return tag.get("value") if tag is not None else decision.get("camunda:versionTag")


def _in_order(sources: list[_Source]) -> list[_Source]:
    """Files after those that they import; in a circle the compiler says what is missing."""
    ordered: list[_Source] = []
    waiting = sources
    while waiting:
        missing = {each.namespace for each in waiting}
        ready = [each for each in waiting if not each.imports & (missing - {each.namespace})]
        ordered += ready or waiting
        waiting = [each for each in waiting if each not in ready] if ready else []
    return ordered


def _needed(source: _Source, sources: list[_Source]) -> set[str]:
    """The names of the files that a file imports, and that these import."""
    found: set[str] = set()
    wanted = set(source.imports)
    while True:
        new = [each for each in sources if each.namespace in wanted and each.name not in found and each is not source]
        if not new:
            return found
        found |= {each.name for each in new}
        wanted |= {namespace for each in new for namespace in each.imports}
