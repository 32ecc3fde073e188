"""XPath's regular expressions: text to a tree. Refuses what XPath does not have, such as look-ahead."""

import re
from dataclasses import dataclass
from typing import Final, NoReturn

from procession.feel import charsets
from procession.feel.charsets import Ranges
from procession.feel.limits import NESTING_DEPTH_MAX
from procession.feel.problems import Invalid


@dataclass(frozen=True, slots=True)
class Characters:
    """One character out of a set, or one that is not in it."""

    ranges: Ranges
    negated: bool = False

    @property
    def effective(self) -> Ranges:
        """The characters that match."""
        return charsets.complement(self.ranges) if self.negated else self.ranges


@dataclass(frozen=True, slots=True)
class Sequence:
    """One after the other."""

    parts: tuple["Tree", ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """``a|b``."""

    branches: tuple["Tree", ...]


@dataclass(frozen=True, slots=True)
class Group:
    """``(a)`` and ``(?:a)``."""

    body: "Tree"
    captures: bool


@dataclass(frozen=True, slots=True)
class Loop:
    """`high` is None for any number of times."""

    body: "Tree"
    low: int
    high: int | None
    lazy: bool


@dataclass(frozen=True, slots=True)
class Anchor:
    """``^`` and ``$``."""

    end: bool


@dataclass(frozen=True, slots=True)
class BackReference:
    """A backslash and the number of a group."""

    group: int


Tree = Characters | Sequence | Choice | Group | Loop | Anchor | BackReference

_LITERAL_ESCAPES: Final = {"n": 10, "r": 13, "t": 9} | {char: ord(char) for char in "\\|.-^?*+{}()[]$"}
_SHORTHANDS: Final = "sSiIcCdDwW"
_REPEAT: Final = re.compile(r"\{([0-9]{1,6})(,([0-9]{0,6}))?\}")
_REPEATS_MAX: Final = 1000
_WHITE_SPACE: Final = " \t\n\r"


def parse_pattern(pattern: str, *, dot_matches_all: bool, ignore_space: bool) -> tuple[Tree, int]:
    """The tree and the number of capturing groups. Raises Invalid."""
    parser = _Parser(_without_space(pattern) if ignore_space else pattern, dot_matches_all=dot_matches_all)
    tree = parser.choice(0)
    if parser.at < len(parser.pattern):
        parser.refuse("a closing parenthesis without an opening one")
    return tree, parser.groups


def _without_space(pattern: str) -> str:
    """Flag x: white space goes, except inside character classes."""
    kept: list[str] = []
    depth, index = 0, 0
    while index < len(pattern):
        character = pattern[index]
        if character == "\\" and pattern[index + 1 : index + 2] not in ("", *_WHITE_SPACE):
            kept.append(pattern[index : index + 2])
            index += 2
            continue
        depth += (character == "[") - (character == "]" and depth > 0)
        if depth or character not in _WHITE_SPACE:
            kept.append(character)
        index += 1
    return "".join(kept)


class _Parser:
    def __init__(self, pattern: str, *, dot_matches_all: bool) -> None:
        self.pattern = pattern
        self.at = 0
        self.groups = 0
        self._closed: set[int] = set()
        self._dot = Characters(charsets.ANY) if dot_matches_all else Characters(charsets.LINE_ENDS, negated=True)

    def refuse(self, what: str) -> NoReturn:
        raise Invalid(f"not a regular expression of XPath: {what} at character {self.at + 1} of {self.pattern[:60]!r}")

    def _peek(self, text: str) -> bool:
        return self.pattern.startswith(text, self.at)

    def _accept(self, text: str) -> bool:
        if self._peek(text):
            self.at += len(text)
            return True
        return False

    def choice(self, depth: int) -> Tree:
        if depth > NESTING_DEPTH_MAX:
            self.refuse(f"nested deeper than {NESTING_DEPTH_MAX}")
        branches = [self._sequence(depth)]
        while self._accept("|"):
            branches.append(self._sequence(depth))
        return branches[0] if len(branches) == 1 else Choice(tuple(branches))

    def _sequence(self, depth: int) -> Tree:
        parts: list[Tree] = []
        while self.at < len(self.pattern) and not self._peek("|") and not self._peek(")"):
            parts.append(self._quantified(self._atom(depth)))
        return parts[0] if len(parts) == 1 else Sequence(tuple(parts))

    def _quantified(self, atom: Tree) -> Tree:
        bounds = self._bounds()
        if bounds is None:
            return atom
        if isinstance(atom, Anchor):
            self.refuse("a quantifier after ^ or $")
        loop = Loop(atom, bounds[0], bounds[1], lazy=self._accept("?"))
        if self._bounds() is not None:
            self.refuse("two quantifiers")
        return loop

    def _bounds(self) -> tuple[int, int | None] | None:
        for sign, bounds in (("*", (0, None)), ("+", (1, None)), ("?", (0, 1))):
            if self._accept(sign):
                return bounds
        if not self._peek("{"):
            return None
        match = _REPEAT.match(self.pattern, self.at)
        if match is None:
            self.refuse("expected {n}, {n,} or {n,m}")
        self.at = match.end()
        low = int(match[1])
        high = low if match[2] is None else int(match[3]) if match[3] else None
        if max(low, high or 0) > _REPEATS_MAX or (high is not None and high < low):
            self.refuse(f"a repetition out of order or above {_REPEATS_MAX}")
        return low, high

    def _atom(self, depth: int) -> Tree:
        character = self.pattern[self.at]
        if character in "?*+{}]":
            self.refuse(f"{character!r} without an escape")
        self.at += 1
        match character:
            case "(":
                return self._group(depth)
            case "[":
                return self._class(depth)
            case "\\":
                return self._escape()
            case ".":
                return self._dot
            case "^" | "$":
                return Anchor(end=character == "$")
            case _:
                return Characters(((ord(character), ord(character)),))

    def _group(self, depth: int) -> Tree:
        captures = not self._accept("?:")
        number = 0
        if captures:
            if self._peek("?"):
                self.refuse("a group that begins with '?'")
            self.groups += 1
            number = self.groups
        body = self.choice(depth + 1)
        if not self._accept(")"):
            self.refuse("an open parenthesis")
        self._closed.add(number)
        return Group(body, captures)

    def _escape(self) -> Tree:
        if self.at >= len(self.pattern):
            self.refuse("a lone backslash")
        character = self.pattern[self.at]
        if character in "123456789":
            return self._back_reference()
        return self._class_escape()

    def _back_reference(self) -> Tree:
        end = self.at + 1
        while (
            end < len(self.pattern)
            and self.pattern[end].isdigit()
            and int(self.pattern[self.at : end + 1]) <= self.groups
        ):
            end += 1
        number = int(self.pattern[self.at : end])
        if number not in self._closed:
            self.refuse(f"a reference to group {number}, which is not closed before it")
        self.at = end
        return BackReference(number)

    def _class_escape(self) -> Characters:
        """An escape that stands for characters, outside and inside of [ ]."""
        character = self.pattern[self.at]
        self.at += 1
        if character in _LITERAL_ESCAPES:
            point = _LITERAL_ESCAPES[character]
            return Characters(((point, point),))
        if character in _SHORTHANDS:
            return Characters(_shorthand(character.lower()), negated=character.isupper())
        if character in "pP":
            return Characters(self._property(), negated=character == "P")
        self.at -= 1
        return self.refuse(f"the unknown escape \\{character}")

    def _property(self) -> Ranges:
        end = self.pattern.find("}", self.at)
        if not self._peek("{") or end < 0:
            self.refuse("expected {category} after \\p")
        name = self.pattern[self.at + 1 : end]
        if name.startswith("Is") and name[2:] in charsets.BLOCKS:
            ranges: Ranges | None = (charsets.BLOCKS[name[2:]],)
        else:
            ranges = charsets.category(name) if 0 < len(name) <= 2 else None
        if ranges is None:
            self.refuse(f"the unknown category or block {name!r}")
        self.at = end + 1
        return ranges

    def _class(self, depth: int) -> Characters:
        if depth > NESTING_DEPTH_MAX:
            self.refuse(f"nested deeper than {NESTING_DEPTH_MAX}")
        negated = self._accept("^")
        ranges: list[Ranges] = []
        without: Ranges = ()
        start = self.at
        while not self._peek("]"):
            if self.at >= len(self.pattern):
                self.refuse("an open bracket")
            if self.at > start and self._accept("-["):
                without = self._class(depth + 1).effective
                break
            ranges.append(self._class_part())
        if not self._accept("]") or not ranges:
            self.refuse("an empty or open bracket")
        union = charsets.of(*ranges)
        if negated:
            return Characters(charsets.of(union, without), negated=True)
        return Characters(charsets.minus(union, without))

    def _class_part(self) -> Ranges:
        low = self._class_character()
        is_range = self._peek("-") and self.pattern[self.at + 1 : self.at + 2] not in ("]", "[", "")
        if not is_range or len(low) != 1 or low[0][0] != low[0][1]:
            return low
        self.at += 1
        high = self._class_character()
        if len(high) != 1 or high[0][0] != high[0][1] or high[0][0] < low[0][0]:
            self.refuse("a range of characters out of order")
        return ((low[0][0], high[0][0]),)

    def _class_character(self) -> Ranges:
        character = self.pattern[self.at]
        self.at += 1
        if character == "[":
            self.refuse("'[' inside brackets without an escape")
        if character != "\\":
            return ((ord(character), ord(character)),)
        if self.at >= len(self.pattern):
            self.refuse("a lone backslash")
        return self._class_escape().effective


def _shorthand(letter: str) -> Ranges:
    match letter:
        case "s":
            return charsets.SPACE
        case "d":
            return charsets.digits()
        case "w":
            return charsets.word_characters()
        case "i":
            return charsets.NAME_START
        case _:
            return charsets.NAME_PART
