"""A URL taken apart: the server, who we are there, and how the way to it is protected. It connects nothing.

    mysql://user:password@host:3306/database?ssl-mode=VERIFY_IDENTITY&ssl-ca=/etc/ssl/our-ca.pem
    mysql://user@localhost/database?unix_socket=/run/mysqld/mysqld.sock

``ssl-mode`` is that of MySQL's own clients: DISABLED, REQUIRED (encrypted, whoever answers), VERIFY_CA or
VERIFY_IDENTITY.
"""

from __future__ import annotations

import ssl
from typing import Any, Final
from urllib.parse import parse_qsl, unquote, urlsplit

from procession.errors import Misconfigured

PORT: Final = 3306
MODES: Final = ("DISABLED", "REQUIRED", "VERIFY_CA", "VERIFY_IDENTITY")
OPTIONS: Final = ("ssl-mode", "ssl-ca", "ssl-cert", "ssl-key", "unix_socket")


class Address:
    """Where the database is. Its text never holds the password."""

    __slots__ = ("_password", "database", "host", "port", "socket", "tls", "user")

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        options = {
            name.replace("_", "-") if name.startswith("ssl") else name: value
            for name, value in parse_qsl(parts.query, keep_blank_values=True)
        }
        unknown = sorted(options.keys() - set(OPTIONS))
        if unknown:
            raise Misconfigured(f"Unknown option {unknown[0]!r} in a mysql: URL; known: {', '.join(OPTIONS)}")
        try:
            self.port = parts.port or PORT
        except ValueError as error:
            raise Misconfigured(f"Expected a port as a number in the mysql: URL: {error}") from error
        self.host = parts.hostname or "localhost"
        self.user = unquote(parts.username) if parts.username else None
        self._password = unquote(parts.password) if parts.password else ""
        self.database = unquote(parts.path.removeprefix("/"))
        self.socket = options.get("unix_socket")
        if not self.database or "/" in self.database:
            raise Misconfigured("Expected one database in the mysql: URL, as in mysql://user@host/database")
        self.tls = _tls(options)

    def __str__(self) -> str:
        """The server, for people."""
        return self.socket or f"{self.host}:{self.port}"

    __repr__ = __str__

    def arguments(self) -> dict[str, Any]:
        """What the driver is told."""
        found: dict[str, Any] = {
            "user": self.user,
            "password": self._password.encode(),
            "host": self.host,
            "port": self.port,
            "database": self.database,
            "unix_socket": self.socket,
        }
        return found | ({"ssl": self.tls} if self.tls else {})


def _tls(options: dict[str, str]) -> ssl.SSLContext | None:
    authority = options.get("ssl-ca")
    mode = options.get("ssl-mode", "VERIFY_CA" if authority else "REQUIRED" if "ssl-cert" in options else "DISABLED")
    mode = mode.upper().replace("-", "_")
    if mode not in MODES:
        raise Misconfigured(f"Expected ssl-mode to be one of {', '.join(MODES)}, got {mode!r}")
    if mode == "DISABLED":
        if left := sorted(name for name in options if name.startswith("ssl-") and name != "ssl-mode"):
            raise Misconfigured(f"Expected no {left[0]} with ssl-mode=DISABLED")
        return None
    try:
        context = ssl.create_default_context(cafile=authority)
        context.check_hostname = mode == "VERIFY_IDENTITY"
        context.verify_mode = ssl.CERT_NONE if mode == "REQUIRED" else ssl.CERT_REQUIRED
        if "ssl-cert" in options:
            context.load_cert_chain(options["ssl-cert"], options.get("ssl-key"))
    except (OSError, ssl.SSLError) as error:
        raise Misconfigured(f"The certificates of the mysql: URL cannot be used: {error}") from error
    return context
