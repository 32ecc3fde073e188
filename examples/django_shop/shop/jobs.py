"""The code behind `processes/packing.bpmn`; Procession's app finds this module by its name."""

from __future__ import annotations

from procession.contrib.django import app
from shop.models import Order


@app.job("reserve-stock", backoff="5s")
def reserve_stock(order_id: int) -> None:
    """A blocking handler: it runs in a thread and may use Django's models."""
    Order.objects.filter(pk=order_id).update(status="reserved")


@app.job("send-parcel")
def send_parcel(order_id: int, packer: str) -> None:
    """`packer` was given with the user task."""
    Order.objects.filter(pk=order_id).update(status=f"sent by {packer}")
