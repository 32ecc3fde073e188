"""The views: place an order, say that it is packed, look at it."""

from __future__ import annotations

from django.db import transaction
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_GET, require_POST

from procession.contrib.django import app, start
from shop.models import Order


@csrf_exempt  # for programs, not for forms of a browser
@require_POST
def place_order(request: HttpRequest) -> HttpResponse:
    """Insert the order and start its process; both are there after the commit, or neither."""
    customer = request.POST.get("customer", "").strip()
    with transaction.atomic():
        order = Order.objects.create(customer=customer)
        order.process_instance_key = start("packing", {"orderId": order.pk}, business_id=f"order-{order.pk}")
        order.save()
        if not customer:
            transaction.set_rollback(True)
            return JsonResponse({"error": "An order needs a customer"}, status=422)
    return JsonResponse({"orderId": order.pk, "processInstanceKey": order.process_instance_key}, status=201)


@csrf_exempt  # for programs, not for forms of a browser
@require_POST
def packed(request: HttpRequest, order_id: int) -> HttpResponse:
    """A packer is done: complete the user task of this order."""
    order = get_object_or_404(Order, pk=order_id)
    procession = app.sync.open()
    tasks = procession.user_tasks(process_instance_key=order.process_instance_key)
    if not tasks:
        return JsonResponse({"error": f"{order} does not wait to be packed"}, status=409)
    procession.complete_user_task(tasks[0].user_task_key, {"packer": request.POST.get("packer", "somebody")})
    return HttpResponse(status=204)


@require_GET
def show_order(_: HttpRequest, order_id: int) -> HttpResponse:
    """The order, and where its process is."""
    order = get_object_or_404(Order, pk=order_id)
    details = app.sync.open().instance(order.process_instance_key)
    elements = [element.element_id for element in details.elements]
    return JsonResponse({"status": order.status, "process": details.instance.state, "elements": elements})
