"""The life of a database server of our own: on loopback, in a temporary folder, gone when its owner is gone.

For benchmarks and tests. It never touches a server that it did not start, and never outlives its process: a
supervisor ends it even when that process is killed. What the server is, its subclasses say.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import ClassVar, Final, Self

import psutil

from procession.errors import Unavailable
from procession.lab import _server_supervisor as supervisor
from procession.lab._accounts import Account, give, unprivileged_account

START_S_MAX: Final = 60.0  # recovery after a kill included
STOP_S_MAX: Final = 60.0
POLL_S: Final = 0.01
PORT_TRIES_MAX: Final = 20
# Below the ports that systems lend to outgoing connections: a client that keeps trying a stopped server's lent port
# can connect to itself, and then the server cannot have its port back.
PORTS: Final = range(20_000, 32_000)
LOG_LINES_SHOWN: Final = 20


class OwnServer:
    """One server and its life: `with SomeServer() as server: connect(server.url())`.

    Its password is made anew, since whoever may connect as the superuser may run programs as the user it runs under.
    """

    product: ClassVar[str]  # as people call it
    folder_prefix: ClassVar[str]
    users_instead_of_root: ClassVar[tuple[str, ...]]
    stop_signal: ClassVar[signal.Signals]  # in order
    quick_signal: ClassVar[signal.Signals]  # at once: the next start has to recover

    def __init__(self) -> None:
        self._account: Account = unprivileged_account(self.product, self.users_instead_of_root)
        self._password = secrets.token_hex(16)
        self._directory: Path | None = None
        self._port = 0
        self._supervisor: subprocess.Popen[bytes] | None = None

    @property
    def is_running(self) -> bool:
        """Whether the server's process is there."""
        return self._supervisor is not None and self._supervisor.poll() is None

    @property
    def pid(self) -> int:
        """The process id of the server's first process."""
        return int(self._pid_file().read_text().splitlines()[0])

    @property
    def directory(self) -> Path:
        """The folder of everything the server keeps; it exists from the first start to `close`."""
        if self._directory is None:
            message = (
                f"Expected a {self.product} server that was started once, found one that never was; call start() first"
            )
            raise Unavailable(message)
        return self._directory

    def start(self) -> None:
        """Start, and return when connections are accepted: after a kill or an immediate stop, after the recovery."""
        if self.is_running:
            return
        if self._directory is None:
            self._create()
        log_start = self._log_file().stat().st_size if self._log_file().exists() else 0
        self._pid_file().unlink(missing_ok=True)  # left by a kill; our own process is known to be gone
        self._launch()
        deadline = time.monotonic() + START_S_MAX
        while not self._accepts_connections():
            if not self.is_running or time.monotonic() > deadline:
                self.stop(immediate=True)
                message = (
                    f"{self.product} did not start on port {self._port}; its log ends:\n{self._log_tail(log_start)}"
                )
                raise Unavailable(message)
            time.sleep(POLL_S)

    def stop(self, *, immediate: bool = False) -> None:
        """End all sessions and stop; `immediate` writes no checkpoint, so that the next start has to recover."""
        if self._supervisor is None:
            return
        stdin = self._supervisor.stdin
        assert stdin is not None
        with contextlib.suppress(BrokenPipeError):  # it has ended by itself
            stdin.write(supervisor.ORDER_STOP_AT_ONCE if immediate else supervisor.ORDER_STOP)
        self._await_end()

    def kill(self) -> None:
        """End every process of the server at once with SIGKILL, as a lost machine would."""
        if self._supervisor is None or not self.is_running:
            return
        first = psutil.Process(self.pid)
        processes = [first, *first.children(recursive=True)]
        for process in processes:  # the first process first, so that it cannot start others
            with contextlib.suppress(psutil.NoSuchProcess):
                process.send_signal(signal.SIGKILL)
        self._await_end()
        deadline = time.monotonic() + STOP_S_MAX
        while not all(_has_ended(process) for process in processes) and time.monotonic() < deadline:
            time.sleep(POLL_S)

    def restart(self, *, immediate: bool = False) -> None:
        """Stop and start on the same port with the same data."""
        self.stop(immediate=immediate)
        self.start()

    def close(self) -> None:
        """Stop at once and remove all data."""
        self.stop(immediate=True)
        if self._directory is not None:
            shutil.rmtree(self._directory, ignore_errors=True)
            self._directory = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    # -- what a kind of server says --------------------------------------------------------------------------------
    def _initialise(self, directory: Path) -> None:
        """Make an empty cluster in the folder, which belongs to the server's user."""
        raise NotImplementedError

    def _command(self) -> list[str]:
        """The program and its arguments."""
        raise NotImplementedError

    def _accepts_connections(self) -> bool:
        raise NotImplementedError

    def _pid_file(self) -> Path:
        raise NotImplementedError

    # -- inside ---------------------------------------------------------------------------------------------------
    def _create(self) -> None:
        """Make the folder and an empty cluster in it."""
        self._directory = Path(tempfile.mkdtemp(prefix=self.folder_prefix))
        give(self._directory, self._account)
        try:
            self._initialise(self._directory)
        except BaseException:
            self.close()
            raise
        self._port = _free_port()

    def _launch(self) -> None:
        """Start the supervisor, which starts the server, in a session that no Ctrl-C reaches."""
        command = [
            *(sys.executable, "-I", "-S", str(Path(supervisor.__file__))),
            *(str(self.directory), str(self._account.uid), str(self._account.gid)),
            *(str(int(self.stop_signal)), str(int(self.quick_signal))),
            *self._command(),
        ]
        with self._log_file().open("ab") as log:
            self._supervisor = subprocess.Popen(
                command,
                bufsize=0,
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def _await_end(self) -> None:
        assert self._supervisor is not None
        try:
            self._supervisor.wait(STOP_S_MAX)
        except subprocess.TimeoutExpired as late:
            message = f"{self.product} (pid {self.pid}) did not stop within {STOP_S_MAX:g} s; see {self._log_file()}"
            raise Unavailable(message) from late
        if self._supervisor.stdin is not None:
            self._supervisor.stdin.close()
        self._supervisor = None

    def _log_file(self) -> Path:
        return self.directory / "log"

    def _log_tail(self, start: int) -> str:
        with self._log_file().open("rb") as log:
            log.seek(start, os.SEEK_SET)
            lines = log.read().decode(errors="replace").splitlines()
        return "\n".join(lines[-LOG_LINES_SHOWN:])


def _has_ended(process: psutil.Process) -> bool:
    """Whether nothing of it runs any more; a zombie only waits for a parent who may never ask for it."""
    try:
        return process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def _free_port() -> int:
    for _ in range(PORT_TRIES_MAX):
        port = secrets.choice(PORTS)
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        return port
    message = (
        f"Expected a free port between {PORTS.start} and {PORTS.stop}, found none in {PORT_TRIES_MAX} tries; "
        "stop what listens there"
    )
    raise Unavailable(message)
