"""Failed attempts of jobs stay with their instance."""

from django.db import migrations

from procession.contrib.django.schema import MigrateSchema


class Migration(migrations.Migration):
    """Version 13."""

    dependencies = [("procession", "0012_room_for_claims")]
    operations = [MigrateSchema(13)]
