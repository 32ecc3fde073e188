"""Whether source files have changed: a look at names, times and sizes, twice a second. It reads no content.

``watchfiles`` would be told by the system instead; for the few hundred files of an application a look takes about a
millisecond, and needs no further dependency.
"""

from __future__ import annotations

import asyncio
import itertools
import os
from collections.abc import Collection
from pathlib import Path

from procession.cli.folders import files_below

LOOK_S = 0.4
SETTLE_S = 0.1  # an editor writes several files, or one in several steps
SUFFIXES = frozenset({".py", ".bpmn", ".dmn", ".form"})
FILES_MAX = 20_000  # looked at; more than that is no application

Stamps = dict[str, tuple[int, int]]


def stamps(folders: Collection[Path]) -> Stamps:
    """Time and size of every source file in these folders and below; hidden and environments' folders are left out."""
    found: Stamps = {}
    for folder in folders:
        for path in itertools.islice(files_below(folder, SUFFIXES), FILES_MAX):
            _add(found, path)
    return found


def _add(found: Stamps, path: str) -> None:
    """Add a file, unless it is gone already."""
    try:
        status = os.stat(path)  # noqa: PTH116 - as above
    except OSError:
        return
    found[path] = (status.st_mtime_ns, status.st_size)


def differences(before: Stamps, after: Stamps) -> list[str]:
    """The files that came, went or changed."""
    return sorted(path for path in before.keys() | after.keys() if before.get(path) != after.get(path))


async def wait_for_change(folders: Collection[Path], before: Stamps) -> tuple[list[str], Stamps]:
    """Wait until files differ from before and have come to rest; which, and how they are now."""
    while True:
        await asyncio.sleep(LOOK_S)
        after = await asyncio.to_thread(stamps, folders)
        if not differences(before, after):
            continue
        while True:
            await asyncio.sleep(SETTLE_S)
            settled = await asyncio.to_thread(stamps, folders)
            if settled == after:
                return differences(before, after), after
            after = settled
