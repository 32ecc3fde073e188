"""Run by `test_django_shop.py` in a process of its own, in the project's folder: Django can be set up once per process.

A worker (`manage.py procession_work`) runs beside it; this process is the web server, asked by the test client.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from contextlib import suppress

import django

os.environ["DJANGO_SETTINGS_MODULE"] = "settings"
django.setup()

from django.core.management import call_command  # noqa: E402
from django.db import transaction  # noqa: E402
from django.test import Client  # noqa: E402
from shop.models import Order  # noqa: E402

from procession.contrib.django import app, start  # noqa: E402


def main() -> None:
    """Every story, one after the other."""
    call_command("makemigrations", check=True, dry_run=True, verbosity=0)
    client = Client()
    with app.sync:
        an_order_is_packed_and_sent(client)
        an_order_without_a_customer_leaves_nothing(client)
        a_view_that_fails_later_leaves_nothing()
        what_is_not_there_to_be_packed_is_refused(client)
    sys.stdout.write("all stories told\n")


def an_order_is_packed_and_sent(client: Client) -> None:
    answer = client.post("/orders", {"customer": "Ada"})
    assert answer.status_code == 201, answer.content
    placed = answer.json()
    key = placed["processInstanceKey"]
    wait_until(lambda: app.sync.user_tasks(process_instance_key=key))
    shown = client.get(f"/orders/{placed['orderId']}").json()
    assert shown == {"status": "reserved", "process": "ACTIVE", "elements": ["pack-order"]}, shown
    assert client.post(f"/orders/{placed['orderId']}/packed", {"packer": "Bob"}).status_code == 204
    assert app.sync.wait(key, timeout=30).state == "COMPLETED"
    assert Order.objects.get(pk=placed["orderId"]).status == "sent by Bob"


def an_order_without_a_customer_leaves_nothing(client: Client) -> None:
    before = {instance.process_instance_key for instance in app.sync.instances()}
    answer = client.post("/orders", {"customer": " "})
    assert answer.status_code == 422, answer.content
    assert Order.objects.filter(customer="").count() == 0
    assert {instance.process_instance_key for instance in app.sync.instances()} == before


def a_view_that_fails_later_leaves_nothing() -> None:
    before = len(app.sync.instances())
    with suppress(ZeroDivisionError), transaction.atomic():
        order = Order.objects.create(customer="Grace")
        key = start("packing", {"orderId": order.pk})
        assert key / 0
    assert not Order.objects.filter(customer="Grace").exists()
    assert len(app.sync.instances()) == before


def what_is_not_there_to_be_packed_is_refused(client: Client) -> None:
    order = Order.objects.get(customer="Ada")
    assert client.post(f"/orders/{order.pk}/packed").status_code == 409
    assert client.post("/orders/999/packed").status_code == 404


def wait_until(found: Callable[[], object]) -> None:
    """Ask until there is an answer: the worker is another process, and tells this one nothing."""
    pause = threading.Event()
    for _ in range(600):
        if found():
            return
        pause.wait(0.05)
    raise TimeoutError("Expected the worker to get there within 30 s")


if __name__ == "__main__":
    main()
