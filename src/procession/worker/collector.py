"""How often Python looks for cycles of objects in a process that is ours alone. It frees nothing itself.

A new look is due when so many more objects were made than freed. Instances on their way are some thousand objects that
are part of no cycle: at Python's own threshold (2,000, or 700 before 3.12) they alone caused a look for every 70
instances, and each look reads through all that is under way. The larger threshold is passed by what really grows.
"""

from __future__ import annotations

import gc
from typing import Final

MADE_MAX: Final = 10_000  # objects that are made and not freed before the next look


def calm_collector() -> None:
    """Let the collector look less often, unless it was told to look even less often, or not at all."""
    made, *older = gc.get_threshold()
    if 0 < made < MADE_MAX:
        gc.set_threshold(MADE_MAX, *older)
