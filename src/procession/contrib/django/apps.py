"""What Django is told about the app: its label, and that handlers are looked for in the other apps."""

from __future__ import annotations

from django.apps import AppConfig
from django.utils.module_loading import autodiscover_modules

from procession.contrib.django.configuration import read_configuration


class ProcessionConfig(AppConfig):
    """``procession.contrib.django`` in INSTALLED_APPS."""

    name = "procession.contrib.django"
    label = "procession"
    verbose_name = "Procession"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Import the modules in which handlers are registered. Raises ImproperlyConfigured."""
        autodiscover_modules(*read_configuration().modules)
