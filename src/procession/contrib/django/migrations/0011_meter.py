"""What is counted by time."""

from django.db import migrations

from procession.contrib.django.schema import MigrateSchema


class Migration(migrations.Migration):
    """Version 11."""

    dependencies = [("procession", "0010_late_starts")]
    operations = [MigrateSchema(11)]
