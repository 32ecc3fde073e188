"""Forms."""

from django.db import migrations

from procession.contrib.django.schema import MigrateSchema


class Migration(migrations.Migration):
    """Version 3."""

    dependencies = [("procession", "0002_batches")]
    operations = [MigrateSchema(3)]
