"""Procession as a Django app: one application object from the settings, in the database that Django has.

    INSTALLED_APPS = [..., "procession.contrib.django"]

    # shop/jobs.py, found by itself
    from procession.contrib.django import app

    @app.job("reserve-stock")
    def reserve_stock(order_id: int) -> None: ...

    # a view
    from procession.contrib.django import start

    with transaction.atomic():
        order = Order.objects.create(...)
        start("packing", {"orderId": order.pk})

``manage.py migrate`` makes the tables, ``manage.py procession_work`` runs the handlers, the admin site shows instances,
jobs and incidents. Names below are loaded when they are first used: Django imports this package before it is set up.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from procession.contrib.django.application import DjangoProcession
    from procession.contrib.django.transactions import enqueue, enqueue_flow, start

    app: DjangoProcession

_HOMES = {
    "app": "procession.contrib.django.application",
    "enqueue": "procession.contrib.django.transactions",
    "enqueue_flow": "procession.contrib.django.transactions",
    "start": "procession.contrib.django.transactions",
}

__all__ = ["app", "enqueue", "enqueue_flow", "start"]


def __getattr__(name: str) -> object:
    """Load a public name when it is asked for."""
    home = _HOMES.get(name)
    if home is None:
        message = f"module 'procession.contrib.django' has no attribute '{name}'"
        raise AttributeError(message)
    return getattr(import_module(home), name)
