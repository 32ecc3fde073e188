"""Batches."""

from django.db import migrations

from procession.contrib.django.schema import MigrateSchema


class Migration(migrations.Migration):
    """Version 2."""

    dependencies = [("procession", "0001_first_schema")]
    operations = [MigrateSchema(2)]
