"""What Django is told about the app: its label, and where handlers are looked for."""

from __future__ import annotations

from django.apps import AppConfig
from django.conf import settings
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
        if any("procession" in str(each.get("BACKEND", "")) for each in getattr(settings, "TASKS", {}).values()):
            _make_task_backends()


def _make_task_backends() -> None:
    """Let the backends of Django's Tasks register their handlers: a worker enqueues nothing that would make them."""
    from procession.contrib.django.tasks import task_backends  # noqa: PLC0415 - only where it is used

    for alias in settings.TASKS:
        task_backends[alias]
