"""Runs one database server as a child and ends it when its owner is gone, however the owner ended.

It is a program of its own (`python -I -S this_file directory uid gid stop_signal quick_signal command...`), so it
imports nothing of ours. The owner holds the other end of standard input: a letter is an order, the end of the stream
means that the owner is dead. The server is this program's own child, so a signal can never reach a stranger that got
its process id.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading

ORDER_STOP = b"s"  # end the sessions, write a checkpoint
ORDER_STOP_AT_ONCE = b"i"  # no checkpoint: the next start recovers from the log
ORDERLY_END_S = 10.0  # then an abandoned server is killed


def main() -> int:
    """Run the command until it ends; its exit code is ours. An abandoned server's directory is removed."""
    directory, uid, gid, stop, quick, *command = sys.argv[1:]
    signals = {ORDER_STOP: signal.Signals(int(stop)), ORDER_STOP_AT_ONCE: signal.Signals(int(quick))}
    server = start(command, directory, uid=int(uid), gid=int(gid))
    abandoned = threading.Event()
    threading.Thread(target=_obey, args=(server, signals, abandoned), daemon=True).start()
    code = server.wait()
    if abandoned.is_set():
        shutil.rmtree(directory, ignore_errors=True)
    return code


def start(command: list[str], directory: str, *, uid: int, gid: int) -> subprocess.Popen[bytes]:
    """Start the server under the given user, which differs from ours only when we are root."""
    if uid == os.geteuid():
        return subprocess.Popen(command, cwd=directory, stdin=subprocess.DEVNULL)
    return subprocess.Popen(command, cwd=directory, stdin=subprocess.DEVNULL, user=uid, group=gid, extra_groups=[])


def _obey(server: subprocess.Popen[bytes], signals: dict[bytes, signal.Signals], abandoned: threading.Event) -> None:
    while order := os.read(0, 1):
        server.send_signal(signals[order])
    abandoned.set()
    server.send_signal(signals[ORDER_STOP_AT_ONCE])
    try:
        server.wait(ORDERLY_END_S)
    except subprocess.TimeoutExpired:
        server.kill()


if __name__ == "__main__":
    sys.exit(main())
