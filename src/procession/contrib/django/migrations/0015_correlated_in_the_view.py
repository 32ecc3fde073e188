"""The view of the history knows which element a message was correlated to."""

from django.db import migrations

from procession.contrib.django.schema import MigrateSchema


class Migration(migrations.Migration):
    """Version 15."""

    dependencies = [("procession", "0014_order_of_limited_jobs")]
    operations = [MigrateSchema(15)]
