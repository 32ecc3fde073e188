r"""Regular expressions as matches, replace, split and extract need them: XPath's syntax, run by Python's `re`.

A pattern is parsed, judged and only then handed to `re`. Judged means: how often can a backtracking matcher try again,
at worst, on a text of n characters? A loop whose next character tells whether it goes on costs nothing extra; an
ambiguous loop costs a factor of n; ambiguity inside a loop is exponential and is refused. So no pattern can hang an
evaluation, and the usual ones, such as ([a-z]+\.)+[a-z]+, are not refused.
"""

import re
from functools import lru_cache
from math import log2
from typing import Final, NamedTuple

from procession.feel import charsets
from procession.feel.charsets import Ranges
from procession.feel.limits import (
    LIST_ITEMS_MAX,
    PATTERN_INPUT_LENGTH_MAX,
    PATTERN_LENGTH_MAX,
    PATTERN_STEPS_MAX,
    PATTERN_STEPS_PER_TURN,
    PATTERNS_KEPT,
    STRING_LENGTH_MAX,
)
from procession.feel.problems import Invalid, LimitReached
from procession.feel.regex_parser import (
    Anchor,
    BackReference,
    Characters,
    Choice,
    Group,
    Loop,
    Sequence,
    Tree,
    parse_pattern,
)
from procession.feel.run import Budget

_STEPS_BITS_MAX: Final = log2(PATTERN_STEPS_MAX)


