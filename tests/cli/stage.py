"""What stories of the command line are made of: a folder, an application in it, answers, real processes."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from procession import Procession
from procession.testing.bpmn import ProcessBuilder

PATIENCE_S = 30.0  # on a machine that is busy with other things
LIVELY = "Settings(heartbeat_ms=200, heartbeat_missed_max=3, dead_after_ms=1500, lead_term_ms=600)"

APP = f"""\
import asyncio
from pathlib import Path

from procession import Job, Procession
from procession.engine import Settings

app = Procession("sqlite:///shop.db", settings={LIVELY})


@app.method("price")
def price(items: list[float]) -> dict:
    return {{"total": sum(items)}}


@app.job("charge", retries=1)
async def charge(job: Job, total: float, card: str = "good") -> dict:
    with Path("charges").open("a") as log:
        log.write(f"{{job.process_instance_key}}\\n")
    if card == "bad":
        raise ValueError("the card is bad")
    if card == "slow":
        await asyncio.sleep(0.5)
    if card == "stuck" and not Path("unstick").exists():
        await asyncio.sleep(600)
    return {{"receipt": f"R-{{total}}"}}
"""


class Answer:
    """What a command line gave."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code = code
        self.out = out
        self.err = err

    @property
    def json(self) -> Any:
        """The whole of stdout as JSON."""
        return json.loads(self.out)

    @property
    def error(self) -> dict[str, Any]:
        """The error on stderr."""
        return json.loads(self.err)["error"]

    def __repr__(self) -> str:
        return f"exit code {self.code}\n--- stdout\n{self.out}--- stderr\n{self.err}"


class Running:
    """A real process whose output is read while it runs."""

    def __init__(self, arguments: tuple[str, ...], folder: Path) -> None:
        self.lines: list[str] = []
        self._changed = threading.Condition()
        self._ended = False
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-m", "procession", *arguments],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            with self._changed:
                self.lines.append(line)
                self._changed.notify_all()
        with self._changed:
            self._ended = True
            self._changed.notify_all()

    @property
    def text(self) -> str:
        return "".join(self.lines)

    def wait_for(self, text: str, times: int = 1) -> None:
        """Until it has printed this, so many times; it fails at once if the process ends instead."""
        with self._changed:
            self._changed.wait_for(lambda: self._ended or self.text.count(text) >= times, PATIENCE_S)
        assert self.text.count(text) >= times, f"expected {text!r} {times} times, found:\n{self.text}"

    def events(self) -> list[dict[str, Any]]:
        """What it has said with --json."""
        return [json.loads(line) for line in self.lines if line.startswith("{")]

    def signal(self, number: int) -> None:
        self.process.send_signal(number)

    def ended(self) -> int:
        """Its exit code, once it has ended."""
        code = self.process.wait(PATIENCE_S)
        self._reader.join(PATIENCE_S)
        return code


class Shop:
    """The folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.url = "sqlite:///shop.db"

    def write(self, name: str, content: str | bytes | ProcessBuilder) -> Path:
        path = self.folder / name
        found = content.xml() if isinstance(content, ProcessBuilder) else content
        path.write_bytes(found.encode() if isinstance(found, str) else found)
        return path

    def work_off(self, *, app: str = "") -> None:
        """Do everything that is due, in this process."""
        from procession.cli.session import application  # noqa: PLC0415 - with the options of the moment

        async def work() -> None:
            opened = await (application(app) if app else Procession(self.url)).open(run_workers=False)
            await opened.run_until_idle()
            await opened.close()

        asyncio.run(work())


Command = Callable[..., Answer]


def until(condition: Callable[[], Any]) -> Any:
    """Wait for a condition to be true; its value."""
    deadline = time.monotonic() + PATIENCE_S
    while not (found := condition()):
        assert time.monotonic() < deadline, f"waited {PATIENCE_S} s in vain"
        time.sleep(0.1)
    return found


def lives(pid: int) -> bool:
    """Whether a process runs."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    with Path(f"/proc/{pid}/stat").open() as status:
        return status.read().rpartition(")")[2].split()[0] != "Z"
