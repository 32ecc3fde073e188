"""Bearer tokens of an OpenID provider: signature, issuer, audience and time are checked; its keys are read and rotate.

Only asymmetric algorithms are taken, so that nobody can sign with what everybody may read. It stores nothing.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
import urllib.request
from typing import Any, cast
from urllib.parse import urlsplit

import jwt

from procession.api.roles import Principal, Role, tenant_of
from procession.api.settings import LOOPBACK, OidcSettings
from procession.errors import Misconfigured, Unavailable

logger = logging.getLogger("procession.api")

ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"]
FETCH_S = 5.0
DOCUMENT_BYTES_MAX = 1024 * 1024
AGAIN_S = 10.0  # keys are not read more often for key ids that nobody knows
TOKEN_CHARS_MAX = 16_384


class Oidc:
    """Recognises an issuer's tokens."""

    def __init__(self, settings: OidcSettings) -> None:
        _must_be_safe(settings.issuer, "issuer")
        self._settings = settings
        self._keys: dict[str, jwt.PyJWK] = {}
        self._read_at = float("-inf")
        self._reading = asyncio.Lock()

    async def of_token(self, text: str) -> Principal | None:
        """Whose token this is; None for one that does not hold. Raises Unavailable where keys cannot be read."""
        if len(text) > TOKEN_CHARS_MAX:
            return None
        try:
            key = await self._key(str(jwt.get_unverified_header(text).get("kid", "")))
            if key is None:
                return None
            claims = jwt.decode(
                text,
                key,
                algorithms=ALGORITHMS,
                issuer=self._settings.issuer,
                audience=self._settings.audience,
                leeway=self._settings.leeway_s,
                options={"require": ["exp", "iss", "aud", "sub"]},
            )
        except jwt.PyJWTError as error:
            logger.info("a bearer token was refused: %s", type(error).__name__)
            return None
        return self._principal(claims)

    def _principal(self, claims: dict[str, Any]) -> Principal:
        names = _texts(_at(claims, self._settings.roles_claim))
        known = {role.value: role for role in Role}
        tenants = _at(claims, self._settings.tenants_claim)
        seen = [""] if tenants is None else [tenant_of(each) for each in _texts(tenants)]
        name = claims.get("preferred_username") or claims.get("client_id") or claims["sub"]
        return Principal(
            name=str(name)[:255],
            roles=frozenset(known[each] for each in names if each in known),
            tenants=None if "*" in seen else frozenset(seen),
            how="oidc",
        )

    async def _key(self, kid: str) -> jwt.PyJWK | None:
        """The key with this id; the issuer is asked again when it is not known, or when the keys are old."""
        now = time.monotonic()
        is_old = now - self._read_at > self._settings.keys_s
        if is_old or (kid not in self._keys and now - self._read_at > AGAIN_S):
            async with self._reading:
                if self._read_at < now:
                    await self._read()
        return self._keys.get(kid)

    async def _read(self) -> None:
        """Read the issuer's keys; while it does not answer, those that are known are used on."""
        try:
            self._keys = await asyncio.to_thread(self._fetch_keys)
        except (OSError, ValueError, KeyError, jwt.PyJWTError) as error:
            logger.warning("the keys of %s cannot be read: %s", self._settings.issuer, error)
            if not self._keys:
                raise Unavailable("The issuer of bearer tokens does not answer: try again later") from error
        self._read_at = time.monotonic()

    def _fetch_keys(self) -> dict[str, jwt.PyJWK]:
        described = _fetch(self._settings.issuer.rstrip("/") + "/.well-known/openid-configuration")
        if described.get("issuer") != self._settings.issuer:
            raise ValueError(f"it says that it is '{str(described.get('issuer'))[:200]}'")
        where = str(described["jwks_uri"])
        _must_be_safe(where, "jwks_uri")
        found: dict[str, jwt.PyJWK] = {}
        for each in cast("list[dict[str, Any]]", _fetch(where).get("keys", [])):
            try:
                key = jwt.PyJWK(each)
            except jwt.PyJWTError:
                continue  # of a kind that is not known here
            if each.get("kty") != "oct" and each.get("use", "sig") == "sig":
                found[str(each.get("kid", ""))] = key
        return found


def _fetch(url: str) -> dict[str, Any]:
    with urllib.request.urlopen(url, timeout=FETCH_S) as answer:  # noqa: S310 - https, or the loopback
        return cast("dict[str, Any]", json.loads(answer.read(DOCUMENT_BYTES_MAX)))


def _must_be_safe(url: str, what: str) -> None:
    """Nobody may read along or answer instead. Raises Misconfigured."""
    parts = urlsplit(url)
    if parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in LOOPBACK):
        return
    raise Misconfigured(f"Expected the {what} of an OpenID provider as an https:// URL, found '{url[:200]}'")


def _at(claims: dict[str, Any], path: str) -> Any:  # noqa: ANN401 - any claim
    """The claim at a dotted path; None where there is none."""
    found: Any = claims
    for name in path.split("."):
        found = cast("dict[str, Any]", found).get(name) if isinstance(found, dict) else None
    return found


def _texts(value: Any) -> list[str]:  # noqa: ANN401 - any claim
    """A list of texts, or a text of them with blanks between."""
    if isinstance(value, str):
        return value.split()
    return [each for each in cast("list[Any]", value) if isinstance(each, str)] if isinstance(value, list) else []
