"""A database URL to a store: the only module that names a concrete one. It opens nothing.

memory://                                  in this process only; for tests
sqlite:///orders.db                        a file, relative to the working directory
sqlite:////var/lib/orders.db?synchronous=FULL
postgresql://user@host/database?schema=procession
postgresql://user@host/database?synchronous_commit=off     a loss of power may lose the last fraction of a second
mysql://user@host/database                 MariaDB or MySQL; mariadb:// is the same
mysql://user@host/database?ssl-mode=VERIFY_IDENTITY&ssl-ca=ca.pem
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit, urlunsplit

from procession.errors import Misconfigured
from procession.store._shared.migrations import SchemaScript
from procession.store.memory import MemoryStore
from procession.store.port import Clock, Store

StoreFactory = Callable[[], Store]

SQLITE_OPTIONS = frozenset({"synchronous"})
SECRET = re.compile(r"\b(password|sslpassword)=[^&]*")
POSTGRES_OPTIONS = frozenset({"schema", "pgbouncer", "synchronous_commit"})


def store_factory(url: str, *, clock: Clock | None = None) -> StoreFactory:
    """How to make a store for this URL; each call gives another connection to the same data.

    Raises Misconfigured for an unknown scheme or option; the message never repeats a password.
    """
    parts = _split(url)
    scheme = parts.scheme.partition("+")[0]
    options = dict(parse_qsl(parts.query, keep_blank_values=True))
    if scheme == "memory":
        store = MemoryStore(clock=clock)
        return lambda: store
    if scheme == "sqlite":
        return _sqlite(parts.netloc, parts.path, options, clock)
    if scheme in {"postgresql", "postgres"}:
        ours = {name: value for name, value in options.items() if name in POSTGRES_OPTIONS}
        rest = "&".join(part for part in parts.query.split("&") if part.partition("=")[0] not in POSTGRES_OPTIONS)
        return _postgres(urlunsplit(("postgresql", parts.netloc, parts.path, rest, "")), ours, clock)
    if scheme in {"mysql", "mariadb"}:
        return _mysql(url, clock)
    message = (
        "Expected a database URL that begins with memory://, sqlite:///, postgresql:// or mysql://, found the scheme "
        f"'{scheme}'"
    )
    raise Misconfigured(message)


def database_of(url: str) -> str:
    """The kind of database that a URL leads to: memory, sqlite, postgresql or mysql. Raises Misconfigured."""
    scheme = _split(url).scheme.partition("+")[0]
    return {"postgres": "postgresql", "mariadb": "mysql"}.get(scheme, scheme)


class Target(NamedTuple):
    """Where callers' own connections must lead to."""

    database: str  # the kind: memory, sqlite, postgresql, mysql
    place: str = ""  # the database's name or the file; empty: any, since the name given may be a pooler's own
    schema: str = ""


def target_of(url: str) -> Target:
    """What a URL leads to, as callers' connections can be compared with it. Raises Misconfigured."""
    parts, kind = _split(url), database_of(url)
    options = dict(parse_qsl(parts.query, keep_blank_values=True))
    if kind == "sqlite":
        return Target(kind, parts.path[1:])
    if kind == "postgresql":
        place = "" if _switch(options, "pgbouncer") else unquote(parts.path[1:])
        return Target(kind, place, options.get("schema", "procession"))
    if kind == "mysql":
        return Target(kind, unquote(parts.path[1:]))
    return Target(kind)


def schema_script(target: Target, now: int) -> SchemaScript | None:
    """The schema's migrations for a connection that is not ours; None where only the store itself can apply them."""
    match target.database:
        case "sqlite":
            from procession.store.sqlite import schema_script as of_sqlite  # noqa: PLC0415 - loaded where it is used

            return of_sqlite(now)
        case "postgresql":
            from procession.store.postgres import schema_script as of_postgres  # noqa: PLC0415 - the same

            return of_postgres(target.schema)
        case _:
            return None


