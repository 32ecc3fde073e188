"""The commands: options in, tables and files out, and words for what cannot be measured."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from procession.lab.commands import bench
from procession.lab.peer_table import PEERS
from procession.lab.queue_variants import all_queue_variants
from procession.lab.variants import all_variants

SMALL = ["process", "--variants", "sqlite-methods-normal", "--instances", "60", "--rounds", "1", "--no-call"]


def invoke(*arguments: str):
    return CliRunner().invoke(bench, arguments, env={"COLUMNS": "200"})


def test_the_list_names_every_variant():
    found = invoke("process", "--list")
    assert found.exit_code == 0
    assert [line.split()[0] for line in found.stdout.splitlines()] == [variant.name for variant in all_variants()]


def test_a_small_run_prints_its_figure_and_its_files(tmp_path):
    found = invoke(*SMALL, "--out", str(tmp_path))
    assert found.exit_code == 0, found.output
    assert "methods, SQLite, history on, synchronous NORMAL" in found.stdout
    assert {file.suffix for file in tmp_path.iterdir()} == {".json", ".html"}
    assert all(str(file) in found.stdout for file in tmp_path.iterdir())


def test_the_queue_lists_its_variants_and_others_their_workloads():
    found = invoke("queue", "--list")
    assert [line.split()[0] for line in found.stdout.splitlines()] == [v.name for v in all_queue_variants()]
    found = invoke("compare", "--list")
    assert [line.split()[0] for line in found.stdout.splitlines()] == [spec.name for spec in PEERS]


def test_a_small_run_of_the_queue_prints_its_figure_and_its_files(tmp_path):
    small = ["queue", "--variants", "memory-bulk", "--rounds", "1", "--scale", "0.01", "--out", str(tmp_path)]
    found = invoke(*small)
    assert found.exit_code == 0, found.output
    assert "bulk insert, 10,000 a call: memory" in found.stdout
    assert all(str(file) in found.stdout for file in tmp_path.iterdir())
    found = invoke(*small, "--json")
    assert json.loads(found.stdout)["runs"][0]["done"] == 2_000


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["queue", "--variants", "nothing"], "found 'nothing'"),
        (["queue", "--scale", "0"], "Expected scale"),
        (["queue", "--setting", "shared_buffers"], "found 'shared_buffers'"),
        (["compare", "--peers", "celery"], "found 'celery'"),
        (["compare", "--workloads", "nothing"], "found 'nothing'"),
    ],
    ids=["variants", "scale", "setting", "peers", "workloads"],
)
def test_an_option_of_the_queue_that_cannot_be_used_is_named(tmp_path, arguments, words):
    found = invoke(*arguments, "--out", str(tmp_path))
    assert found.exit_code == 2
    assert words in " ".join(found.output.replace("│", " ").split())


def test_json_is_all_that_is_printed_when_it_is_asked_for(tmp_path):
    found = invoke(*SMALL, "--out", str(tmp_path), "--json")
    assert json.loads(found.stdout)["runs"][0]["completed"] == 60


def test_the_core_is_measured_by_its_command(tmp_path):
    found = invoke("core", "--rounds", "1", "--instances", "5", "--out", str(tmp_path))
    assert found.exit_code == 0, found.output
    assert "two service tasks" in found.stdout
    assert {file.suffix for file in tmp_path.iterdir()} == {".json", ".html"}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--workers", "many"], "found 'many'"),
        (["--client", "curl"], "found 'curl'"),
        (["--stub", "apache"], "found 'apache'"),
        (["--setting", "shared_buffers"], "found 'shared_buffers'"),
        (["--variants", "nothing"], "found 'nothing'"),
        (["--starters", "0"], "Expected starters to be at least 1"),
    ],
    ids=["workers", "client", "stub", "setting", "variants", "starters"],
)
def test_an_option_that_cannot_be_used_is_named(tmp_path, arguments, words):
    found = invoke("process", "--out", str(tmp_path), *arguments)
    assert found.exit_code == 2
    assert words in " ".join(found.output.replace("│", " ").split())
