"""What the history says of each element, counted."""

from django.db import migrations

from procession.contrib.django.schema import MigrateSchema


class Migration(migrations.Migration):
    """Version 8."""

    dependencies = [("procession", "0007_administration")]
    operations = [MigrateSchema(8)]
