"""What a figure was measured on: processor, memory, disk, programs. It names no machine, no user and no path."""

from __future__ import annotations

import os
import platform
import tempfile
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path
from typing import Final

import psutil

from procession.lab.loop import loop_name
from procession.lab.results import Environment

CPU_INFORMATION: Final = Path("/proc/cpuinfo")
PACKAGES: Final = ("procession", "aiohttp", "asyncpg", "lxml", "msgspec", "pyreqwest", "uvloop")


def environment() -> Environment:
    """This machine and these programs; databases are added by whoever opens them."""
    return Environment(
        cpu=_processor(),
        cores=_usable_cores(),
        memory_bytes=psutil.virtual_memory().total,
        system=f"{platform.system()} {platform.release()}",
        filesystem=_filesystem(Path(tempfile.gettempdir()).resolve()),
        load_average=round(psutil.getloadavg()[0], 2),
        python=f"{platform.python_implementation()} {platform.python_version()}",
        event_loop=loop_name(),
        packages=_versions(PACKAGES),
    )


def _processor() -> str:
    """The processor's name as it says itself."""
    if CPU_INFORMATION.exists():
        for line in CPU_INFORMATION.read_text().splitlines():
            name, _, value = line.partition(":")
            if name.strip() == "model name":
                return value.strip()
    return platform.processor() or platform.machine()


def _usable_cores() -> int:
    """The cores that we may run on, which can be fewer than there are."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _filesystem(directory: Path) -> str:
    """The kind of filesystem that databases are made on: one in memory flushes nothing."""
    kinds = {Path(partition.mountpoint): partition.fstype for partition in psutil.disk_partitions(all=True)}
    for folder in (directory, *directory.parents):
        if folder in kinds:
            return kinds[folder]
    return "unknown"


def _versions(packages: Iterable[str]) -> dict[str, str]:
    """The versions of those that are installed."""
    found: dict[str, str] = {}
    for package in packages:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return found
