"""module:attribute: what is loaded, and the clear words when it cannot be."""

from __future__ import annotations

import pytest

from procession.cli.loading import load
from procession.errors import Misconfigured


@pytest.fixture
def modules(shop):
    shop.write(
        "fine.py", "from procession import Procession\napp = Procession('memory://')\nother = Procession('memory://')\n"
    )
    shop.write("nested.py", "import fine\n\nclass settings:\n    app = fine.other\n")
    shop.write(
        "wrong.py",
        "from procession import Procession\nthing = 7\norders = Procession('memory://')\nface = orders.sync\n",
    )
    shop.write("syntax.py", "def broken(:\n")
    shop.write("raises.py", "def connect():\n    raise RuntimeError('no network')\n\nconnect()\n")
    shop.write("imports.py", "import does_not_exist_anywhere\n")


def test_the_attribute_is_called_app_if_it_is_left_out(modules):
    assert load("fine") is load("fine:app")


def test_an_attribute_may_be_within_another(modules):
    assert load("nested:settings.app") is load("fine:other")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("absent:app", r"Expected a module 'absent' in .*found no 'absent'"),
        ("fine.deeper:app", r"fine.deeper"),
        ("wrong:app", r"Expected a Procession called 'app' in module 'wrong', found none; there is wrong:orders"),
        ("wrong:thing", r"Expected 'wrong:thing' to be a Procession, found int; there is wrong:orders"),
        ("wrong:face", r"name the Procession itself"),
        ("syntax:app", r"Importing 'syntax' failed: SyntaxError: .*\(syntax.py, line 1\)"),
        ("raises:app", r"Importing 'raises' failed: RuntimeError: no network \(raises.py, line 2"),
        ("imports:app", r"Importing 'imports' failed: ModuleNotFoundError: .*does_not_exist_anywhere.*imports.py"),
        ("fine.py:app", r"found a file; try 'fine:app'"),
        ("shop/fine.py", r"try 'shop.fine:app'"),
        ("a b:app", r"such as orders:app, found 'a b:app'"),
    ],
)
def test_what_cannot_be_loaded_is_told_in_one_sentence(modules, name, message):
    with pytest.raises(Misconfigured, match=message):
        load(name)


def test_a_worker_without_an_application_ends_with_1_and_no_traceback(modules, command):
    answer = command("work", "absent:app")
    assert answer.code == 1
    assert answer.err.startswith("Error: Expected a module 'absent'")
