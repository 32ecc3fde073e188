"""How a command line begins and ends: options, exit codes, one clear line for an error, and no secrets."""

from __future__ import annotations

import subprocess
import sys

import pytest

from procession import __version__
from procession.testing.bpmn import process

HEAVY = ("procession.app", "procession.engine", "procession.feel", "asyncpg", "lxml", "uvloop")


def test_help_names_every_command_and_loads_nothing_heavy(shop):
    script = (
        "import sys\nsys.argv = ['procession', '--help']\nfrom procession.cli import main\n"
        "try:\n    main()\nexcept SystemExit as end:\n    assert end.code == 0\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    *shown, loaded = done.stdout.rstrip().splitlines()
    assert loaded == "[]"
    names = "dev lint deploy feel work start publish broadcast definitions instances instance incidents jobs messages"
    for name in f"{names} subscriptions nodes resolve cancel tasks variables db bench".split():
        assert any(line.startswith(f"│ {name} ") for line in shown), name


def test_python_m_is_the_same_program(shop):
    done = subprocess.run([sys.executable, "-m", "procession", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"procession {__version__}\n"


def test_without_a_command_the_help_is_shown(command):
    answer = command()
    assert answer.code == 0
    assert "Usage: procession" in answer.out


def test_options_of_every_command_stand_before_or_after_its_name(shop, command, monkeypatch):
    monkeypatch.delenv("PROCESSION_URL")
    command("db", "migrate", "--url", "sqlite:///a.db")
    for arguments in (
        ("--json", "--url", "sqlite:///a.db", "instances"),
        ("instances", "--url", "sqlite:///a.db", "--json"),
        ("--json", "instances", "--url", "sqlite:///a.db"),
    ):
        assert command(*arguments).json == []


def test_what_is_said_wins_over_the_environment(shop, command):
    command("db", "migrate", "--url", "sqlite:///a.db")
    assert command("instances", "--url", "sqlite:///a.db").code == 0
    assert command("instances").code == 1


@pytest.mark.parametrize(
    "arguments",
    [("instances", "--bogus"), ("bogus",), ("start",), ("instance", "abc"), ("start", "order", "--var", "novalue")],
    ids=["option", "command", "missing", "number", "variable"],
)
def test_a_wrong_command_line_is_told_in_one_line_with_code_2(command, arguments):
    answer = command(*arguments)
    assert answer.code == 2
    assert answer.out == ""
    assert answer.err.startswith("Error: ")
    assert "--help" in answer.err
    assert "Traceback" not in answer.err


def test_a_wrong_command_line_with_json_is_told_as_json(command):
    answer = command("--json", "instances", "--bogus")
    assert answer.code == 2
    assert answer.error["type"] == "Usage"
    assert "--bogus" in answer.error["message"]


def test_a_refused_command_ends_with_1(command):
    command("db", "migrate")
    answer = command("start", "nothing")
    assert answer.code == 1
    assert answer.err.startswith("Error: Expected process 'nothing' to be deployed, found none: ")
    assert command("instance", "7", "--json").error == {
        "type": "NotFound",
        "message": "Expected a process instance with key 7, found none",
        "exitCode": 1,
    }


def test_a_database_that_does_not_answer_ends_with_3_and_keeps_the_password(command):
    url = "postgresql://bob:se-cret@127.0.0.1:1/shop"
    for flags in ((), ("--json",), ("--debug",)):
        answer = command(*flags, "instances", "--url", url)
        assert answer.code == 3
        assert "se-cret" not in answer.out + answer.err
    assert "se-cret" not in command("db", "status", "--url", url).err


def test_a_traceback_is_shown_for_debug_alone(command):
    command("db", "migrate")
    assert "Traceback" not in command("start", "nothing").err
    assert "Traceback" in command("start", "nothing", "--debug").err


@pytest.mark.parametrize("verb", ["instances", "jobs", "incidents", "nodes", "tasks", "definitions", "messages"])
def test_looking_makes_no_database(shop, command, verb):
    answer = command(verb)
    assert answer.code == 1
    assert "procession deploy" in answer.err
    assert not (shop.folder / "shop.db").exists()


def test_an_unknown_scheme_is_refused(command):
    answer = command("instances", "--url", "oracle://x")
    assert answer.code == 1
    assert "sqlite:///" in answer.err


def test_output_that_nobody_reads_to_the_end_is_no_error(shop, command):
    shop.write("many.bpmn", process("p").start().end())
    command("deploy", "many.bpmn")
    done = subprocess.run(
        ["bash", "-c", f'set -o pipefail; "{sys.executable}" -m procession definitions --json | true'],
        capture_output=True,
        text=True,
        cwd=shop.folder,
        check=False,
    )
    assert "Traceback" not in done.stderr
    assert "BrokenPipe" not in done.stderr


def test_without_a_terminal_nothing_is_cut_and_nothing_is_coloured(shop, command):
    shop.write("long.bpmn", process("a-very-long-process-id-" * 6, name="A name " * 12).start().end())
    command("deploy", "long.bpmn")
    answer = command("definitions")
    assert "a-very-long-process-id-" * 6 in answer.out
    assert "\x1b" not in answer.out
    assert all(line == line.rstrip() for line in answer.out.splitlines())


NUMBER = "9" * 30  # beyond what any database holds

RUBBISH = [
    ("start", "order", "--version", NUMBER),
    ("start", "order", "--version", "-1"),
    ("start", "order", "--business-id", "x" * 5_000),
    ("start", "order", "--tag", ""),
    ("start", "order", "--var", "a=" + "[" * 10_000 + "]" * 10_000),
    ("start", "order", "--wait", "--timeout", "nan"),
    ("start", "order", "--wait", "--timeout", "-1"),
    ("instance", NUMBER),
    ("instances", "--after", NUMBER),
    ("instances", "--parent", NUMBER),
    ("jobs", "--instance", NUMBER),
    ("incidents", "--instance", NUMBER),
    ("subscriptions", "--instance", NUMBER),
    ("cancel", NUMBER),
    ("resolve", NUMBER),
    ("resolve", "7", "--retries", NUMBER),
    ("tasks", "complete", NUMBER),
    ("tasks", "assign", NUMBER, "ada"),
    ("tasks", "list", "--group", "g" * 5_000),
    ("variables", "set", NUMBER, "a=1"),
    ("variables", "set", "7", "a=1", "--scope", NUMBER),
    ("definitions", "--xml", NUMBER),
    ("publish", ""),
    ("publish", "paid", "--ttl", "nan"),
    ("publish", "paid", "--ttl", "P99999999Y"),
    ("publish", "paid", "--ttl", "9" * 400 + "h"),
    ("publish", "paid", "--ttl=-5s"),
    ("publish", "paid", "--key", "k" * 5_000),
    ("broadcast", ""),
    ("instances", "--url", "postgresql://ada:secret@[::1/shop"),
    ("instances", "--url", "postgresql://ada:secret@127.0.0.1:port/shop"),
    ("instances", "--url", "memory://"),
]


@pytest.mark.parametrize("arguments", RUBBISH, ids=lambda arguments: " ".join(arguments)[:50])
def test_rubbish_is_refused_in_one_sentence_and_is_nobodys_bug(shop, command, arguments):
    shop.write("order.bpmn", process("order").start().user("approve").end())
    assert command("deploy", "order.bpmn").code == 0
    answer = command(*arguments)
    assert answer.code in {1, 2}, answer
    assert answer.err.startswith("Error: "), answer
    assert len(answer.err) < 500, answer
    assert "Traceback" not in answer.err
    assert "secret" not in answer.err
    assert command("instances", "--json").json == []
