"""What is kept of versions that were deleted."""

from django.db import migrations

from procession.contrib.django.schema import MigrateSchema


class Migration(migrations.Migration):
    """Version 6."""

    dependencies = [("procession", "0005_kept")]
    operations = [MigrateSchema(6)]
