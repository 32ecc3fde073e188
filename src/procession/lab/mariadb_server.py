"""A MariaDB server of our own, for benchmarks and tests; its life is told in `_own_server.py`.

Its programs are those of the system: Debian's package `mariadb-server` brings them. No wheel does.
"""

from __future__ import annotations

import shutil
import signal
import socket
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar, Final

from procession.errors import Misconfigured, Unavailable
from procession.lab._accounts import give, run_as
from procession.lab._own_server import OwnServer

CONNECT_S_MAX: Final = 1.0
USER: Final = "root"  # the server's own first user
PROGRAM_FOLDERS: Final = ("/usr/local/sbin", "/usr/sbin", "/usr/local/bin", "/usr/bin", "/opt/homebrew/bin")

_DURABLE: Final = {"innodb_flush_log_at_trx_commit": "1", "innodb_doublewrite": "ON"}
# Written at each commit, flushed by the system: kept when the server's process ends, not when the machine does.
_FAST: Final = {"innodb_flush_log_at_trx_commit": "2", "innodb_doublewrite": "OFF", "innodb_flush_method": "nosync"}


class MariadbServer(OwnServer):
    """One server and its life: `with MariadbServer() as server: connect(server.url())`.

    A durable server flushes every commit to disk, as a user's does. One that is not survives the end of its processes
    (`stop`, `kill`) but not a loss of power, and is faster. `settings` are the server's own, such as
    `{"innodb_buffer_pool_size": "1G"}`, and win over ours. There is no binary log unless they ask for it.
    """

    product: ClassVar[str] = "MariaDB"
    folder_prefix: ClassVar[str] = "procession-mariadb-"
    users_instead_of_root: ClassVar[tuple[str, ...]] = ("mysql", "nobody")
    stop_signal: ClassVar[signal.Signals] = signal.SIGTERM
    quick_signal: ClassVar[signal.Signals] = signal.SIGKILL

    def __init__(self, *, durable: bool = True, settings: Mapping[str, str] | None = None) -> None:
        super().__init__()
        self.settings: Final = {
            "bind_address": "127.0.0.1",
            "skip_name_resolve": "ON",
            "max_connections": "300",
            "performance_schema": "OFF",
            **(_DURABLE if durable else _FAST),
            **(settings or {}),
        }

    def url(self, database: str = "mysql") -> str:
        """The address of a database on this server; it stays the same over stops and restarts."""
        return f"mysql://{USER}:{self._password}@127.0.0.1:{self._port}/{database}"

    def _initialise(self, directory: Path) -> None:
        account = self._account
        data = directory / "data"
        command = [
            _program("mariadb-install-db"),
            "--no-defaults",  # first, or the machine's own configuration is read
            f"--datadir={data}",
            "--auth-root-authentication-method=normal",
            "--skip-test-db",
            "--skip-name-resolve",
            f"--tmpdir={directory}",
            "--innodb-log-file-size=8M",
        ]
        result = run_as(account, command, directory=directory)
        if result.returncode != 0:
            said = f"{result.stdout}\n{result.stderr}".strip()
            message = f"mariadb-install-db as user {account.name!r} ended with {result.returncode}:\n{said}"
            raise Unavailable(message)
        words = directory / "password.sql"
        words.touch(mode=0o600)
        words.write_text(
            f"ALTER USER 'root'@'localhost' IDENTIFIED BY '{self._password}';\n"
            f"CREATE OR REPLACE USER 'root'@'127.0.0.1' IDENTIFIED BY '{self._password}';\n"
            "GRANT ALL ON *.* TO 'root'@'127.0.0.1' WITH GRANT OPTION;\n"
            "DROP USER IF EXISTS ''@'localhost';\n"
        )
        give(words, account)

    def _command(self) -> list[str]:
        directory = self.directory
        settings = {
            "datadir": str(directory / "data"),
            "tmpdir": str(directory),
            "socket": str(directory / "socket"),
            "pid_file": str(self._pid_file()),
            "init_file": str(directory / "password.sql"),
            "port": str(self._port),
            **self.settings,
        }
        return [
            _program("mariadbd"),
            "--no-defaults",
            *(f"--{name.replace('_', '-')}={value}" for name, value in settings.items()),
        ]

    def _accepts_connections(self) -> bool:
        """Whether the server greets: it listens only after the recovery and the file of its first statements."""
        if not self._pid_file().exists():
            return False
        try:
            with socket.create_connection(("127.0.0.1", self._port), CONNECT_S_MAX) as connection:
                return bool(connection.recv(1))
        except OSError:
            return False

    def _pid_file(self) -> Path:
        return self.directory / "pid"


def mariadb_is_installed() -> bool:
    """Whether the programs of a server are on this machine."""
    return _find("mariadbd") is not None and _find("mariadb-install-db") is not None


def _find(program: str) -> str | None:
    """Where a program is; ordinary users have no `sbin` in their path."""
    return shutil.which(program) or shutil.which(program, path=":".join(PROGRAM_FOLDERS))


def _program(name: str) -> str:
    found = _find(name)
    if found is None:
        message = f"MariaDB's {name} is not installed: on Debian and Ubuntu `apt-get install mariadb-server` brings it"
        raise Misconfigured(message)
    return found
