"""Other engines of FEEL, side by side: installed from their registries into a folder, and timed by scripts there.

Only done when it is asked for. What cannot be installed or run is a note of the result, never a failure.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import venv
from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any, Final

import msgspec

from procession.lab.results import PeerFigure

PYTHON_ENGINES: Final = ("pySFeel", "bkflow-feel")
NODE_ENGINE: Final = "feelin"
INSTALL_S_MAX: Final = 300.0
RUN_S_MAX: Final = 300.0


def time_peers(
    expressions: Sequence[Mapping[str, object]], context: Mapping[str, object], *, folder: Path, seconds: float
) -> tuple[list[PeerFigure], list[str]]:
    """Figures of the other engines, and notes about those that could not be timed. ``folder`` is made if need be."""
    folder.mkdir(parents=True, exist_ok=True)
    question = json.dumps({"expressions": list(expressions), "context": dict(context), "seconds": seconds}).encode()
    figures: list[PeerFigure] = []
    notes: list[str] = []
    for name, time_them in (("engines for Python", _python), (NODE_ENGINE, _node)):
        try:
            figures += msgspec.json.decode(time_them(folder, question), type=list[PeerFigure])
        except subprocess.CalledProcessError as error:
            notes.append(f"{name}: {(error.stderr or b'').decode(errors='replace').strip()[-300:] or error}")
        except (OSError, subprocess.TimeoutExpired, msgspec.DecodeError) as error:
            notes.append(f"{name}: {error}"[:300])
    return figures, notes


def _python(folder: Path, question: bytes) -> bytes:
    """Install into an environment of their own, once, and time them there."""
    place = folder / "python"
    program = place / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    if not (place / "installed").exists():
        venv.create(place, with_pip=True, clear=True)
        _run([str(program), "-m", "pip", "install", "--quiet", *PYTHON_ENGINES], INSTALL_S_MAX)
        (place / "installed").touch()
    return _run([str(program), "-I", "-c", _script("python_engines.py")], RUN_S_MAX, question)


def _node(folder: Path, question: bytes) -> bytes:
    """The same with npm. Raises FileNotFoundError where there is no node."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        message = "node and npm are not there"
        raise FileNotFoundError(message)
    place = folder / "node"
    place.mkdir(exist_ok=True)
    if not (place / "node_modules" / NODE_ENGINE).exists():
        (place / "package.json").write_text("{}")
        _run(
            [npm, "install", "--silent", "--no-audit", "--no-fund", "--prefix", str(place), NODE_ENGINE], INSTALL_S_MAX
        )
    script = place / "feelin.mjs"
    script.write_text(_script("feelin.mjs"))
    return _run([node, str(script), str(place.resolve())], RUN_S_MAX, question)


def _script(name: str) -> str:
    return (resources.files("procession.lab") / "peers" / name).read_text(encoding="utf-8")


def _run(command: list[str], seconds: float, question: bytes = b"") -> bytes:
    done: Any = subprocess.run(command, input=question, capture_output=True, timeout=seconds, check=True)
    return done.stdout
