"""Names for Django's permissions and the admin site's index. They have no tables: the admin asks the application."""

from __future__ import annotations

from django.db import models


class ProcessInstance(models.Model):
    """Instances, as the admin site names them."""

    process_instance_key: models.BigIntegerField[int, int] = models.BigIntegerField(primary_key=True)

    class Meta:
        managed = False
        default_permissions = ("view", "change")
        verbose_name = "process instance"


class Incident(models.Model):
    """Open incidents, as the admin site names them."""

    incident_key: models.BigIntegerField[int, int] = models.BigIntegerField(primary_key=True)

    class Meta:
        managed = False
        default_permissions = ("view", "change")


class Job(models.Model):
    """The queue, as the admin site names it."""

    job_key: models.BigIntegerField[int, int] = models.BigIntegerField(primary_key=True)

    class Meta:
        managed = False
        default_permissions = ("view", "change")
