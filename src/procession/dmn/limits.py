"""Named maxima of decisions, each with the reason for its size. What FEEL itself is bounded by stands in `feel.limits`.

This module holds numbers only.
"""

from typing import Final

# Tables kept in the trace of one decision. A table in a function that a loop calls is evaluated once per turn; people
# read the first few, and what is left out is counted.
TRACE_TABLES_MAX: Final = 1_000

# Decisions kept in the trace of one evaluation; more than that only come from services that loops call.
TRACE_DECISIONS_MAX: Final = 10_000

# Different constants of one file that are read once each.
CONSTANTS_KEPT: Final = 10_000

# Rules of a table that one turn of a loop pays for: most are left at their first test, in half a microsecond.
RULES_PER_TURN: Final = 4
