"""Where the collections of other people's models are. They are read in place and never copied."""

from __future__ import annotations

import os
from pathlib import Path

from tests.support.sources import ROOT

VARIABLE = "PROCESSION_CORPORA"


def corpora_directory() -> Path:
    """The folder named by the environment, or else `shared/corpora` beside the checkout. It may not exist."""
    return Path(os.environ.get(VARIABLE) or ROOT.parent / "shared" / "corpora").resolve()
