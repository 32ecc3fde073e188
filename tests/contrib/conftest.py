"""A Django project on a database of the test's own, run in processes of its own: Django is set up once per process."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.sources import ROOT

PROJECT = ROOT / "tests" / "contrib" / "django_project"


class Project:
    """``manage.py`` and the stories of one project."""

    def __init__(self, url: str, folder: Path) -> None:
        self.url = url
        self.folder = folder
        self.environment = {
            **os.environ,
            "SHOP_DATABASE": url,
            "DJANGO_SETTINGS_MODULE": "project_settings",
            "PYTHONPATH": os.pathsep.join([str(PROJECT), *filter(None, [os.environ.get("PYTHONPATH")])]),
            "PYTHONWARNINGS": "default",
        }

    def run(self, *command: str, fails: bool = False, **environment: str) -> str:
        """Run a Python program in the test's folder; what it said."""
        done = subprocess.run(
            [sys.executable, *command],
            cwd=self.folder,
            env=self.environment | environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=240,
            check=False,
        )
        assert (done.returncode != 0) == fails, done.stdout
        return done.stdout

    def manage(self, *arguments: str, fails: bool = False, **environment: str) -> str:
        """``manage.py``."""
        return self.run(str(PROJECT / "manage.py"), *arguments, fails=fails, **environment)

    def tell(self, name: str) -> None:
        """A story of ``django_stories.py``."""
        assert self.run(str(PROJECT.parent / "django_stories.py"), name).endswith("told\n")

    @contextmanager
    def worker(self) -> Iterator[subprocess.Popen]:
        """``manage.py procession_work``; stopped at the end if it still runs."""
        process = subprocess.Popen(
            [sys.executable, str(PROJECT / "manage.py"), "procession_work"], cwd=self.folder, env=self.environment
        )
        try:
            yield process
        finally:
            if process.poll() is None:
                process.terminate()
                process.wait(30)


@pytest.fixture(params=["sqlite", "postgres"])
def url(request, tmp_path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'depot.db'}"
    return request.getfixturevalue("bare_postgres_url")


@pytest.fixture
def empty_project(url, tmp_path) -> Project:
    """Its database has nothing yet."""
    return Project(url, tmp_path)


@pytest.fixture
def project(empty_project) -> Project:
    """Migrated and deployed."""
    empty_project.manage("migrate", "-v", "0")
    empty_project.manage("procession_deploy")
    return empty_project
