"""A database URL to a store: the only module that names a concrete one. It opens nothing.

memory://                                  in this process only; for tests
sqlite:///orders.db                        a file, relative to the working directory
sqlite:////var/lib/orders.db?synchronous=FULL
postgresql://user@host/database?schema=procession
postgresql://user@host/database?synchronous_commit=off     a loss of power may lose the last fraction of a second
"""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import parse_qsl, urlsplit, urlunsplit

from procession.errors import Misconfigured
from procession.store.memory import MemoryStore
from procession.store.port import Clock, Store

StoreFactory = Callable[[], Store]

SQLITE_OPTIONS = frozenset({"synchronous"})
POSTGRES_OPTIONS = frozenset({"schema", "pgbouncer", "synchronous_commit"})


def store_factory(url: str, *, clock: Clock | None = None) -> StoreFactory:
    """How to make a store for this URL; each call gives another connection to the same data.

    Raises Misconfigured for an unknown scheme or option; the message never repeats a password.
    """
    parts = urlsplit(url)
    scheme = parts.scheme.partition("+")[0]
    options = dict(parse_qsl(parts.query))
    if scheme == "memory":
        store = MemoryStore(clock=clock)
        return lambda: store
    if scheme == "sqlite":
        return _sqlite(parts.netloc, parts.path, options, clock)
    if scheme in {"postgresql", "postgres"}:
        ours = {name: value for name, value in options.items() if name in POSTGRES_OPTIONS}
        rest = "&".join(part for part in parts.query.split("&") if part.partition("=")[0] not in POSTGRES_OPTIONS)
        return _postgres(urlunsplit(("postgresql", parts.netloc, parts.path, rest, "")), ours, clock)
    message = (
        f"Expected a database URL that begins with memory://, sqlite:/// or postgresql://, found the scheme '{scheme}'"
    )
    raise Misconfigured(message)


def redacted(url: str) -> str:
    """The URL without its password, for people and logs."""
    parts = urlsplit(url)
    if parts.password is None:
        return url
    netloc = parts.netloc.replace(f":{parts.password}@", ":***@")
    return urlunsplit((parts.scheme, netloc, parts.path, parts.query, ""))


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
    pgbouncer = options.get("pgbouncer", "").lower() in {"1", "true", "yes"}
    commit = options.get("synchronous_commit", "on").lower()
    if commit not in {"on", "off"}:
        message = f"Expected synchronous_commit=on or synchronous_commit=off, found '{options['synchronous_commit']}'"
        raise Misconfigured(message)
    waits = commit == "on"
    return lambda: PostgresStore(url, clock=clock, schema=schema, pgbouncer=pgbouncer, synchronous_commit=waits)


def _known(options: dict[str, str], allowed: frozenset[str], scheme: str) -> None:
    """Refuse options that would be ignored. Raises Misconfigured."""
    unknown = sorted(options.keys() - allowed)
    if unknown:
        message = f"Unknown option '{unknown[0]}' in a {scheme}: URL; known: {', '.join(sorted(allowed))}"
        raise Misconfigured(message)
