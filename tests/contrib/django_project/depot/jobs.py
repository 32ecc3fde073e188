"""Handlers: blocking ones that use the models, one on the event loop, one that starts more, one that can be held up."""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path

from django.db import connection, transaction
from django.db.models import F

from depot.models import Parcel
from procession.contrib.django import app, start

HELD_S = 60.0


@app.job("pack", backoff="200ms")
def pack(parcel: int) -> None:
    """A blocking handler."""
    Parcel.objects.filter(pk=parcel).update(packed=F("packed") + 1)


@app.job("count")
async def count(parcel: int) -> None:
    """A coroutine that uses the models."""
    await Parcel.objects.filter(pk=parcel).aupdate(counted=F("counted") + 1)


@app.job("refuse", retries=1)
def refuse() -> None:
    """What ends as an incident, until somebody mends it."""
    if os.environ.get("DEPOT_REFUSES", "1") == "1" and not Path("mended").exists():
        raise ValueError("there is no room")


@app.job("break-connection")
def break_connection() -> None:
    """What a failover does: this thread's connection is dead from now on."""
    connection.ensure_connection()
    connection.connection.close()


@app.job("begin")
def begin(parcel: int) -> None:
    """A handler that starts an instance in a transaction of its own."""
    with transaction.atomic():
        Parcel.objects.filter(pk=parcel).update(key=start("wrapping", {"parcel": parcel}))


@app.job("hold")
def hold(parcel: int, folder: str) -> None:
    """Says that it runs, and waits to be let go: the place at which a worker is killed."""
    place = Path(folder)
    (place / f"runs-{os.getpid()}").touch()
    pause = threading.Event()
    for _ in range(int(HELD_S / 0.02)):
        if (place / "go").exists():
            break
        pause.wait(0.02)
    else:
        sys.exit("nobody let it go")
    Parcel.objects.filter(pk=parcel).update(packed=F("packed") + 1)