class Pattern:
    """A compiled pattern and the cost of running it."""

    def __init__(
        self, compiled: "re.Pattern[str]", searching: "re.Pattern[str]", cost: "Cost", *, anchored: bool
    ) -> None:
        self._compiled = compiled
        self._searching = searching
        self._cost = cost
        self._anchored = anchored

    def _check(self, text: str, budget: Budget) -> None:
        length = len(text)
        if length > PATTERN_INPUT_LENGTH_MAX:
            raise LimitReached("PATTERN_INPUT_LENGTH_MAX", PATTERN_INPUT_LENGTH_MAX)
        degree = self._cost.walk + (0 if self._anchored else 1)
        bits = degree * log2(length + 2) + self._cost.bits
        if bits <= _STEPS_BITS_MAX:
            budget.spend(int(2**bits) // PATTERN_STEPS_PER_TURN)
        else:
            raise Invalid(
                f"the regular expression may need more than PATTERN_STEPS_MAX = {PATTERN_STEPS_MAX} steps on a text of "
                f"{length} characters; make its loops end at a character that they do not contain",
                "limit",
            )

    def search(self, text: str, budget: Budget) -> "re.Match[str] | None":
        """The first match anywhere in the text."""
        self._check(text, budget)
        return self._searching.search(text)

    def replace(self, text: str, replacement: str, budget: Budget) -> str:
        """Every match replaced; $1 is a group's text. Raises Invalid for a pattern that matches the empty string."""
        self._check(text, budget)
        self._refuse_empty()
        parts = _replacement_parts(replacement, self._compiled.groups)
        pieces: list[str] = []
        start = length = 0
        for match in self._compiled.finditer(text):
            pieces += (text[start : match.start()], _filled(parts, match))
            start = match.end()
            length += len(pieces[-1]) + len(pieces[-2])
            if length > STRING_LENGTH_MAX:
                raise LimitReached("STRING_LENGTH_MAX", STRING_LENGTH_MAX)
        return "".join([*pieces, text[start:]])

    def split(self, text: str, budget: Budget) -> list[str]:
        """The texts between the matches. Raises Invalid for a pattern that matches the empty string."""
        self._check(text, budget)
        self._refuse_empty()
        pieces: list[str] = []
        start = 0
        for match in self._compiled.finditer(text):
            pieces.append(text[start : match.start()])
            start = match.end()
        return [*pieces, text[start:]]

    def find_all(self, text: str, budget: Budget) -> list[str]:
        """The texts of all matches."""
        self._check(text, budget)
        found = [match.group() for match in self._compiled.finditer(text)]
        if len(found) > LIST_ITEMS_MAX:
            raise LimitReached("LIST_ITEMS_MAX", LIST_ITEMS_MAX)
        return found

    def _refuse_empty(self) -> None:
        if self._compiled.search("") is not None:
            raise Invalid("the regular expression must not match the empty string here")


@lru_cache(maxsize=PATTERNS_KEPT)
def compile_pattern(pattern: str, flags: str) -> Pattern:
    """A pattern of XPath with its flags s, m, i, x, q. Raises Invalid."""
    if set(flags) - set("smixq"):
        raise Invalid(f"the flags may be s, m, i, x and q, found {flags[:20]!r}")
    if len(pattern) > PATTERN_LENGTH_MAX:
        raise LimitReached("PATTERN_LENGTH_MAX", PATTERN_LENGTH_MAX)
    options = re.IGNORECASE if "i" in flags else re.NOFLAG
    if "q" in flags:
        compiled = re.compile(re.escape(pattern), options)
        return Pattern(compiled, compiled, Cost(0, 0, 0.0), anchored=False)
    tree, _ = parse_pattern(pattern, dot_matches_all="s" in flags, ignore_space="x" in flags)
    cost = _Judge(ignore_case="i" in flags).cost(tree, charsets.NOTHING, last=True)
    text = _python(tree, multiline="m" in flags)
    try:
        compiled = re.compile(text, options)
        searching = re.compile(rf"(?:\A|(?<=[\n\r]))(?:{text})", options) if _begins_with_dots(tree) else compiled
    except (re.error, OverflowError, RecursionError) as problem:
        raise Invalid(f"the regular expression cannot be compiled: {problem}") from None
    anchored = searching is not compiled or ("m" not in flags and _begins_with_anchor(tree))
    return Pattern(compiled, searching, cost, anchored=anchored)


def _begins_with_anchor(tree: Tree) -> bool:
    match tree:
        case Anchor(end):
            return not end
        case Sequence(parts):
            return bool(parts) and _begins_with_anchor(parts[0])
        case Group(body, _):
            return _begins_with_anchor(body)
        case Choice(branches):
            return all(map(_begins_with_anchor, branches))
        case _:
            return False


def _begins_with_dots(tree: Tree) -> bool:
    """.* at the beginning: the leftmost match then begins a line, and need not be looked for elsewhere."""
    first = tree.parts[0] if isinstance(tree, Sequence) and tree.parts else tree
    if not isinstance(first, Loop) or first.high is not None or first.low:
        return False
    body = first.body
    return isinstance(body, Characters) and body.effective in (
        charsets.ANY,
        charsets.complement(charsets.LINE_ENDS),
    )


# To Python's syntax


def _python(tree: Tree, *, multiline: bool) -> str:
    match tree:
        case Characters():
            return _python_characters(tree)
        case Sequence(parts):
            return "".join(_python(part, multiline=multiline) for part in parts)
        case Choice(branches):
            return "|".join(_python(branch, multiline=multiline) for branch in branches)
        case Group(body, captures):
            return f"({'' if captures else '?:'}{_python(body, multiline=multiline)})"
        case Loop(body, low, high, lazy):
            times = f"{{{low},{'' if high is None else high}}}"
            return f"(?:{_python(body, multiline=multiline)}){times}{'?' if lazy else ''}"
        case Anchor(end):
            if multiline:
                return r"(?=\n|\Z)" if end else r"(?:\A|(?<=\n))"
            return r"\Z" if end else r"\A"
        case BackReference(group):
            return f"(?:\\{group})"


def _python_characters(tree: Characters) -> str:
    if len(tree.ranges) == 1 and tree.ranges[0][0] == tree.ranges[0][1] and not tree.negated:
        return re.escape(chr(tree.ranges[0][0]))
    if not tree.ranges:
        return r"[\s\S]" if tree.negated else r"(?!)"
    inside = "".join(f"\\U{low:08x}" if low == high else f"\\U{low:08x}-\\U{high:08x}" for low, high in tree.ranges)
    return f"[{'^' if tree.negated else ''}{inside}]"


# The cost


class Cost(NamedTuple):
    """On a text of n characters at most n**walk * 2**bits steps; `ambiguous` loops multiply, others add."""

    ambiguous: int
    walk: int
    bits: float


_FREE: Final = Cost(0, 0, 0.0)


class _Judge:
    def __init__(self, *, ignore_case: bool) -> None:
        self._ignore_case = ignore_case
        self._known: dict[int, tuple[Ranges, bool]] = {}

    def first(self, tree: Tree) -> tuple[Ranges, bool]:
        """The characters that a match may begin with, and whether it may be empty."""
        found = self._known.get(id(tree))
        if found is None:
            found = self._known[id(tree)] = self._first(tree)
        return found

    def _first(self, tree: Tree) -> tuple[Ranges, bool]:
        match tree:
            case Characters():
                ranges = tree.effective
                return (charsets.both_cases(ranges) if self._ignore_case else ranges), False
            case Sequence(parts):
                return self._first_of_all(parts)
            case Choice(branches):
                found = [self.first(branch) for branch in branches]
                return charsets.of(*(ranges for ranges, _ in found)), any(empty for _, empty in found)
            case Group(body, _):
                return self.first(body)
            case Loop(body, low, _, _):
                ranges, empty = self.first(body)
                return ranges, empty or low == 0
            case Anchor():
                return charsets.NOTHING, True
            case BackReference():
                return charsets.ANY, True

    def _first_of_all(self, parts: tuple[Tree, ...]) -> tuple[Ranges, bool]:
        gathered: list[Ranges] = []
        for part in parts:
            ranges, empty = self.first(part)
            gathered.append(ranges)
            if not empty:
                return charsets.of(*gathered), False
        return charsets.of(*gathered), True

    def cost(self, tree: Tree, follow: Ranges, *, last: bool) -> Cost:
        """`follow` are the characters that may come next; `last` says that nothing of the pattern comes next."""
        match tree:
            case Sequence(parts):
                return self._cost_of_sequence(parts, follow, last=last)
            case Choice(branches):
                return self._cost_of_choice(branches, follow, last=last)
            case Group(body, _):
                return self.cost(body, follow, last=last)
            case Loop():
                return self._cost_of_loop(tree, follow, last=last)
            case _:
                return _FREE

    def _cost_of_sequence(self, parts: tuple[Tree, ...], follow: Ranges, *, last: bool) -> Cost:
        costs: list[Cost] = []
        for part in reversed(parts):
            costs.append(self.cost(part, follow, last=last))
            ranges, empty = self.first(part)
            follow = charsets.of(ranges, follow) if empty else ranges
            last = False
        ambiguous, walk, bits = 0, 0, 0.0
        for cost in reversed(costs):
            walk = max(walk, ambiguous + cost.walk)
            ambiguous += cost.ambiguous
            bits += cost.bits
        return Cost(ambiguous, walk, bits)

    def _cost_of_choice(self, branches: tuple[Tree, ...], follow: Ranges, *, last: bool) -> Cost:
        costs = [self.cost(branch, follow, last=last) for branch in branches]
        firsts: list[Ranges] = []
        overlaps = 0
        for branch in branches:
            ranges, empty = self.first(branch)
            begins = charsets.of(ranges, follow) if empty else ranges
            overlaps += any(charsets.overlap(begins, other) for other in firsts)
            firsts.append(begins)
        return Cost(
            max(cost.ambiguous for cost in costs),
            max(cost.walk for cost in costs),
            max(cost.bits for cost in costs) + log2(overlaps + 1),
        )

    def _cost_of_loop(self, loop: Loop, follow: Ranges, *, last: bool) -> Cost:
        begins, _ = self.first(loop.body)
        again = loop.high is None or loop.high > 1
        body = self.cost(loop.body, charsets.of(begins, follow) if again else follow, last=last and not again)
        undecided = loop.low != loop.high and charsets.overlap(begins, follow)
        if loop.high is None:
            if body.ambiguous or body.bits:
                raise Invalid(
                    "the regular expression repeats something that can match the same text in several ways, such as "
                    "(a+)+; a matcher may never come to an end with it"
                )
            walks = 0 if last and isinstance(loop.body, Characters) else 1
            return Cost(int(undecided), max(walks, int(undecided)), 0.0)
        times = max(loop.high, 1)
        return Cost(
            body.ambiguous * times,
            body.walk + body.ambiguous * (times - 1),
            body.bits * times + (log2(times + 1) if undecided else 0.0),
        )


# Replacements


def _replacement_parts(replacement: str, groups: int) -> list[str | int]:
    r"""Literal texts and group numbers. \$ and \\ are the characters themselves. Raises Invalid."""
    parts: list[str | int] = []
    at = 0
    while at < len(replacement):
        character = replacement[at]
        following = replacement[at + 1 : at + 2]
        if character == "\\":
            if following not in ("\\", "$") or not following:
                raise Invalid("in the replacement a backslash must stand before '$' or another backslash")
            parts.append(following)
            at += 2
        elif character == "$":
            number, length = _group_number(replacement, at + 1, groups)
            parts.append(number)
            at += 1 + length
        else:
            parts.append(character)
            at += 1
    return parts


def _group_number(replacement: str, at: int, groups: int) -> tuple[int, int]:
    """As many digits as still name a group, at least one; a group that does not exist is empty."""
    if not (replacement[at : at + 1].isascii() and replacement[at : at + 1].isdigit()):
        raise Invalid("in the replacement '$' must stand before the number of a group; write '\\$' for the character")
    length = 1
    while replacement[at : at + length + 1].isdigit() and len(replacement) > at + length:
        if int(replacement[at : at + length + 1]) > groups:
            break
        length += 1
    return int(replacement[at : at + length]), length


def _filled(parts: list[str | int], match: "re.Match[str]") -> str:
    groups = match.re.groups
    return "".join(
        part if isinstance(part, str) else (match.group(part) or "") if part <= groups else "" for part in parts
    )
