"""PgBouncer in transaction mode before the run's PostgreSQL: Debian's package, for tests only."""

from __future__ import annotations

import shutil
import signal
import socket
from pathlib import Path
from typing import ClassVar
from urllib.parse import urlsplit

from procession.lab._accounts import give
from procession.lab._own_server import OwnServer

MISSING = "no PgBouncer on this machine: on Debian and Ubuntu `apt-get install pgbouncer` brings it"
FOLDERS = "/usr/sbin:/usr/local/sbin:/usr/bin:/usr/local/bin"
# Few connections to the server, so that a transaction rarely gets the one that the transaction before it had.
SETTINGS = """
[databases]
* = host={host} port={port} user={user} password={password}

[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {own_port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 4
max_client_conn = 500
server_round_robin = 1
logfile =
pidfile = {pid_file}
"""


def program() -> str | None:
    """Where it is; ordinary users have no `sbin` in their path."""
    return shutil.which("pgbouncer") or shutil.which("pgbouncer", path=FOLDERS)


class PgBouncer(OwnServer):
    """A pooler before the server of a URL: `.through(url)` leads to the same database by way of it."""

    product: ClassVar[str] = "PgBouncer"
    folder_prefix: ClassVar[str] = "procession-pgbouncer-"
    users_instead_of_root: ClassVar[tuple[str, ...]] = ("postgres", "nobody")
    stop_signal: ClassVar[signal.Signals] = signal.SIGINT
    quick_signal: ClassVar[signal.Signals] = signal.SIGTERM

    def __init__(self, server_url: str) -> None:
        super().__init__()
        self._server = urlsplit(server_url)

    def through(self, url: str) -> str:
        return f"postgresql://{self._server.username}@127.0.0.1:{self._port}{urlsplit(url).path}"

    def _initialise(self, directory: Path) -> None:
        """It keeps nothing."""

    def _command(self) -> list[str]:
        settings = self.directory / "pgbouncer.ini"
        settings.touch(mode=0o600)
        server = self._server
        settings.write_text(
            SETTINGS.format(
                host=server.hostname,
                port=server.port,
                user=server.username,
                password=server.password,
                own_port=self._port,
                pid_file=self._pid_file(),
            )
        )
        give(settings, self._account)
        found = program()
        assert found is not None, MISSING
        return [found, str(settings)]

    def _accepts_connections(self) -> bool:
        if not self._pid_file().exists():
            return False
        try:
            with socket.create_connection(("127.0.0.1", self._port), 1.0):
                return True
        except OSError:
            return False

    def _pid_file(self) -> Path:
        return self.directory / "pid"
