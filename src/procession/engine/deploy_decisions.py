"""DMN files to the rows of a deployment: files that import each other are compiled in the order of their imports.

What they import and the deployment does not hold is looked for among the deployed files: the newest with its namespace
counts, together with what that imports. A version keeps the files that it was deployed with.
"""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Sequence
from typing import NamedTuple

from procession.dmn import DecisionModel, compile_resource
from procession.engine.decisions import checksums
from procession.errors import InvalidModel
from procession.ids import Keys
from procession.model.xml import ZEEBE, Xml, parse
from procession.store.port import Store
from procession.store.rows import NewDecision, NewResource

FILES_LOOKED_AT_MAX = 1_000  # deployed files that are read to find those that a deployment imports
LOOKED_AT = 4_096  # bytes in which a file without a telling name says what it is


def is_dmn(name: str, content: bytes) -> bool:
    """Whether a file holds decisions: by its name, or by the namespace of its root."""
    if name.lower().endswith((".dmn", ".bpmn")):
        return name.lower().endswith(".dmn")
    return b"/spec/DMN/" in content[:LOOKED_AT]


class DeployedFile(NamedTuple):
    """A DMN file of an earlier deployment."""

    key: int
    name: str
    content: bytes


async def imported_files(store: Store, files: Sequence[tuple[str, bytes]], tenant: str) -> list[DeployedFile]:
    """The deployed files that DMN files import and that do not stand among them. Raises Unavailable."""
    sources = [_Source(name, content) for name, content in files if is_dmn(name, content)]
    wanted = {namespace for source in sources for namespace in source.imports}
    missing = wanted - {source.namespace for source in sources}
    if not missing:
        return []
    newest: dict[str, _Source] = {}
    async for group in _deployed(store, tenant):
        for source in group:
            newest.setdefault(source.namespace, source)
        if missing <= newest.keys():
            break
    known = [source for source in newest.values() if source.namespace in missing]
    found = {source.name: source for source in known}
    for source in known:
        for name in _needed(source, list(newest.values())):
            found[name] = next(other for other in newest.values() if other.name == name)
    taken = {source.namespace for source in sources}
    return [
        DeployedFile(source.key, source.title, source.content)
        for source in found.values()
        if source.namespace not in taken
    ]


async def _deployed(store: Store, tenant: str) -> AsyncIterator[list[_Source]]:
    """Deployed files, the newest first, each together with those that it imports."""
    decisions = [each for each in await store.list_decisions(tenant=tenant) if each.tenant == tenant]
    seen: set[int] = set()
    for decision in sorted(decisions, key=lambda each: (each.deployed_at, each.key), reverse=True):
        group: list[_Source] = []
        for key in (decision.resource, *decision.imports):
            if key in seen or len(seen) >= FILES_LOOKED_AT_MAX:
                continue
            seen.add(key)
            content = await store.resource(key)
            if content is not None:
                title = decision.resource_name if key == decision.resource else f"import {key}"
                group.append(_Source(f"{title} ({key})", content, key=key, title=title))
        yield group


def decision_resources(
    files: Sequence[tuple[str, bytes]], keys: Keys, imported: Sequence[DeployedFile] = ()
) -> tuple[list[NewResource], list[InvalidModel]]:
    """The rows of DMN files, in the order given, and what is wrong with those that do not compile."""
    sources = {name: _Source(name, content) for name, content in files}
    refused = [
        InvalidModel(["another file of this name with other bytes stands in the deployment"], name=name)
        for name, content in files
        if sources[name].content != content
    ]
    deployed = [_Source(f"{each.name} ({each.key})", each.content, key=each.key) for each in imported]
    known = {**sources, **{source.name: source for source in deployed}}
    models, wrong = _compiled(list(known.values()))
    if refused or wrong:
        return [], [*refused, *wrong]
    needed = {name: _needed(source, list(known.values())) for name, source in known.items()}
    sums = checksums({name: source.content for name, source in known.items()}, needed)
    key_of = {name: source.key or keys.take() for name, source in known.items()}
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


def _compiled(sources: list[_Source]) -> tuple[dict[str, DecisionModel], list[InvalidModel]]:
    """The models by the names of their files, and what is wrong with those that do not compile."""
    models: dict[str, DecisionModel] = {}
    refused: list[InvalidModel] = []
    for source in _in_order(sources):
        try:
            models[source.name] = compile_resource(source.content, name=source.name, imports=models.values())
        except InvalidModel as error:
            refused.append(error)
    return models, refused


class _Source:
    """A file, its namespace, the namespaces that it imports, and the version tags of its decisions.

    ``key`` is that of a file that is deployed already.
    """

    def __init__(self, name: str, content: bytes, *, key: int = 0, title: str = "") -> None:
        self.name = name
        self.title = title or name
        self.content = content
        self.key = key
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
