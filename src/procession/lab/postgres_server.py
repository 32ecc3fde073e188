"""A PostgreSQL server of our own, for benchmarks and tests; its life is told in `_own_server.py`."""

from __future__ import annotations

import signal
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar, Final

from procession.errors import Unavailable
from procession.lab._accounts import give, run_as
from procession.lab._own_server import OwnServer
from procession.lab._postgres_programs import USERS_INSTEAD_OF_ROOT, programs_for

STATUS_LINE: Final = 7  # of postmaster.pid: "starting", "ready", ...

_DURABLE: Final = {"fsync": "on", "synchronous_commit": "on", "full_page_writes": "on"}
_FAST: Final = {"fsync": "off", "synchronous_commit": "on", "full_page_writes": "off"}


class PostgresServer(OwnServer):
    """One server and its life: `with PostgresServer() as server: connect(server.url())`.

    A durable server flushes every commit to disk, as a user's does. One that is not survives the end of its processes
    (`stop`, `kill`) but not a loss of power, and is faster. `settings` are PostgreSQL's own, such as
    `{"shared_buffers": "2GB", "max_wal_size": "4GB"}`, and win over ours.
    """

    product: ClassVar[str] = "PostgreSQL"
    folder_prefix: ClassVar[str] = "procession-postgres-"
    users_instead_of_root: ClassVar[tuple[str, ...]] = USERS_INSTEAD_OF_ROOT
    stop_signal: ClassVar[signal.Signals] = signal.SIGINT
    quick_signal: ClassVar[signal.Signals] = signal.SIGQUIT

    def __init__(self, *, durable: bool = True, settings: Mapping[str, str] | None = None) -> None:
        super().__init__()
        self.settings: Final = {
            "listen_addresses": "127.0.0.1",
            "unix_socket_directories": "",
            "max_connections": "200",
            **(_DURABLE if durable else _FAST),
            **(settings or {}),
        }
        self._programs: Path | None = None

    def url(self, database: str = "postgres") -> str:
        """The address of a database on this server; it stays the same over stops and restarts."""
        return f"postgresql://postgres:{self._password}@127.0.0.1:{self._port}/{database}"

    def _initialise(self, directory: Path) -> None:
        account = self._account
        self._programs = programs_for(account, directory)
        password_file = directory / "password"
        password_file.touch(mode=0o600)
        password_file.write_text(self._password)
        give(password_file, account)
        command = [
            str(self._programs / "initdb"),
            f"--pgdata={directory / 'data'}",
            "--username=postgres",
            f"--pwfile={password_file}",
            "--auth=scram-sha-256",
            # The password is 128 random bits: rounds of hashing would only slow each connection down.
            *("--set", "scram_iterations=1"),
            "--encoding=UTF8",
            "--locale=C",
            "--no-sync",
        ]
        result = run_as(account, command, directory=directory)
        password_file.unlink()
        if result.returncode != 0:
            message = f"initdb as user {account.name!r} in {directory} ended with {result.returncode}:\n{result.stderr}"
            raise Unavailable(message)

    def _command(self) -> list[str]:
        assert self._programs is not None
        settings = {**self.settings, "port": str(self._port)}
        return [
            *(str(self._programs / "postgres"), "-D", str(self.directory / "data")),
            *(part for name, value in settings.items() for part in ("-c", f"{name}={value}")),
        ]

    def _accepts_connections(self) -> bool:
        try:
            lines = self._pid_file().read_text().splitlines()
        except FileNotFoundError:
            return False
        return len(lines) > STATUS_LINE and lines[STATUS_LINE].strip() == "ready"

    def _pid_file(self) -> Path:
        return self.directory / "data" / "postmaster.pid"
