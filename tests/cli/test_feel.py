"""FEEL at the prompt: value, type, warnings, the place of an error; once, or line by line."""

from __future__ import annotations

import os
import select
import signal
import sys
import time

import pytest

PATIENCE_S = 30.0


@pytest.mark.parametrize(
    ("expression", "value", "kind"),
    [
        ("1 + 2", "3", "number"),
        ("0.1 + 0.2", "0.3", "number"),
        ('"a" + "b"', '"ab"', "string"),
        ("1 < 2", "true", "boolean"),
        ("[1, 2][item > 1]", "[2]", "list"),
        ("{a: 1, b c: null}", "{a: 1, b c: null}", "context"),
        ('[date("2024-01-31"), "a", 1/4]', '[@"2024-01-31", "a", 0.25]', "list"),
        ("{f: function(x, y) x, r: [1..10)}", "{f: function(x, y), r: [1..10)}", "context"),
        ("function(a, b) a", "function(a, b)", "function"),
        ("[1..10)", "[1..10)", "range"),
        ('date("2024-01-31")', "2024-01-31", "date"),
        ('duration("PT2H")', "PT2H", "days and time duration"),
        ("null", "null", "null"),
    ],
)
def test_a_value_is_shown_with_its_type(command, expression, value, kind):
    answer = command("feel", expression)
    assert answer.code == 0
    assert answer.out == f"{value}   {kind}\n"


def test_names_come_from_an_object_a_file_and_single_variables(shop, command):
    shop.write("order.json", '{"total": 1200, "customer": {"tier": "gold"}}')
    for context in ("order.json", "@order.json", '{"total": 1200, "customer": {"tier": "gold"}}'):
        assert command("feel", 'total > 1000 and customer.tier = "gold"', "-c", context).out.startswith("true")
    assert command("feel", "a + total", "--context", "order.json", "--var", "a=1").out.startswith("1201")


def test_what_is_null_says_why(command):
    answer = command("feel", "order.total + 1", "--context", '{"order": {}}')
    assert answer.code == 0
    assert answer.out == "null   null\n"
    assert "has no member 'total'" in answer.err


def test_a_syntax_error_shows_its_place(command):
    answer = command("feel", "1 + * 2")
    assert answer.code == 1
    assert "  1 + * 2\n      ^" in answer.err
    assert command("feel", "1 + * 2", "--json").error["column"] == 5


def test_as_json_value_type_and_warnings_are_told(command):
    shown = command("feel", "missing", "--json").json
    assert (shown["value"], shown["type"], shown["warnings"][0]["code"]) == (None, "null", "no-variable")
    assert command("feel", "now()", "--json").json["type"] == "date and time"


def test_lines_are_evaluated_one_by_one_with_names_that_were_set(shop, command):
    shop.write("order.json", '{"total": 5}')
    lines = ":set rate 0.5\n:context order.json\ntotal * rate\n1 +\n:names\n:what\n:quit\nnot reached\n"
    answer = command("feel", stdin=lines)
    assert answer.code == 1  # one of the lines is no FEEL
    assert "2.5   number" in answer.out
    assert "rate" in answer.out
    assert ":quit" in answer.err
    assert "not reached" not in answer.out + answer.err


def test_strict_is_for_scripts_that_want_no_warning(command):
    assert command("feel", "missing", "--strict").code == 1
    assert command("feel", "1 + 1", "--strict").code == 0
    assert command("feel", "--strict", stdin="1\n").code == 0
    assert command("feel", "--strict", stdin="missing\n1\n").code == 1


def test_a_value_with_a_function_in_it_is_text_in_json(command):
    assert command("feel", "{f: function(x) x}", "--json").json["value"] == "{f: function(x)}"


def test_a_context_that_is_no_object_is_refused_in_words(command):
    for context in ("[1, 2]", '"text"', '{"a": '):
        answer = command("feel", "a", "--context", context)
        assert answer.code == 1
        assert "Expected --context to be a JSON object" in answer.err


def test_an_expression_that_begins_with_a_minus_sign_stands_after_two(command):
    assert command("feel", "--", "-5 + 2").out == "-3   number\n"


class Terminal:
    """`procession feel` on a terminal of its own, with a home of its own."""

    def __init__(self, home) -> None:
        import pty  # noqa: PLC0415 - Unix only, as the tests that use it

        self.pid, self.handle = pty.fork()
        self.seen = ""
        if self.pid == 0:
            environment = {**os.environ, "HOME": str(home), "TERM": "xterm"}
            environment.pop("XDG_STATE_HOME", None)
            signal.signal(signal.SIGINT, signal.SIG_DFL)  # ignored where a shell runs the tests in the background
            os.execve(sys.executable, [sys.executable, "-m", "procession", "feel"], environment)
        self.at = 0
        self.wait_for("feel> ")

    def wait_for(self, text: str) -> None:
        """Wait until a text is written after what was waited for before."""
        end = time.monotonic() + PATIENCE_S
        while text not in self.seen[self.at :]:
            assert time.monotonic() < end, f"no {text!r} in {self.seen[self.at :]!r}"
            if select.select([self.handle], [], [], 0.5)[0]:
                self.seen += os.read(self.handle, 4096).decode()
        self.at = self.seen.index(text, self.at) + len(text)

    def press(self, keys: str, answer: str) -> None:
        """Press keys and wait for what they give."""
        os.write(self.handle, keys.encode())
        self.wait_for(answer)

    def enter(self, keys: str, answer: str) -> None:
        """Type a line and wait for what it gives, and until it asks again."""
        self.press(keys, answer)
        self.wait_for("feel> ")

    def give_up(self) -> None:
        """Ctrl-C until it asks again: readline overlooks a signal that comes while it still draws the key before."""
        for _ in range(20):
            os.write(self.handle, b"\x03")
            end = time.monotonic() + PATIENCE_S / 20
            while "feel> " not in self.seen[self.at :] and time.monotonic() < end:
                if select.select([self.handle], [], [], 0.1)[0]:
                    self.seen += os.read(self.handle, 4096).decode()
            if "feel> " in self.seen[self.at :]:
                break
        self.wait_for("feel> ")

    def end(self) -> int:
        """Ctrl-D; the exit code."""
        os.write(self.handle, b"\x04")
        end = time.monotonic() + PATIENCE_S
        while not (found := os.waitpid(self.pid, os.WNOHANG))[0]:
            assert time.monotonic() < end, "it does not end"
            select.select([self.handle], [], [], 0.1)
        status = found[1]
        os.close(self.handle)
        return os.waitstatus_to_exitcode(status)


@pytest.mark.skipif(sys.platform == "win32", reason="a terminal of Unix")
def test_lines_come_back_with_the_arrow_keys_also_in_the_next_session(tmp_path):
    first = Terminal(tmp_path)
    first.enter("1 +\r", "Expected an expression")
    first.enter("20 + 1\r", "21")
    first.press("30 + 1", "30 + 1")  # the line is being edited
    first.give_up()
    first.enter("\x1b[A\x1b[A\r", "Expected an expression")  # twice up: the first line
    assert first.end() == 0

    history = tmp_path / ".local" / "state" / "procession" / "feel_history"
    assert history.stat().st_mode & 0o077 == 0  # expressions may hold what is nobody else's
    assert "20 + 1" in history.read_text()

    second = Terminal(tmp_path)
    second.enter("\x1b[A\x1b[A\r", "21")
    assert second.end() == 0
