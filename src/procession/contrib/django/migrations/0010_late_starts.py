"""How late a start may be after its admission."""

from django.db import migrations

from procession.contrib.django.schema import MigrateSchema


class Migration(migrations.Migration):
    """Version 10."""

    dependencies = [("procession", "0009_attempts_and_flows")]
    operations = [MigrateSchema(10)]
