"""Who a request comes from: nobody in particular (local use), a person, a token, a token of an OpenID provider."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable

from procession.api.oidc import Oidc
from procession.api.problems import Problem
from procession.api.roles import Principal
from procession.api.settings import LOOPBACK, Settings
from procession.api.tokens import LOCAL, PREFIX, Credentials
from procession.errors import Misconfigured
from procession.store.port import Store

CHALLENGE = 'Basic realm="procession", charset="UTF-8", Bearer realm="procession"'


class Identity:
    """Recognises whoever comes."""

    def __init__(self, settings: Settings, store: Store, now_ms: Callable[[], int]) -> None:
        self._is_on = settings.identity
        self._credentials = Credentials(store)
        self._oidc = Oidc(settings.oidc) if settings.oidc is not None else None
        self._now_ms = now_ms

    async def who(self, authorization: str | None) -> Principal:
        """Who sends this header. Raises Problem (401), Unavailable."""
        if not self._is_on:
            return LOCAL
        if not authorization:
            raise _unauthorized("Expected an Authorization header, found none")
        scheme, _, rest = authorization.partition(" ")
        principal = None
        match scheme.lower():
            case "basic":
                principal = await self._of_basic(rest.strip())
            case "bearer":
                principal = await self._of_bearer(rest.strip())
            case _:
                raise _unauthorized("Expected an Authorization header of type Basic or Bearer")
        if principal is None:
            raise _unauthorized("The credentials are not known, or their time is over")
        return principal

    async def _of_basic(self, encoded: str) -> Principal | None:
        try:
            name, colon, password = base64.b64decode(encoded, validate=True).decode().partition(":")
        except (binascii.Error, UnicodeDecodeError, ValueError):
            return None
        if not colon or len(name) > 255 or len(password) > 1_024:
            return None
        if password.startswith(PREFIX):  # a token in the place of a password: clients that know only Basic
            return await self._credentials.of_token(password, self._now_ms())
        return await self._credentials.of_password(name, password, self._now_ms())

    async def _of_bearer(self, text: str) -> Principal | None:
        if text.startswith(PREFIX):
            return await self._credentials.of_token(text, self._now_ms()) if len(text) < 200 else None
        return await self._oidc.of_token(text) if self._oidc is not None else None


def check_binding(settings: Settings) -> None:
    """Without identity only the loopback is bound. Raises Misconfigured."""
    hosts = [settings.host] if settings.grpc is None else [settings.host, settings.grpc.host]
    strange = [host for host in hosts if host not in LOOPBACK]
    if not settings.identity and strange:
        raise Misconfigured(
            f"Expected a loopback address to bind without identity, found '{strange[0]}': everybody who can reach "
            "the server would be its admin. Create a token (`procession tokens create`) and leave --no-identity out"
        )


def _unauthorized(detail: str) -> Problem:
    return Problem(401, detail, headers={"WWW-Authenticate": CHALLENGE})
