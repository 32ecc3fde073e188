"""The processes of the shop: the application object, and the code behind `packing.bpmn`."""

from __future__ import annotations

from pathlib import Path

from django.conf import settings
from django.db import close_old_connections

from procession import Procession

DIAGRAM = Path(__file__).with_name("packing.bpmn")

app = Procession(settings.SHOP_DATABASE)


@app.job("reserve-stock", backoff="5s")
def reserve_stock(order_id: int) -> None:
    """A blocking handler: it runs in a thread and may use Django's models."""
    _set_status(order_id, "reserved")


@app.job("send-parcel")
def send_parcel(order_id: int, packer: str) -> None:
    """`packer` was given with the user task."""
    _set_status(order_id, f"sent by {packer}")


def _set_status(order_id: int, status: str) -> None:
    from shop.models import Order  # noqa: PLC0415 - models exist only after Django's setup

    close_old_connections()  # what Django does for a request: this thread lives longer than a database connection may
    Order.objects.filter(pk=order_id).update(status=status)
