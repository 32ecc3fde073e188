"""Runs a coroutine to its end where a loop may be running already, as when a test asks for a fixture."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any


def run_apart(work: Coroutine[Any, Any, None]) -> None:
    """It runs on a loop of a thread of its own."""
    with ThreadPoolExecutor(1) as threads:
        threads.submit(asyncio.run, work).result()
