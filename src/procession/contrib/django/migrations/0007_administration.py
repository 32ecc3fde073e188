"""Counts of what was enqueued, firings of recurring jobs."""

from django.db import migrations

from procession.contrib.django.schema import MigrateSchema


class Migration(migrations.Migration):
    """Version 7."""

    dependencies = [("procession", "0006_deleted_definitions")]
    operations = [MigrateSchema(7)]
