"""The files of this project, as git knows them; without git, as they lie in the folders."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "procession"
PYTHON_FOLDERS = ("src", "tests", "examples")
# What a checkout holds that is not ours to judge, where git is not there to say so.
_GENERATED = {".venv", "build", "dist", "site", "node_modules", "bench-results", "__pycache__"}


def tracked_files() -> list[Path]:
    """Every file that is committed, or that git would not ignore."""
    if git := shutil.which("git"):
        command = [git, "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        listing = subprocess.run(command, capture_output=True, check=False)
        if listing.returncode == 0:
            return sorted(
                {ROOT / name for name in listing.stdout.decode().split("\0") if name and (ROOT / name).is_file()}
            )
    return sorted(path for path in ROOT.rglob("*") if path.is_file() and not _is_generated(path.relative_to(ROOT)))


def python_files() -> list[Path]:
    """Every Python file of the package, the tests and the examples."""
    folders = tuple(ROOT / name for name in PYTHON_FOLDERS)
    return [path for path in tracked_files() if path.suffix == ".py" and any(f in path.parents for f in folders)]


def _is_generated(path: Path) -> bool:
    return any(part in _GENERATED or (part.startswith(".") and part != ".ci") for part in path.parts[:-1])
