"""Named maxima of an exploration, each with the reason for its size. Numbers only.

Reaching one never hangs and never passes silently: the report names it, and what needs a complete exploration (dead
elements, loops without an end) is then not claimed.
"""

from typing import Final

# Distinct states. Some 4,000 are visited a second, so that this takes about ten seconds and 20 MB.
STATES_MAX: Final = 40_000

# Steps taken between states, where each state has many: some 15 seconds.
MOVES_MAX: Final = 200_000

# Steps on the shortest way to a state. A sound process has some three per element; longer ways are loops that gather
# something (tokens, records of compensation) on each turn.
DEPTH_MAX: Final = 1_000

# Tokens on one flow, or instances of one element in one scope. Two already prove that a place is unsafe; a few more
# show whether what follows still ends. States beyond are not followed.
TOKENS_MAX: Final = 4

# Messages of one message flow that nobody has received yet.
MESSAGES_MAX: Final = 4

# Inner instances of a multi-instance activity: two are enough to overlap.
INNER_INSTANCES: Final = 2

# Flows of an inclusive split of which every non-empty subset is tried: 63. With more, each alone, each pair, and all.
SUBSET_FLOWS_MAX: Final = 6

# Outcomes of one step, where several decisions follow each other without a pause.
OUTCOMES_MAX: Final = 2_000

# Findings of one kind that a report holds, the shortest traces first.
FINDINGS_MAX: Final = 50

# For `procession lint`: well under half a second for all processes of a file together.
LINT_STATES_MAX: Final = 800
LINT_MOVES_MAX: Final = 2_500
