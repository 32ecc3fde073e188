"""Which variants of the simple process there are, what they are called, and in which order they run. It runs none."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Literal, TypeVar

import msgspec

from procession.errors import Misconfigured

Way = Literal["methods", "service"]
Database = Literal["postgres", "sqlite", "mariadb", "memory"]

AnyVariant = TypeVar("AnyVariant")


class Variant(msgspec.Struct, kw_only=True, frozen=True):
    """One thing to measure. `commit` is on | async on PostgreSQL, NORMAL | FULL on SQLite."""

    name: str
    database: Database
    way: Way
    history: Literal["off", "activity"] = "activity"
    commit: Literal["on", "async", "NORMAL", "FULL"] = "on"
    ceiling: bool = False  # bare statements instead of the product

    @property
    def words(self) -> str:
        """For people."""
        way = "methods" if self.way == "methods" else "service tasks"
        if self.ceiling:
            return f"raw ceiling of {way}"
        where = {"postgres": "PostgreSQL", "sqlite": "SQLite"}.get(self.database, "MariaDB")
        history = "history on" if self.history != "off" else "history off"
        commit = f"synchronous {self.commit}" if self.database == "sqlite" else f"commit {self.commit}"
        return f"{way}, {where}, {history}, {commit}"


def all_variants() -> list[Variant]:
    """Every variant, the usual ones first within each database."""
    ways: tuple[Way, Way] = ("methods", "service")
    found = [Variant(name=f"postgres-{way}", database="postgres", way=way) for way in ways]
    for way in ways:
        found += [
            Variant(name=f"postgres-{way}-async", database="postgres", way=way, commit="async"),
            Variant(name=f"postgres-{way}-nohistory", database="postgres", way=way, history="off"),
            Variant(
                name=f"postgres-{way}-nohistory-async", database="postgres", way=way, history="off", commit="async"
            ),
        ]
    for way in ways:
        found += [
            Variant(name=f"sqlite-{way}-normal", database="sqlite", way=way, commit="NORMAL"),
            Variant(name=f"sqlite-{way}-full", database="sqlite", way=way, commit="FULL"),
        ]
    found += [Variant(name=f"mariadb-{way}", database="mariadb", way=way) for way in ways]
    return found


def chosen_variants(patterns: str, *, ceiling: bool) -> list[Variant]:
    """Those that a comma-separated list of names or patterns names, each with its ceiling in front of it.

    Raises Misconfigured for a name or pattern that fits nothing.
    """
    known = all_variants()
    wanted = [pattern.strip() for pattern in patterns.split(",") if pattern.strip()]
    for pattern in wanted:
        if not any(fnmatchcase(variant.name, pattern) for variant in known):
            names = ", ".join(variant.name for variant in known)
            message = f"Expected --variants to name some of {names}; found '{pattern}', which fits none"
            raise Misconfigured(message)
    chosen = [variant for variant in known if any(fnmatchcase(variant.name, pattern) for pattern in wanted)]
    ways: dict[Way, None] = {variant.way: None for variant in chosen if variant.database == "postgres" and ceiling}
    return [
        *(Variant(name=f"postgres-{way}-ceiling", database="postgres", way=way, ceiling=True) for way in ways),
        *chosen,
    ]


def rotation(variants: Sequence[AnyVariant], rounds: int) -> list[tuple[int, AnyVariant]]:
    """The runs in order: round by round, every second round backwards, so that no variant always follows another."""
    runs: list[tuple[int, AnyVariant]] = []
    for number in range(1, rounds + 1):
        order = variants if number % 2 else variants[::-1]
        runs += [(number, variant) for variant in order]
    return runs
