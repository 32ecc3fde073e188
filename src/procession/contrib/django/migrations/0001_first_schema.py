"""The first version of the tables, and the models that the admin site names."""

from django.db import migrations, models

from procession.contrib.django.schema import MigrateSchema


def named(name: str, key: str, **options: object) -> migrations.CreateModel:
    """A model without a table."""
    return migrations.CreateModel(
        name=name,
        fields=[(key, models.BigIntegerField(primary_key=True, serialize=False))],
        options={"managed": False, "default_permissions": ("view", "change"), **options},
    )


class Migration(migrations.Migration):
    """Version 1."""

    initial = True
    dependencies = []
    operations = [
        named("ProcessInstance", "process_instance_key", verbose_name="process instance"),
        named("Incident", "incident_key"),
        named("Job", "job_key"),
        MigrateSchema(1),
    ]