def redacted(url: str) -> str:
    """The URL without its password, for people and logs. Raises Misconfigured."""
    parts = _split(url)
    netloc = parts.netloc
    if parts.password is not None:
        user, _, host = netloc.rpartition("@")
        netloc = f"{user.partition(':')[0]}:***@{host}"
    query = SECRET.sub(r"\1=***", parts.query)
    if (netloc, query) == (parts.netloc, parts.query):
        return url
    return urlunsplit((parts.scheme, netloc, parts.path, query, ""))


def _split(url: str) -> SplitResult:
    """The parts of a URL. Raises Misconfigured; the message never repeats it, for it may hold a password."""
    if not isinstance(url, str):  # pyright: ignore[reportUnnecessaryIsInstance] - what a caller gives
        message = f"Expected a database URL such as sqlite:///orders.db, found {type(url).__name__}"
        raise Misconfigured(message)
    try:
        return urlsplit(url)
    except ValueError as error:
        message = (
            f"Expected a database URL such as postgresql://user@host/database, found one that is not valid: {error}"
        )
        raise Misconfigured(message) from error


def _sqlite(host: str, path: str, options: dict[str, str], clock: Clock | None) -> StoreFactory:
    """A factory for a SQLite file."""
    from procession.store.sqlite import SqliteStore  # noqa: PLC0415 - a driver is loaded where it is used

    if host or len(path) < 2:
        message = "Expected sqlite:///file.db (relative) or sqlite:////absolute/file.db, with three or four slashes"
        raise Misconfigured(message)
    _known(options, SQLITE_OPTIONS, "sqlite")
    synchronous = options.get("synchronous", "NORMAL").upper()
    if synchronous == "NORMAL" or synchronous == "FULL":  # noqa: PLR1714 - narrows the type
        return lambda: SqliteStore(path[1:], clock=clock, synchronous=synchronous)
    message = f"Expected synchronous=NORMAL or synchronous=FULL, found '{options['synchronous']}'"
    raise Misconfigured(message)


def _postgres(url: str, options: dict[str, str], clock: Clock | None) -> StoreFactory:
    """A factory for a PostgreSQL database; options that are not ours go to the driver."""
    from procession.store.postgres import PostgresStore  # noqa: PLC0415 - a driver is loaded where it is used

    schema = options.get("schema", "procession")
    pgbouncer = _switch(options, "pgbouncer")
    commit = options.get("synchronous_commit", "on").lower()
    if commit not in {"on", "off"}:
        message = f"Expected synchronous_commit=on or synchronous_commit=off, found '{options['synchronous_commit']}'"
        raise Misconfigured(message)
    waits = commit == "on"
    return lambda: PostgresStore(url, clock=clock, schema=schema, pgbouncer=pgbouncer, synchronous_commit=waits)


def _mysql(url: str, clock: Clock | None) -> StoreFactory:
    """A factory for a database of MariaDB or MySQL, whose driver is an extra."""
    try:
        from procession.store.mysql import MysqlStore  # noqa: PLC0415 - a driver is loaded where it is used
    except ModuleNotFoundError as missing:
        if (missing.name or "").partition(".")[0] != "asyncmy":
            raise
        message = "The driver for MariaDB and MySQL is not installed: pip install 'procession[mysql]' brings it"
        raise Misconfigured(message) from missing
    MysqlStore(url, clock=clock)  # what is wrong with the URL is said now; nothing is opened
    return lambda: MysqlStore(url, clock=clock)


def _switch(options: dict[str, str], name: str) -> bool:
    """An option that is on or off; off by default. Raises Misconfigured."""
    found = options.get(name, "0").lower()
    if found in {"1", "true", "yes", "on"}:
        return True
    if found in {"0", "false", "no", "off"}:
        return False
    message = f"Expected {name}=1 or {name}=0, found '{options[name]}'"
    raise Misconfigured(message)


def _known(options: dict[str, str], allowed: frozenset[str], scheme: str) -> None:
    """Refuse options that would be ignored. Raises Misconfigured."""
    unknown = sorted(options.keys() - allowed)
    if unknown:
        message = f"Unknown option '{unknown[0]}' in a {scheme}: URL; known: {', '.join(sorted(allowed))}"
        raise Misconfigured(message)
