"""Deployed decisions and forms at hand: which version a task means now, decisions compiled once per file.

It decides nothing. ``find`` and ``find_form`` are what the rules of processes call while they decide: they never
wait. ``outdated`` says what to find out before a step of a process begins: what its tasks name, and what its
expressions have named before. What an expression names for the first time is found out by the rules' question
(``NotAtHand``).
"""

from __future__ import annotations

import hashlib
import logging
import time
from collections.abc import Callable, Iterable, Mapping
from math import inf
from typing import Protocol, TypeVar

from procession.core.elements.decisions import request_of
from procession.core.elements.tasks import form_request
from procession.core.surroundings import DecisionRequest, DeployedDecision, DeployedForm, FormRequest, NotAtHand
from procession.dmn import DecisionModel, compile_resources
from procession.engine.cells import Cell
from procession.engine.definitions import Definitions
from procession.engine.lane import Lane, Patience
from procession.errors import Bug, InvalidModel, Unavailable
from procession.limits import CLAIM_MAX
from procession.model.definition import Definition, Kind
from procession.model.expressions import Static
from procession.store.port import Store
from procession.store.rows import StoredDecision

Request = DecisionRequest | FormRequest

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
        self._forms: dict[FormRequest, tuple[DeployedForm | None, float]] = {}
        self._models: dict[int, DecisionModel] = {}  # by resource
        self._asked: dict[int, dict[Request, None]] = {}  # by process version: what its tasks ask for

    def find(self, request: DecisionRequest) -> DeployedDecision | None:
        """The decision as it was found out; None if it is not deployed. Raises NotAtHand."""
        found = self._found.get(request)
        if found is None:
            raise NotAtHand(request)
        return found[0]

    def find_form(self, request: FormRequest) -> DeployedForm | None:
        """The form as it was found out; None if it is not deployed. Raises NotAtHand."""
        found = self._forms.get(request)
        if found is None:
            raise NotAtHand(request)
        return found[0]

    async def form_of(self, request: FormRequest) -> DeployedForm | None:
        """The form that is meant now. Raises Unavailable."""
        return await self._look_up_form(request)

    def outdated(self, definition: Definition) -> list[Request]:
        """What to find out (again) before a step of this process."""
        asked = self._asked.get(definition.key)
        if asked is None:
            asked = self._asked[definition.key] = dict.fromkeys(named_by(definition))
        now = time.monotonic()
        return [request for request in asked if self._until(request) <= now]

    def _until(self, request: Request) -> float:
        """Until when what was found out is good."""
        known = self._forms.get(request) if isinstance(request, FormRequest) else self._found.get(request)
        return known[1] if known is not None else 0.0

    async def ensure(self, requests: Iterable[Request]) -> None:
        """Find these out. Raises Unavailable."""
        for request in requests:
            asked = self._asked.setdefault(request.definition, {})
            if len(asked) >= NAMED_MAX:
                asked.clear()
            asked[request] = None
            if isinstance(request, FormRequest):
                form = await self._look_up_form(request)
                self._forms.pop(request, None)
                self._forms[request] = (form, time.monotonic() + self._latest_s)  # even an exact one may be deleted
                continue
            try:
                found = await self._look_up(request)
            except Bug as error:  # a file that is gone or does not compile any more: for its callers it is not there
                logger.error("%s", error)  # noqa: TRY400 - the message says it all
                found = None
            exact = found is not None and request.binding in {"version", "deployment"}
            self._found.pop(request, None)
            self._found[request] = (found, inf if exact else time.monotonic() + self._latest_s)
        _bound(self._found, max(self._count_max, NAMED_MAX))
        _bound(self._forms, max(self._count_max, NAMED_MAX))
        _bound(self._asked, self._count_max)

    def forget_latest(self) -> None:
        """Something was deployed, or deleted."""
        for request, (found, until) in self._found.items():
            if until < inf:
                self._found[request] = (found, 0.0)
        for request, (form, _) in self._forms.items():
            self._forms[request] = (form, 0.0)

    async def _look_up_form(self, request: FormRequest) -> DeployedForm | None:
        """Which version is meant now."""
        deployment = 0
        if request.binding == "deployment":
            deployment = await self._definitions.deployment_of(request.definition)
        stored = await self._store.find_form(
            request.form_id,
            version=request.version,
            version_tag=request.version_tag,
            deployment=deployment,
            tenant=request.tenant,
        )
        return DeployedForm(stored.key, stored.version) if stored is not None else None

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


def named_by(definition: Definition) -> list[Request]:
    """The decisions and forms that a process' tasks name, expressions apart."""
    named: list[Request] = []
    for element in definition.elements:
        decision, task = element.decision, element.user_task
        if decision is not None and isinstance(decision.decision_id, Static):
            named.append(request_of(definition, decision, str(decision.decision_id.value)))
        if element.kind == Kind.USER_TASK and task is not None and isinstance(task.form_id, Static):
            named.append(form_request(definition, task, str(task.form_id.value)))
    return named


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
        self.lane: Lane[tuple[Cell, list[Request]]] = Lane("decisions", self._find_out, count_max=CLAIM_MAX)

    async def _find_out(self, batch: list[tuple[Cell, list[Request]]]) -> None:
        """Each request once."""
        patience = Patience(self._chance)
        cells = [cell for cell, _ in batch]
        done: dict[Request, Exception | None] = {}
        for cell, requests in batch:
            for request in requests:
                if request not in done:
                    done[request] = await self._find_one(request, cells, patience)
            failed = next((error for request in requests if (error := done[request]) is not None), None)
            if failed is not None:
                self._advised.unreadable(cell, failed)
            else:
                self._advised.advised(cell)

    async def _find_one(self, request: Request, cells: list[Cell], patience: Patience) -> Exception | None:
        """One request, repeated while the database does not answer; a defect, if there is one."""
        while True:
            try:
                await self._decisions.ensure([request])
            except Unavailable as error:
                self._advised.expire(cells, error)
                await patience.pause()
            except Exception as error:
                logger.exception("%s", request)
                return error
            else:
                return None
