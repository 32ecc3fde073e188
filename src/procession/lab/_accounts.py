"""Who a server of ours runs as: never root. Owners of files, and programs run to their end. It starts no server."""

from __future__ import annotations

import os
import pwd
import subprocess
from pathlib import Path

import msgspec

from procession.errors import Misconfigured


class Account(msgspec.Struct, frozen=True):
    """The system user that a server runs as."""

    name: str
    uid: int
    gid: int


def unprivileged_account(server: str, users: tuple[str, ...]) -> Account:
    """Ourselves, or, because servers refuse to run as root, the first of a few users that systems come with."""
    if os.geteuid() != 0:
        own = pwd.getpwuid(os.geteuid())
        return Account(own.pw_name, os.geteuid(), os.getegid())
    known = {entry.pw_name: entry for entry in pwd.getpwall()}
    for name in users:
        if name in known:
            return Account(name, known[name].pw_uid, known[name].pw_gid)
    expected = " or ".join(repr(name) for name in users)
    message = f"{server} does not run as root: expected a system user {expected}, found neither; add one of them"
    raise Misconfigured(message)


def give(path: Path, account: Account) -> None:
    """Make the account the owner of a file or of a folder and all that is in it."""
    if account.uid == os.geteuid():
        return
    os.chown(path, account.uid, account.gid)
    for folder, folders, files in os.walk(path):
        for name in (*folders, *files):
            os.chown(Path(folder, name), account.uid, account.gid, follow_symlinks=False)


def run_as(account: Account, command: list[str], *, directory: Path) -> subprocess.CompletedProcess[str]:
    """Run a program to its end as the account, and return what it said."""
    if account.uid == os.geteuid():
        return subprocess.run(command, cwd=directory, capture_output=True, text=True, check=False)
    return subprocess.run(
        command,
        cwd=directory,
        capture_output=True,
        text=True,
        check=False,
        user=account.uid,
        group=account.gid,
        extra_groups=[],
    )
