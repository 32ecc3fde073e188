"""Words that every store says alike."""

from __future__ import annotations


def crash_error(crashes: int) -> str:
    """The error of a job whose crash budget is spent."""
    return f"The process that ran this job died, {crashes} times in a row"


def known_key_error(what: str, key: int) -> str:
    """A step inserts a row whose key is in use."""
    return f"Expected new keys, but {what} {key} exists already"


def held_channel_error(process_id: str, correlation_key: str, holder: int) -> str:
    """A step starts an instance by a correlation key whose last instance has not ended."""
    return (
        f"Expected process {process_id!r} to have no instance started by correlation key {correlation_key!r}, "
        f"but instance {holder} holds it"
    )


NOT_DELETED = "It still runs, something that it called still runs, or its caller is still there"
