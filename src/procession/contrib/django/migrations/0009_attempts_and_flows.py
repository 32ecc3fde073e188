"""Attempts that failed, each with its error; flows that have a title."""

from django.db import migrations

from procession.contrib.django.schema import MigrateSchema


class Migration(migrations.Migration):
    """Version 9."""

    dependencies = [("procession", "0008_tally")]
    operations = [MigrateSchema(9)]
