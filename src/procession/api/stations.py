"""One request through its stations, whatever protocol brought it: who, may they, is there room, the verb, written down.

HTTP (``web``) and gRPC (``gateway``) decode and encode around it. It knows neither.
"""

from __future__ import annotations

import logging
import uuid
from typing import Any

from procession.api.admission import Gate
from procession.api.audit import Auditor
from procession.api.desk import Desk
from procession.api.endpoints import Call, Endpoint
from procession.api.identity import Identity
from procession.api.metrics import Metrics
from procession.api.problems import Problem, problem_of
from procession.api.roles import Principal, Role
from procession.api.settings import Settings
from procession.api.spans import Spans
from procession.errors import Unavailable

logger = logging.getLogger("procession.api")

NOBODY = Principal(name="", roles=frozenset(), tenants=frozenset())  # asks for what anybody may see


class Stations:
    """Of one server."""

    def __init__(self, desk: Desk, settings: Settings, gate: Gate, spans: Spans) -> None:
        app = desk.app
        self.spans = spans
        self.desk = desk
        self.gate = gate
        self._auditor = Auditor(app, jobs=settings.audit_jobs)
        self._identity = Identity(settings, app.rows, lambda: app.now)
        self.metrics = Metrics(app, gate.admission, self._auditor)

    async def who(self, authorization: str | None, endpoint: Endpoint) -> Principal:
        """Who comes with this header, if they may ask for this. Raises Problem (401, 403), Unavailable."""
        if endpoint.role is None:
            return NOBODY
        return await self.who_may(authorization, None if endpoint.any_role else endpoint.role)

    async def who_may(self, authorization: str | None, role: Role | None) -> Principal:
        """The same, by the role that is needed; None: any."""
        who = await self._identity.who(authorization)
        if role is not None and not who.may(role):
            raise Problem(403, f"'{who.name}' needs the role '{role.value}' for this, or one that includes it")
        return who

    async def do(self, endpoint: Endpoint, call: Call) -> Any:  # noqa: ANN401 - the verb's answer
        """Let in, do, write down. Raises what the verb raises, and Problem (503) where there is no room."""
        entered = await self.gate.enter(endpoint.load)
        call.answered = entered.answered
        try:
            if not self._auditor.concerns(endpoint):
                return await endpoint.verb(call)
            return await self._audited(endpoint, call)
        except Unavailable:
            entered.answered(dropped=True)
            raise
        finally:
            entered.answered()

    async def _audited(self, endpoint: Endpoint, call: Call) -> Any:  # noqa: ANN401 - the verb's answer
        """Do it, and write down what was done or refused."""
        before = await self._auditor.before(call, endpoint)
        try:
            result = await endpoint.verb(call)
        except Exception as error:
            await self._auditor.write(call, endpoint, before, error)
            raise
        await self._auditor.write(call, endpoint, before, None)
        return result


def problem_for(error: BaseException, what: str) -> Problem:
    """The problem that an exception stands for; of a defect no more than a number to look it up by in the log."""
    problem = problem_of(error)
    if problem is None:
        number = uuid.uuid4().hex[:12]
        logger.error("a request to %s failed (%s)", what, number, exc_info=error)
        problem = Problem(500, f"Something is wrong with the server; its log knows more under {number}")
    return problem
