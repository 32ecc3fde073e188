"""A folder of its own with a database and an application, the command line in this process, and real processes."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from procession.cli.program import program
from procession.testing.bpmn import process
from tests.cli.stage import APP, Answer, Command, Running, Shop


@pytest.fixture
def shop(tmp_path, monkeypatch) -> Iterator[Shop]:
    """An empty folder, which is the working directory; modules loaded from it are forgotten afterwards."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PROCESSION_URL", raising=False)
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")  # two versions of a file within a second are one to a .pyc
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.setattr(sys, "path", list(sys.path))
    before = set(sys.modules)
    yield Shop(tmp_path)
    for name in set(sys.modules) - before:
        file = getattr(sys.modules[name], "__file__", None) or ""
        if file.startswith(str(tmp_path)):
            del sys.modules[name]


@pytest.fixture
def command(shop, monkeypatch) -> Command:
    """Run a command line in this process, on the folder's database."""
    monkeypatch.setenv("PROCESSION_URL", shop.url)

    def run(*arguments: object, stdin: str | None = None) -> Answer:
        result = CliRunner().invoke(program, [str(argument) for argument in arguments], input=stdin)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return Answer(result.exit_code, result.stdout, result.stderr)

    return run


@pytest.fixture
def run_process(shop) -> Iterator[Callable[..., Running]]:
    """Start real processes; those that still run at the end are killed, with their children."""
    started: list[Running] = []

    def run(*arguments: object) -> Running:
        started.append(Running(tuple(map(str, arguments)), shop.folder))
        return started[-1]

    yield run
    for running in started:
        if running.process.poll() is None:
            running.process.kill()
        running.ended()
        assert running.process.stdout is not None
        running.process.stdout.close()


@pytest.fixture
def order(shop) -> Path:
    """A process with a method, a job and a user task, and the application for it."""
    shop.write("shop.py", APP)
    model = process("order", name="Order").start("received").task("price").service("pay", type="charge")
    return shop.write("order.bpmn", model.user("approve", name="Approve it").end("done"))
