"""Little more than what Django needs: Procession works on the default database."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import urlsplit

BASE_DIR = Path(__file__).parent
SHOP_DATABASE = os.environ.get("SHOP_DATABASE", f"sqlite:///{BASE_DIR / 'shop.db'}")

_url = urlsplit(SHOP_DATABASE)
if _url.scheme == "sqlite":
    _database = {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": _url.path[1:],
        # The lock is taken when the transaction begins and waited for, so that it is never refused half way.
        "OPTIONS": {"transaction_mode": "IMMEDIATE", "timeout": 20, "init_command": "pragma journal_mode = wal"},
    }
else:
    _database = {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": _url.path[1:],
        "USER": _url.username or "",
        "PASSWORD": _url.password or "",
        "HOST": _url.hostname or "",
        "PORT": _url.port or "",
    }
DATABASES = {"default": _database}

SECRET_KEY = os.environ.get("SECRET_KEY", "only for this example")
DEBUG = "DEBUG" in os.environ
ALLOWED_HOSTS = ["localhost", "testserver"]
INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.messages",
    "django.contrib.sessions",
    "procession.contrib.django",
    "shop",
]
MIDDLEWARE = [
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
]
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ]
        },
    }
]
STATIC_URL = "static/"
ROOT_URLCONF = "shop.urls"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
USE_TZ = True
