"""Jobs of a type that nobody here handles: how long they go back for. There may be programs beside this one that do.

They go back for a moment at first, and each time for longer, so that what another program handles gets there soon and
what nobody handles costs little. Chance decides too, or two programs would change off for ever.
"""

from __future__ import annotations

from typing import Final

PAUSE_MS_MIN: Final = 500
PAUSE_MS_MAX: Final = 60_000
FACTOR: Final = 1.5  # each time it is so many times as long
_GROWTH_MAX: Final = 20  # times: it has long been the longest by then


def pause_s(lease: int, attempt: int, chance: float) -> float:
    """The pause of a job in this run; claims that used up no attempt are those that went back."""
    returned = min(_GROWTH_MAX, max(0, lease - attempt))
    return min(PAUSE_MS_MAX, PAUSE_MS_MIN * FACTOR**returned) * (0.5 + chance) / 1000
