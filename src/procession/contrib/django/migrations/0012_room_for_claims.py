"""Room in the pages of jobs for their claims."""

from django.db import migrations

from procession.contrib.django.schema import MigrateSchema


class Migration(migrations.Migration):
    """Version 12."""

    dependencies = [("procession", "0011_meter")]
    operations = [MigrateSchema(12)]
