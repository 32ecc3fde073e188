"""Tasks of Django's own framework."""

from __future__ import annotations

from django.db.models import F

from depot.models import Parcel

try:
    from django.tasks import task
except ImportError:  # before Django 6.0
    from django_tasks import task


@task
def pack_by_task(parcel: int, *, times: int = 1) -> None:
    """A plain one."""
    Parcel.objects.filter(pk=parcel).update(packed=F("packed") + times)


@task(queue_name="mail", priority=10)
async def count_by_task(parcel: int) -> None:
    """A coroutine, in another queue."""
    await Parcel.objects.filter(pk=parcel).aupdate(counted=F("counted") + 1)


@task(backend="patient", takes_context=True)
def third_time(context, parcel: int) -> None:
    """One that is tried again, and knows how often."""
    if context.attempt < 3:
        raise ConnectionError("not yet")
    Parcel.objects.filter(pk=parcel).update(counted=context.attempt)


@task(backend="kept", takes_context=True)
def weighed(context, grams: int) -> dict[str, int]:
    """One whose result is read back; it needs two attempts."""
    if context.attempt < 2:
        raise LookupError("the scales are not free")
    if grams < 0:
        raise ValueError("nothing weighs less than nothing")
    return {"grams": grams}


@task
def hopeless() -> None:
    """One that fails, once."""
    raise ValueError("no way")
