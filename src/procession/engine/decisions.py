"""Deployed decisions at hand: which version a business rule task means now, compiled once per file. It decides nothing.

``find`` is what the rules of processes call while they decide: it never waits. ``outdated`` says what to find out
before a step of a process begins: what its tasks name, and what its expressions have named before. A decision that an
expression names for the first time is found out by the rules' question (``DecisionNotAtHand``).
"""

from __future__ import annotations

import hashlib
import logging
import time
from collections.abc import Callable, Iterable, Mapping
from math import inf
from typing import Protocol, TypeVar

from procession.core.elements.decisions import request_of
from procession.core.surroundings import DecisionNotAtHand, DecisionRequest, DeployedDecision
from procession.dmn import DecisionModel, compile_resources
from procession.engine.cells import Cell
from procession.engine.definitions import Definitions
from procession.engine.lane import Lane, Patience
from procession.errors import Bug, InvalidModel, Unavailable
from procession.limits import CLAIM_MAX
from procession.model.definition import Definition
from procession.model.expressions import Static
from procession.store.port import Store
from procession.store.rows import StoredDecision

K = TypeVar("K")
V = TypeVar("V")

logger = logging.getLogger("procession.engine")

NAMED_MAX = 1_000  # decisions that the expressions of one process have named and that are found out before each step


class Decisions:
    """The cache."""

    def __init__(self, store: Store, definitions: Definitions, count_max: int, *, latest_s: float) -> None:
        self._store = store
        self._definitions = definitions
        self._count_max = count_max
        self._latest_s = latest_s
        self._found: dict[DecisionRequest, tuple[DeployedDecision | None, float]] = {}  # with until when it is good
        self._models: dict[int, DecisionModel] = {}  # by resource
        self._asked: dict[int, dict[DecisionRequest, None]] = {}  # by process version: what its tasks ask for

    def find(self, request: DecisionRequest) -> DeployedDecision | None:
        """The decision as it was found out; None if it is not deployed. Raises DecisionNotAtHand."""
        found = self._found.get(request)
        if found is None:
            raise DecisionNotAtHand(request)
        return found[0]

    def outdated(self, definition: Definition) -> list[DecisionRequest]:
        """What to find out (again) before a step of this process."""
        asked = self._asked.get(definition.key)
        if asked is None:
            asked = self._asked[definition.key] = dict.fromkeys(named_by(definition))
        now = time.monotonic()
        return [request for request in asked if self._found.get(request, (None, 0.0))[1] <= now]

    async def ensure(self, requests: Iterable[DecisionRequest]) -> None:
        """Find these out. Raises Unavailable."""
        for request in requests:
            asked = self._asked.setdefault(request.definition, {})
            if len(asked) >= NAMED_MAX:
                asked.clear()
            asked[request] = None
            try:
                found = await self._look_up(request)
            except Bug as error:  # a file that is gone or does not compile any more: for its callers it is not there
                logger.error("%s", error)  # noqa: TRY400 - the message says it all
                found = None
            exact = found is not None and request.binding in {"version", "deployment"}
            self._found.pop(request, None)
            self._found[request] = (found, inf if exact else time.monotonic() + self._latest_s)
        _bound(self._found, max(self._count_max, NAMED_MAX))
        _bound(self._asked, self._count_max)

    def forget_latest(self) -> None:
        """Something was deployed."""
        for request, (found, until) in self._found.items():
            if until < inf:
                self._found[request] = (found, 0.0)

    async def _look_up(self, request: DecisionRequest) -> DeployedDecision | None:
        """Which version is meant now, compiled."""
        deployment = 0
        if request.binding == "deployment":
            deployment = await self._definitions.deployment_of(request.definition)
        stored = await self._store.find_decision(
            request.decision_id,
            version=request.version if request.binding == "version" else 0,
            version_tag=request.version_tag if request.binding == "versionTag" else "",
            deployment=deployment,
            tenant=request.tenant,
        )
        if stored is None:
            return None
        model = await self._model(stored)
        return DeployedDecision(stored.key, stored.version, stored.decision_id, model)

    async def _model(self, stored: StoredDecision) -> DecisionModel:
        """The compiled file of a decision. Raises Bug when it is not there or does not compile any more."""
        known = self._models.get(stored.resource)
        if known is not None:
            return known
        contents: dict[str, bytes] = {}
        for key in (stored.resource, *stored.imports):
            content = await self._store.resource(key)
            if content is None:
                raise Bug(f"Resource {key} of decision '{stored.decision_id}' is not in the database")
            contents[str(key)] = content
        try:
            model = compile_resources(contents)[str(stored.resource)]
        except InvalidModel as error:
            what = f"Decision '{stored.decision_id}' version {stored.version}"
            raise Bug(f"{what} does not compile any more: {error}") from error
        self._models[stored.resource] = model
        _bound(self._models, self._count_max)
        return model


def named_by(definition: Definition) -> list[DecisionRequest]:
    """The decisions that a process' tasks name, expressions apart."""
    return [
        request_of(definition, element.decision, str(element.decision.decision_id.value))
        for element in definition.elements
        if element.decision is not None and isinstance(element.decision.decision_id, Static)
    ]


def checksums(contents: Mapping[str, bytes], imports: Mapping[str, set[str]]) -> dict[str, str]:
    """The sha-256 of each file with all that it imports, by name; ``imports`` hold the indirect ones too."""
    found: dict[str, str] = {}
    for name in contents:
        digest = hashlib.sha256(contents[name])
        for other in sorted(hashlib.sha256(contents[each]).hexdigest() for each in imports.get(name, ())):
            digest.update(other.encode())
        found[name] = digest.hexdigest()
    return found


def _bound(table: dict[K, V], count_max: int) -> None:
    """Drop the oldest."""
    while len(table) > count_max:
        del table[next(iter(table))]


class Advised(Protocol):
    """Whoever is told that decisions were found out."""

    def advised(self, cell: Cell) -> None:
        """What the cell's process asks for is at hand."""
        ...

    def unreadable(self, cell: Cell, error: Exception) -> None:
        """A defect kept it from being found out."""
        ...

    def expire(self, cells: list[Cell], error: Exception) -> None:
        """The database does not answer yet: tell impatient callers."""
        ...


class Adviser:
    """The lane on which cells wait for decisions."""

    def __init__(self, decisions: Decisions, advised: Advised, chance: Callable[[], float]) -> None:
        self._decisions = decisions
        self._advised = advised
        self._chance = chance
        self.lane: Lane[tuple[Cell, list[DecisionRequest]]] = Lane("decisions", self._find_out, count_max=CLAIM_MAX)

    async def _find_out(self, batch: list[tuple[Cell, list[DecisionRequest]]]) -> None:
        """Each request once."""
        patience = Patience(self._chance)
        cells = [cell for cell, _ in batch]
        done: dict[DecisionRequest, Exception | None] = {}
        for cell, requests in batch:
            for request in requests:
                if request not in done:
                    done[request] = await self._find_one(request, cells, patience)
            failed = next((error for request in requests if (error := done[request]) is not None), None)
            if failed is not None:
                self._advised.unreadable(cell, failed)
            else:
                self._advised.advised(cell)

    async def _find_one(self, request: DecisionRequest, cells: list[Cell], patience: Patience) -> Exception | None:
        """One request, repeated while the database does not answer; a defect, if there is one."""
        while True:
            try:
                await self._decisions.ensure([request])
            except Unavailable as error:
                self._advised.expire(cells, error)
                await patience.pause()
            except Exception as error:
                logger.exception("decision '%s'", request.decision_id)
                return error
            else:
                return None
