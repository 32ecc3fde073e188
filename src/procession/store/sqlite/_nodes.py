"""Processes that come, beat, lead and leave."""

from __future__ import annotations

from procession.store.sqlite._queue import release_runs
from procession.store.sqlite._session import Session


def register(session: Session, name: str, details: bytes) -> int:
    """Enter a process; its number."""
    return session.value("register_node", name=name, now=session.now, details=details)


def beat(session: Session, node: int) -> bool:
    """Whether the node is still known."""
    return session.value("beat", node=node, now=session.now) is not None


def leave(session: Session, node: int) -> None:
    """Forget a node; its jobs become ready, their attempts are not used."""
    session.run("remove_node", node=node)
    session.run("end_leadership", node=node)
    release_runs(session, node)
    session.run("give_back_jobs", node=node)


def lead(session: Session, node: int, term_ms: int) -> int:
    """The term, or 0."""
    return session.value("lead", node=node, term_ms=term_ms, now=session.now) or 0
