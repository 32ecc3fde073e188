"""API tokens and people's passwords: made, listed, revoked, recognised. Only their digests are stored.

A token is 256 bits of chance, so a plain digest of it is enough; a password is not, so it goes through scrypt.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import os
import secrets
import time
from collections.abc import Awaitable, Callable
from datetime import datetime

import msgspec

from procession.api.roles import Principal, Role, roles_of, tenant_of
from procession.app import arguments
from procession.app.procession import Procession
from procession.errors import Conflict, NotFound
from procession.jobs.schedule import to_datetime
from procession.store.port import Store
from procession.store.rows.keeping import Kept

PREFIX = "prc_"
TOKEN, USER = "token", "user"
REMEMBERED_S = 5.0  # how long what was recognised is not looked up again: a revoked token works on for so long at most
REMEMBERED_MAX = 10_000
SCRYPT = {"n": 2**14, "r": 8, "p": 1}
MOST = 10_000  # of one kind


LookUp = Callable[[str, str, int], Awaitable[Principal | None]]


class Credential(msgspec.Struct, kw_only=True):
    """What is stored of a token or a person."""

    name: str
    roles: list[str]
    tenants: list[str] | None  # None: all
    expires_at: int = 0  # milliseconds since the epoch; 0: never
    salt: bytes = b""
    password: bytes = b""  # scrypt of it; empty: a token


class Known(msgspec.Struct, kw_only=True, rename="camel"):
    """What is shown of a token or a person."""

    key: int
    kind: str
    name: str
    roles: list[str]
    tenants: list[str] | None
    created_at: datetime
    expires_at: datetime | None


async def create_token(
    app: Procession, name: str, roles: list[str], *, tenants: list[str] | None = None, expires_ms: int = 0
) -> tuple[Known, str]:
    """A new token, and its text, which nobody can read again. Raises InvalidValue, Conflict for a name in use."""
    text = PREFIX + secrets.token_urlsafe(32)
    expires_at = app.now + expires_ms if expires_ms else 0
    credential = _credential(name, roles, tenants, expires_at)
    return await _keep(app, TOKEN, credential, _digest(text)), text


async def create_user(
    app: Procession, name: str, password: str, roles: list[str], *, tenants: list[str] | None = None
) -> Known:
    """A person who comes with name and password. Raises InvalidValue, Conflict for a name in use."""
    arguments.name(password, "a password")
    credential = _credential(name, roles, tenants, 0)
    credential.salt = os.urandom(16)
    credential.password = await asyncio.to_thread(_scrypt, password, credential.salt)
    return await _keep(app, USER, credential, name)


def _credential(name: str, roles: list[str], tenants: list[str] | None, expires_at: int) -> Credential:
    arguments.name(name, "the name of a token or user")
    roles_of(roles)
    given = None if tenants is None else [tenant_of(each) for each in arguments.names(tenants, "tenants")]
    return Credential(name=name, roles=roles, tenants=given, expires_at=expires_at)


async def _keep(app: Procession, kind: str, credential: Credential, name: str) -> Known:
    for known in await known_credentials(app, kind):
        if known.name == credential.name:
            raise Conflict(f"There is a {kind} '{credential.name}' already: revoke it first")
    row = Kept(kind=kind, key=await app.new_key(), name=name, body=msgspec.msgpack.encode(credential))
    await app.rows.keep([row])
    (kept,) = await app.rows.kept(kind, key=row.key)
    return _known(kept)


async def known_credentials(app: Procession, kind: str) -> list[Known]:
    """All tokens, or all people."""
    return [_known(row) for row in await app.rows.kept(kind, limit=MOST)]


async def revoke(app: Procession, kind: str, name: str) -> None:
    """It is recognised no more, within REMEMBERED_S everywhere. Raises NotFound."""
    keys = [known.key for known in await known_credentials(app, kind) if known.name == name]
    if not keys:
        raise NotFound(f"Expected a {kind} named '{name}', found none")
    await app.rows.forget_kept(kind, keys=keys)


def _known(row: Kept) -> Known:
    credential = msgspec.msgpack.decode(row.body, type=Credential)
    return Known(
        key=row.key,
        kind=row.kind,
        name=credential.name,
        roles=credential.roles,
        tenants=credential.tenants,
        created_at=to_datetime(row.created_at),
        expires_at=to_datetime(credential.expires_at) if credential.expires_at else None,
    )


class Credentials:
    """Recognises tokens and people; what was recognised is remembered for a moment, under a key of this process."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._secret = os.urandom(32)
        self._checking = asyncio.Semaphore(2)
        self._remembered: dict[bytes, tuple[float, Principal | None]] = {}

    async def of_token(self, text: str, now_ms: int) -> Principal | None:
        """Whose token this is; None for nobody's."""
        return await self._recalled(f"token:{text}", self._look_up_token, text, "", now_ms)

    async def of_password(self, name: str, password: str, now_ms: int) -> Principal | None:
        """Who this is; None for nobody. The same time passes for a wrong name as for a wrong password."""
        return await self._recalled(f"user:{name}:{password}", self._look_up_user, name, password, now_ms)

    async def _recalled(self, what: str, look_up: LookUp, first: str, second: str, now_ms: int) -> Principal | None:
        mark = hmac.digest(self._secret, what.encode(errors="replace"), "sha256")
        known = self._remembered.get(mark)
        now = time.monotonic()
        if known is not None and now - known[0] < REMEMBERED_S:
            return known[1]
        found = await look_up(first, second, now_ms)
        if len(self._remembered) >= REMEMBERED_MAX:
            self._remembered.clear()
        self._remembered[mark] = (now, found)
        return found

    async def _look_up_token(self, text: str, _: str, now_ms: int) -> Principal | None:
        rows = await self._store.kept(TOKEN, name=_digest(text), limit=1)
        return _principal(rows[0], now_ms, "token") if rows else None

    async def _look_up_user(self, name: str, password: str, now_ms: int) -> Principal | None:
        rows = await self._store.kept(USER, name=name, limit=1) if name and "\0" not in name else []
        credential = msgspec.msgpack.decode(rows[0].body, type=Credential) if rows else _NOBODY
        async with self._checking:  # scrypt is work: a flood of wrong passwords takes two threads, not all
            given = await asyncio.to_thread(_scrypt, password, credential.salt)
        if not rows or not hmac.compare_digest(given, credential.password):
            return None
        return _principal(rows[0], now_ms, "basic")


_NOBODY = Credential(name="", roles=[], tenants=[], salt=b"0123456789abcdef", password=b"")


def _principal(row: Kept, now_ms: int, how: str) -> Principal | None:
    credential = msgspec.msgpack.decode(row.body, type=Credential)
    if credential.expires_at and credential.expires_at <= now_ms:
        return None
    tenants = None if credential.tenants is None else frozenset(credential.tenants)
    return Principal(name=credential.name, roles=roles_of(credential.roles), tenants=tenants, how=how)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode(errors="replace")).hexdigest()


def _scrypt(password: str, salt: bytes) -> bytes:
    return hashlib.scrypt(password.encode(errors="replace"), salt=salt, **SCRYPT)


LOCAL = Principal(name="local", roles=frozenset({Role.ADMIN}))
