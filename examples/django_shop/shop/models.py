"""The shop's own table."""

from __future__ import annotations

from django.db import models


class Order(models.Model):
    """An order, and the instance that takes care of it."""

    customer = models.CharField(max_length=100)
    status = models.CharField(max_length=20, default="placed")
    process_instance_key = models.BigIntegerField(null=True)

    def __str__(self) -> str:
        return f"order {self.pk} of {self.customer}: {self.status}"
