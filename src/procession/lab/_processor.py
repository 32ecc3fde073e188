"""Processor time of a server that we started."""

from __future__ import annotations

import psutil


def processor_seconds(pid: int) -> float:
    """Processor time of a server: its first process, those of its children that have ended, and those that run."""
    first = psutil.Process(pid)
    own = first.cpu_times()
    total = own.user + own.system + own.children_user + own.children_system
    for child in first.children():
        try:
            times = child.cpu_times()
        except psutil.NoSuchProcess:
            continue
        total += times.user + times.system
    return total
