"""Who waits for the end of an instance in this process. Ends that other processes commit are not seen here."""

from __future__ import annotations

import asyncio


class Ends:
    """Futures by instance."""

    __slots__ = ("_futures",)

    def __init__(self) -> None:
        self._futures: dict[int, list[asyncio.Future[int]]] = {}

    def wait(self, instance: int) -> asyncio.Future[int]:
        """A future of the status with which this process sees the instance end."""
        future: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._futures.setdefault(instance, []).append(future)
        return future

    def waited_for(self, instance: int) -> bool:
        """Whether somebody waits for it."""
        return instance in self._futures

    def forget(self, instance: int, future: asyncio.Future[int]) -> None:
        """Nobody waits for this any more."""
        futures = self._futures.get(instance)
        if futures is not None and future in futures:
            futures.remove(future)
            if not futures:
                del self._futures[instance]

    def tell(self, instance: int, status: int) -> None:
        """The instance is over."""
        for future in self._futures.pop(instance, ()):
            if not future.done():
                future.set_result(status)
