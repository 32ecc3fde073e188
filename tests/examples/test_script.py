"""The plain script does what its README says."""

from __future__ import annotations

import subprocess
import sys

from tests.support.sources import ROOT

SCRIPT = ROOT / "examples" / "script" / "greet.py"


def test_the_script_greets_and_may_be_run_again_on_its_database(tmp_path):
    for guest in ("Ada", "Grace"):
        run = subprocess.run(
            [sys.executable, str(SCRIPT), guest], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False
        )
        assert (run.returncode, run.stdout, run.stderr) == (0, f"COMPLETED Welcome, {guest}!\n", "")
