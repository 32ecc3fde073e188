"""Runs the code of a page of documentation: what a reader copies works, and prints what the page says it prints.

A page's Python blocks run in order and share their names, in an empty folder that holds the models of `docs/models`.
`await` may stand at the top level. A `text` block that follows a Python block is what that block prints. A block with a
title (```xml title="hello.bpmn") is written to that file; a Python one with a title is written and run as a script.
"""

from __future__ import annotations

import ast
import asyncio
import re
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from contextlib import redirect_stdout
from io import StringIO
from itertools import zip_longest
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from procession import Procession
from tests.support.sources import ROOT

GUIDES = (
    "getting-started",
    "concepts",
    "bpmn",
    "handlers",
    "messages-and-timers",
    "decisions-in-processes",
    "jobs",
    "job-options",
    "recurring",
    "encryption",
    "middleware",
    "queues",
    "transactions",
    "django",
    "fastapi",
    "testing",
    "coming-from",
    "incidents",
    "user-tasks",
    "operations",
    "server",
    "page",
    "server-pages",
    "command-line",
)
MODELS = ROOT / "docs" / "models"
FENCE = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$', re.MULTILINE | re.DOTALL)


class Block(NamedTuple):
    language: str
    title: str
    text: str
    line: int


def blocks_of(page: Path) -> Iterator[Block]:
    text = page.read_text(encoding="utf-8")
    for match in FENCE.finditer(text):
        yield Block(match[1], match[2] or "", match[3], text.count("\n", 0, match.start()) + 2)


def run_page(page: Path, folder: Path) -> int:
    """Run a page's blocks in a folder, which has to be the working directory; how many were run."""
    for model in MODELS.glob("*.bpmn"):
        shutil.copy(model, folder)
    module = sys.modules["page"] = ModuleType("page")  # where the page's dataclasses look for their names
    names = vars(module)
    with asyncio.Runner() as runner:
        try:
            return run_blocks(page, folder, names, runner)
        finally:
            for application in [value for value in names.values() if isinstance(value, Procession)]:
                runner.run(application.close())
            del sys.modules["page"]


def run_blocks(page: Path, folder: Path, names: dict[str, Any], runner: asyncio.Runner) -> int:
    """Write the files, run the Python blocks, compare what they print; how many were run."""
    blocks = list(blocks_of(page))
    ran = 0
    for block, following in zip_longest(blocks, blocks[1:]):
        if block.title:
            (folder / block.title).write_text(block.text, encoding="utf-8")
        if block.language != "python":
            continue
        printed = run_script(folder / block.title) if block.title else run_block(block, page, names, runner)
        if following is not None and following.language == "text":
            assert printed == following.text, f"{page.name}:{following.line}: it prints\n{printed}"
        ran += 1
    return ran


def run_block(block: Block, page: Path, names: dict[str, Any], runner: asyncio.Runner) -> str:
    """Run a block as a part of its page; what it printed."""
    source = "\n" * (block.line - 1) + block.text  # errors name the page's line
    code = compile(source, str(page), "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    printed = StringIO()
    with redirect_stdout(printed):
        result = eval(code, names)
        if result is not None:
            runner.run(result)
    return printed.getvalue()


def run_script(path: Path) -> str:
    """Run a file as a user would; what it printed."""
    done = subprocess.run(
        [sys.executable, path.name], cwd=path.parent, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, textwrap.indent(done.stderr, "  ")
    return done.stdout
