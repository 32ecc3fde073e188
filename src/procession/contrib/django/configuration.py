"""The setting ``PROCESSION``, and the URL of the database that it means. It connects to nothing.

PROCESSION = {
    "DATABASE": "default",       # which of DATABASES; or
    "URL": "postgresql://...",   # a database of its own, which Django knows nothing of
    "URL_OPTIONS": {"schema": "procession", "pgbouncer": "1"},  # of the URL made from DATABASES
    "MODULES": ["jobs", "processes"],  # of each app: where handlers are registered
    "OPTIONS": {"history": "full", "slots": WorkerSettings(concurrency=4)},  # of Procession(...)
}
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast
from urllib.parse import quote, urlencode

import msgspec
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.db import connections

KEYS = {"DATABASE", "URL", "URL_OPTIONS", "MODULES", "OPTIONS"}
SCHEMES = {"sqlite": "sqlite", "postgresql": "postgresql", "mysql": "mysql"}
# Of DATABASES' OPTIONS: what libpq and asyncpg call alike. The others are about Django's own way with connections.
PASSED_ON = ("passfile", "service", "sslcert", "sslcrl", "sslkey", "sslmode", "sslrootcert")


class Configuration(msgspec.Struct, frozen=True, kw_only=True):
    """What ``PROCESSION`` says."""

    database: str = "default"
    url: str = ""
    url_options: Mapping[str, str] = {}
    modules: tuple[str, ...] = ("jobs", "processes")
    options: Mapping[str, Any] = {}


def read_configuration() -> Configuration:
    """The setting. Raises ImproperlyConfigured for what it cannot mean."""
    found: object = getattr(settings, "PROCESSION", {})
    if not isinstance(found, Mapping):
        message = f"Expected PROCESSION to be a dict, found {type(found).__name__}"
        raise ImproperlyConfigured(message)
    named = cast("Mapping[str, Any]", found)
    if unknown := sorted(named.keys() - KEYS):
        message = f"Expected PROCESSION to have {', '.join(sorted(KEYS))}, found '{unknown[0]}'"
        raise ImproperlyConfigured(message)
    if named.get("URL") and ("DATABASE" in named or "URL_OPTIONS" in named):
        message = "Expected PROCESSION to have either URL, or DATABASE and URL_OPTIONS, found both"
        raise ImproperlyConfigured(message)
    modules: object = named.get("MODULES", Configuration().modules)
    if isinstance(modules, str):
        message = f"Expected PROCESSION['MODULES'] to be a list of names, found the text '{modules}'"
        raise ImproperlyConfigured(message)
    return Configuration(
        database=named.get("DATABASE", "default"),
        url=named.get("URL", ""),
        url_options=named.get("URL_OPTIONS", {}),
        modules=tuple(cast("list[str]", modules)),
        options=named.get("OPTIONS", {}),
    )


def database_url(configuration: Configuration) -> str:
    """The URL of the database of now: Django's test runner changes names. Raises ImproperlyConfigured."""
    if configuration.url:
        return configuration.url
    connection = connections[configuration.database]
    values = connection.settings_dict
    name, options = str(values["NAME"] or ""), dict(configuration.url_options)
    if connection.vendor == "sqlite":
        return _sqlite_url(name, options)
    scheme = SCHEMES.get(connection.vendor)
    if scheme is None:
        message = (
            f"Expected DATABASES['{configuration.database}'] to be SQLite, PostgreSQL or MySQL, found "
            f"'{connection.vendor}': give Procession a database of its own with PROCESSION['URL']"
        )
        raise ImproperlyConfigured(message)
    host = str(values["HOST"] or "")
    if host.startswith("/"):  # the folder of a socket
        options, host = {"host": host, **options}, ""
    passed_on = {key: str(value) for key, value in values["OPTIONS"].items() if key in PASSED_ON}
    query = urlencode({**passed_on, **options})
    return f"{scheme}://{_user(values)}{_place(host, values)}/{quote(name, safe='')}{'?' if query else ''}{query}"


def _sqlite_url(name: str, options: Mapping[str, str]) -> str:
    """The URL of a file. Raises ImproperlyConfigured for a database in memory."""
    if not name or name == ":memory:" or name.startswith("file:"):
        message = (
            f"Expected a SQLite file for Procession, found '{name}': a database in memory is one connection's own. In "
            "tests use procession.testing.Rehearsal, or give the test database a NAME (DATABASES' TEST)"
        )
        raise ImproperlyConfigured(message)
    query = urlencode(options)
    return f"sqlite:///{name}{'?' if query else ''}{query}"


def _user(values: Mapping[str, Any]) -> str:
    """User and password, if there are any."""
    user, password = quote(str(values["USER"] or ""), safe=""), quote(str(values["PASSWORD"] or ""), safe="")
    if not user:
        return ""
    return f"{user}:{password}@" if password else f"{user}@"


def _place(host: str, values: Mapping[str, Any]) -> str:
    """Host and port, if there are any."""
    where = f"[{host}]" if ":" in host else host
    return f"{where}:{values['PORT']}" if values["PORT"] else where
