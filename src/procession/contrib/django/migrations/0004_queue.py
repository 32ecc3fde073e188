"""The queue's options, limits, flows, batches and recurring jobs."""

from django.db import migrations

from procession.contrib.django.schema import MigrateSchema


class Migration(migrations.Migration):
    """Version 4."""

    dependencies = [("procession", "0003_forms")]
    operations = [MigrateSchema(4)]
