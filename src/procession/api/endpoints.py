"""What can be asked of the server, as a table: method, path, who may, what comes in, what goes out.

One row serves a request, documents it (OpenAPI) and says how it is counted and audited. It serves nothing itself.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from enum import Enum
from typing import TYPE_CHECKING, Any

import msgspec

from procession.api.roles import Principal, Role

if TYPE_CHECKING:
    from procession.api.desk import Desk

JSON = "application/json"
NO_BODY = type(None)


class Load(Enum):
    """What a request costs the engine, for backpressure."""

    FREE = "free"  # reads, and what never touches an instance
    COMMAND = "command"  # counts against the limit of commands that are accepted and not answered
    EXEMPT = "exempt"  # ends work that is under way: never refused
    WAIT = "wait"  # waits for work (long polling); takes nothing while it waits


class Upload(msgspec.Struct, kw_only=True):
    """A part of a multipart body."""

    name: str
    filename: str
    content_type: str
    data: bytes


class Content(msgspec.Struct, kw_only=True):
    """An answer that is no JSON."""

    data: bytes
    media_type: str
    headers: dict[str, str] = {}


class Stream(msgspec.Struct, kw_only=True):
    """An answer that comes in pieces, for as long as its client is there. Its endpoint's answer is Content."""

    pieces: AsyncGenerator[bytes, None]
    media_type: str


class Call(msgspec.Struct, kw_only=True):
    """One request, whatever protocol brought it."""

    desk: Desk
    who: Principal
    path: Mapping[str, str] = {}
    query: Mapping[str, str] = {}
    body: Any = None
    uploads: list[Upload] = []
    last_event_id: str = ""  # of server-sent events: how far a client that comes back has heard
    answered: Callable[[], None] = lambda: None  # the command is done; what follows in the verb is waiting
    undo: list[Callable[[], None]] = []  # what to do when the answer does not reach its client
    about: dict[str, Any] = {}  # what the audit log is to know beyond the request: keys, before, after


Verb = Callable[[Call], Awaitable[Any]]


class Endpoint(msgspec.Struct, kw_only=True, frozen=True):
    """One row."""

    method: str
    path: str  # with {names}; a name that ends in Key is a key
    operation_id: str
    verb: Verb
    role: Role | None  # None: anybody, even without a name
    summary: str
    group: str
    body: Any = NO_BODY  # a type that msgspec decodes
    optional: bool = False  # the body may be left out
    multipart: bool = False
    answer: Any = NO_BODY  # a type that msgspec encodes, or Content
    status: int = 200  # 204 where there is no answer
    media_type: str = JSON
    problems: tuple[int, ...] = ()  # beyond those of every endpoint
    queries: tuple[str, ...] = ()
    load: Load = Load.FREE
    entity: str = ""  # what it changes, for the audit log; empty: it changes nothing
    documented: bool = True
    any_role: bool = False  # whoever has a name, whatever the roles

    @property
    def statuses(self) -> tuple[int, ...]:
        """Every status that an answer may have."""
        common = {401, 403, 500, 503} if self.role is not None else {500, 503}
        if "{" in self.path:
            common |= {400, 404}
        if self.body is not NO_BODY or self.multipart:
            common |= {400, 408, 413, 415}
        return tuple(sorted({self.status, *common, *self.problems}))
