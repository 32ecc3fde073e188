"""The Django project: an order and its instance are there together, or neither is. On SQLite and on PostgreSQL."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.sources import ROOT

PROJECT = ROOT / "examples" / "django_shop"
STORY = Path(__file__).with_name("django_story.py")


@pytest.fixture(params=["sqlite", "postgres"])
def url(request, tmp_path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'shop.db'}"
    return request.getfixturevalue("bare_postgres_url")


def test_orders_are_placed_packed_and_sent_and_a_rollback_leaves_nothing(url):
    environment = {**os.environ, "SHOP_DATABASE": url, "PYTHONPATH": str(PROJECT), "PYTHONWARNINGS": "default"}

    def run(*command: str) -> str:
        done = subprocess.run(
            [sys.executable, *command],
            cwd=PROJECT,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=90,
            check=False,
        )
        assert done.returncode == 0, done.stdout
        return done.stdout

    run("manage.py", "migrate")
    assert run("manage.py", "procession_deploy") == "packing version 1\n"
    assert run("manage.py", "procession_deploy") == "packing version 1 (unchanged)\n"
    worker = subprocess.Popen([sys.executable, "manage.py", "procession_work"], cwd=PROJECT, env=environment)
    try:
        assert run(str(STORY)) == "all stories told\n"
    finally:
        worker.terminate()
        assert worker.wait(30) == 0
