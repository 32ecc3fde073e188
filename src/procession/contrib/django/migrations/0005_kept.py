"""What an edge keeps beside the engine's rows."""

from django.db import migrations

from procession.contrib.django.schema import MigrateSchema


class Migration(migrations.Migration):
    """Version 5."""

    dependencies = [("procession", "0004_queue")]
    operations = [MigrateSchema(5)]
