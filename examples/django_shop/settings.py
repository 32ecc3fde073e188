"""The least that Django needs, and the URL that Procession and Django share."""

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
INSTALLED_APPS = ["shop"]
ROOT_URLCONF = "shop.urls"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
USE_TZ = True
