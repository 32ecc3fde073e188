"""Limited jobs by priority, and finished batches by age."""

from django.db import migrations

from procession.contrib.django.schema import MigrateSchema


class Migration(migrations.Migration):
    """Version 14."""

    dependencies = [("procession", "0013_attempts_of_instances")]
    operations = [MigrateSchema(14)]
