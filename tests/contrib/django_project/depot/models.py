"""Parcels."""

from __future__ import annotations

from django.db import models


class Parcel(models.Model):
    """A parcel, and what was done to it."""

    name = models.CharField(max_length=50)
    packed = models.IntegerField(default=0)
    counted = models.IntegerField(default=0)
    key = models.BigIntegerField(null=True)

    def __str__(self) -> str:
        return self.name
