"""The setting PROCESSION of a Django project, and the URL of the database that it means."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count

import django
import pytest
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.db import connections
from django.db.utils import ConnectionHandler
from django.test.utils import override_settings

from procession.app.wiring import store_factory, target_of
from procession.contrib.django.configuration import database_url, read_configuration

NUMBERS = count()  # Django keeps a connection for each name that it has heard
POSTGRES = {
    "ENGINE": "django.db.backends.postgresql",
    "NAME": "shop",
    "USER": "ann",
    "PASSWORD": "p/w@:?",
    "HOST": "db",
}


@pytest.fixture
def url_of() -> Iterator[Callable[..., str]]:
    """The URL made of an entry of DATABASES."""
    if not settings.configured:
        settings.configure(USE_TZ=True)
        django.setup()
    made: list[str] = []

    def url(entry: dict, **options: str) -> str:
        alias = f"configured {next(NUMBERS)}"
        connections.settings[alias] = ConnectionHandler({"default": {}, alias: entry}).settings[alias]
        made.append(alias)
        with override_settings(PROCESSION={"DATABASE": alias, "URL_OPTIONS": options}):
            return database_url(read_configuration())

    yield url
    for alias in made:
        del connections.settings[alias]


@pytest.mark.parametrize(
    ("entry", "url"),
    [
        (POSTGRES, "postgresql://ann:p%2Fw%40%3A%3F@db/shop"),
        (POSTGRES | {"PORT": 6432, "PASSWORD": ""}, "postgresql://ann@db:6432/shop"),
        (POSTGRES | {"HOST": "::1", "PORT": "5432", "USER": ""}, "postgresql://[::1]:5432/shop"),
        (POSTGRES | {"HOST": "/run/sockets", "USER": ""}, "postgresql:///shop?host=%2Frun%2Fsockets"),
        (
            POSTGRES | {"PASSWORD": "", "OPTIONS": {"sslmode": "require", "pool": True, "isolation_level": 3}},
            "postgresql://ann@db/shop?sslmode=require",
        ),
        ({"ENGINE": "django.db.backends.sqlite3", "NAME": "/var/lib/shop.db"}, "sqlite:////var/lib/shop.db"),
    ],
)
def test_the_url_says_what_the_entry_of_databases_says(url_of: Callable[..., str], entry: dict, url: str):
    assert url_of(entry) == url
    store_factory(url)


def test_options_of_the_url_are_added(url_of: Callable[..., str]):
    url = url_of(POSTGRES, schema="bpm", pgbouncer="1")
    assert target_of(url).schema == "bpm"
    assert url.endswith("/shop?schema=bpm&pgbouncer=1")


@pytest.mark.parametrize("name", ["", ":memory:", "file:memorydb_default?mode=memory&cache=shared"])
def test_a_sqlite_database_in_memory_is_refused_with_what_to_do(url_of: Callable[..., str], name: str):
    with pytest.raises(ImproperlyConfigured, match="Rehearsal, or give the test database a NAME"):
        url_of({"ENGINE": "django.db.backends.sqlite3", "NAME": name})


def test_an_unknown_kind_of_database_is_refused_with_what_to_do(url_of: Callable[..., str]):
    with pytest.raises(ImproperlyConfigured, match=r"a database of its own with PROCESSION\['URL'\]"):
        url_of({"ENGINE": "django.db.backends.dummy", "NAME": "x"})


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ([], "Expected PROCESSION to be a dict"),
        ({"DATABSE": "default"}, "found 'DATABSE'"),
        ({"URL": "sqlite:///a.db", "DATABASE": "default"}, "either URL, or DATABASE"),
        ({"MODULES": "jobs"}, "to be a list of names"),
    ],
)
def test_a_setting_that_cannot_be_meant_is_refused_by_name(url_of: Callable[..., str], setting: object, message: str):
    with override_settings(PROCESSION=setting), pytest.raises(ImproperlyConfigured, match=message):
        read_configuration()


def test_without_the_setting_it_is_the_default_database_and_the_usual_modules(url_of: Callable[..., str]):
    found = read_configuration()
    assert (found.database, found.url, found.modules) == ("default", "", ("jobs", "processes"))
