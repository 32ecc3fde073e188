"""The example's settings, with an app of the tests', impatient engines, and Django's Tasks framework."""

from __future__ import annotations

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[3] / "examples" / "django_shop"))

import django
from settings import *  # noqa: F403 - everything that is not said here

from procession import Settings

INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.messages",
    "django.contrib.sessions",
    "procession.contrib.django",
    "depot",
]
ROOT_URLCONF = "depot.urls"
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
# In a file, so that the tests' database is one that several processes and threads can open.
DATABASES["default"]["TEST"] = {"NAME": os.environ.get("DEPOT_TEST_DATABASE", "test_depot")}  # noqa: F405
PROCESSION = {
    "OPTIONS": {
        "settings": Settings(
            heartbeat_ms=200,
            heartbeat_missed_max=4,
            dead_after_ms=1_200,
            lead_term_ms=600,
            promote_poll_ms_max=200,
            claim_poll_ms_max=200,
            crash_backoff_ms=200,
            stop_wait_ms=3_000,
        )
    }
}
TASKS = {
    "default": {"BACKEND": "procession.contrib.django.tasks.ProcessionBackend", "QUEUES": ["default", "mail"]},
    "kept": {
        "BACKEND": "procession.contrib.django.tasks.ProcessionBackend",
        "OPTIONS": {"retries": 2, "backoff": "10ms", "results": "1d"},
    },
    "patient": {
        "BACKEND": "procession.contrib.django.tasks.ProcessionBackend",
        "OPTIONS": {"retries": 3, "backoff": "50ms"},
    },
}
if django.VERSION < (6, 0):
    INSTALLED_APPS.append("django_tasks")
if "DEPOT_URL" in os.environ:
    PROCESSION["URL"] = os.environ["DEPOT_URL"]
