"""Named maxima of the expression language, each with the reason for its size.

Reaching one while compiling is a syntax error; reaching one while evaluating gives null and a warning that names it.
This module holds numbers only.
"""

from typing import Final

# A condition is a line, a decision's literal expression a page. 64 Ki characters is far above both.
TEXT_LENGTH_MAX: Final = 65_536

# Nesting of brackets and of operator chains. One level costs at most three Python frames while parsing and one while
# evaluating, so that 120 levels stay clear of Python's own limit of 1000 frames.
NESTING_DEPTH_MAX: Final = 120

# Calls of functions inside functions (recursion). Each takes four to six Python frames.
CALL_DEPTH_MAX: Final = 120

# Turns of all loops, filters, sorts and function calls of one evaluation together: about a second of work. What one
# turn pays for else: so many items that a function looks at or that are only copied, characters that are read or
# written, parts of a long body.
ITERATIONS_MAX: Final = 500_000
ITEMS_PER_TURN: Final = 8
ITEMS_COPIED_PER_TURN: Final = 1_024
CHARACTERS_PER_TURN: Final = 64
PARTS_PER_TURN: Final = 16

# Items of a list that an expression builds (for, .., concatenate, flatten).
LIST_ITEMS_MAX: Final = 1_000_000

# Characters of a string that an expression builds.
STRING_LENGTH_MAX: Final = 1_000_000

# Depth of nested lists and contexts that equality, string(), flatten and conversion to JSON follow.
VALUE_DEPTH_MAX: Final = 100

# Lists, contexts and values in them that to_json and to_python write: one to two seconds. A value that stands in
# itself again and again is small in memory and endless on paper.
VALUE_PARTS_MAX: Final = 2_000_000

# Warnings kept of one evaluation; a filter over many rows may raise the same one for each of them.
WARNINGS_MAX: Final = 100

# Characters of a warning's text, which may quote names and keys.
WARNING_LENGTH_MAX: Final = 500

# Characters of a regular expression; the longest published e-mail patterns have a few hundred.
PATTERN_LENGTH_MAX: Final = 1_000

# Characters of a text that a regular expression is run on.
PATTERN_INPUT_LENGTH_MAX: Final = 1_000_000

# Upper bound of the ways a backtracking matcher may try a pattern on a text. 10**8 is one to two seconds at worst.
PATTERN_STEPS_MAX: Final = 100_000_000

# Such ways that one turn of a loop pays for: a pattern at the bound above may be run ten times in an evaluation.
PATTERN_STEPS_PER_TURN: Final = 2_000

# Compiled patterns and parsed zones that are kept.
PATTERNS_KEPT: Final = 256

# Tokens of a name with spaces or operators inside; longer ones have to stand in backquotes.
NAME_TOKENS_MAX: Final = 64

# Sets of names in scope whose names of several tokens are kept; the expressions of a model share a few.
NAME_SETS_KEPT: Final = 64

# Bounds of the scale in round and its relatives: those of IEEE 754 decimal128.
SCALE_MIN: Final = -6111
SCALE_MAX: Final = 6176

# Years of dates: those of ISO 8601 implementations elsewhere (nine digits).
YEAR_MAX: Final = 999_999_999

# Nanoseconds or months of a duration: 34 digits, as numbers have. That is 10**17 years.
DURATION_MAX: Final = 10**34 - 1

# Characters of the text of a date, time or duration.
TEMPORAL_TEXT_LENGTH_MAX: Final = 128
