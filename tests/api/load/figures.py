"""What was measured, as a file, where ``OVERLOAD_OUT`` names a folder for it."""

from __future__ import annotations

import json
import os
import platform
from pathlib import Path


def keep(name: str, figures: object) -> None:
    """Write the figures of one measurement, with what they were measured on."""
    folder = os.environ.get("OVERLOAD_OUT")
    if not folder:
        return
    about = {"python": platform.python_version(), "machine": platform.machine(), "cores": os.cpu_count()}
    text = json.dumps({"measured on": about, "figures": figures}, indent=2)
    (Path(folder) / f"{name}.json").write_text(text + "\n")
