"""Sets of characters as sorted, disjoint ranges of code points: Unicode categories, blocks, and XML's shorthands.

Used by regular expressions only.
"""

import unicodedata
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import groupby
from typing import Final

Ranges = tuple[tuple[int, int], ...]

LAST: Final = 0x10FFFF
ANY: Final[Ranges] = ((0, LAST),)
NOTHING: Final[Ranges] = ()
SPACE: Final[Ranges] = ((9, 10), (13, 13), (32, 32))
LINE_ENDS: Final[Ranges] = ((10, 10), (13, 13))


def of(*parts: Iterable[tuple[int, int]]) -> Ranges:
    """The union of ranges, sorted and merged."""
    merged: list[tuple[int, int]] = []
    for low, high in sorted(pair for part in parts for pair in part):
        if merged and low <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(high, merged[-1][1]))
        else:
            merged.append((low, high))
    return tuple(merged)


def complement(ranges: Ranges) -> Ranges:
    """All other characters."""
    result: list[tuple[int, int]] = []
    start = 0
    for low, high in ranges:
        if low > start:
            result.append((start, low - 1))
        start = high + 1
    if start <= LAST:
        result.append((start, LAST))
    return tuple(result)


def minus(ranges: Ranges, without: Ranges) -> Ranges:
    """The characters of the first set that are not in the second."""
    return complement(of(complement(ranges), without))


def overlap(first: Ranges, second: Ranges) -> bool:
    """Whether two sets have a character in common."""
    i = j = 0
    while i < len(first) and j < len(second):
        if first[i][1] < second[j][0]:
            i += 1
        elif second[j][1] < first[i][0]:
            j += 1
        else:
            return True
    return False


def both_cases(ranges: Ranges) -> Ranges:
    """With the other case of ASCII letters, and everything else where there is more: good enough for an estimate."""
    if any(high > 127 for _, high in ranges):
        return of(ranges, ((65, 90), (97, 122), (128, LAST)))
    shifted = [(low + 32, high + 32) for low, high in _clipped(ranges, 65, 90)]
    shifted += [(low - 32, high - 32) for low, high in _clipped(ranges, 97, 122)]
    return of(ranges, shifted)


def _clipped(ranges: Ranges, first: int, last: int) -> list[tuple[int, int]]:
    return [(max(low, first), min(high, last)) for low, high in ranges if low <= last and high >= first]


@lru_cache(maxsize=1)
def _by_category() -> dict[str, Ranges]:
    """All code points by their two-letter category; one pass of about a tenth of a second, when first needed."""
    found: dict[str, list[tuple[int, int]]] = {}
    categories = map(unicodedata.category, map(chr, range(LAST + 1)))
    start = 0
    for name, group in groupby(categories):
        length = sum(1 for _ in group)
        found.setdefault(name, []).append((start, start + length - 1))
        start += length
    return {name: tuple(ranges) for name, ranges in found.items()}


@lru_cache(maxsize=64)
def category(name: str) -> Ranges | None:
    """A category such as L, Lu or Nd; None where there is no such category."""
    parts = [ranges for key, ranges in _by_category().items() if key == name or (len(name) == 1 and key[0] == name)]
    return of(*parts) if parts else None


@lru_cache(maxsize=1)
def digits() -> Ranges:
    """XPath's shorthand d: decimal digits of any script."""
    return category("Nd") or NOTHING


@lru_cache(maxsize=1)
def word_characters() -> Ranges:
    """XPath's shorthand w: all but punctuation, separators and others."""
    return complement(of(*(category(name) or NOTHING for name in "PZC")))


_NAME_START: Final[Sequence[tuple[int, int]]] = (
    (0x3A, 0x3A), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A), (0xC0, 0xD6), (0xD8, 0xF6), (0xF8, 0x2FF),
    (0x370, 0x37D), (0x37F, 0x1FFF), (0x200C, 0x200D), (0x2070, 0x218F), (0x2C00, 0x2FEF), (0x3001, 0xD7FF),
    (0xF900, 0xFDCF), (0xFDF0, 0xFFFD), (0x10000, 0xEFFFF),
)  # fmt: skip
NAME_START: Final[Ranges] = of(_NAME_START)
NAME_PART: Final[Ranges] = of(_NAME_START, ((0x2D, 0x2E), (0x30, 0x39), (0xB7, 0xB7), (0x300, 0x36F), (0x203F, 0x2040)))

# The blocks of the scripts in wide use; others are refused by name.
BLOCKS: Final[dict[str, tuple[int, int]]] = {
    "BasicLatin": (0x0, 0x7F), "Latin-1Supplement": (0x80, 0xFF), "LatinExtended-A": (0x100, 0x17F),
    "LatinExtended-B": (0x180, 0x24F), "IPAExtensions": (0x250, 0x2AF), "SpacingModifierLetters": (0x2B0, 0x2FF),
    "CombiningDiacriticalMarks": (0x300, 0x36F), "Greek": (0x370, 0x3FF), "GreekandCoptic": (0x370, 0x3FF),
    "Cyrillic": (0x400, 0x4FF), "Armenian": (0x530, 0x58F), "Hebrew": (0x590, 0x5FF), "Arabic": (0x600, 0x6FF),
    "Devanagari": (0x900, 0x97F), "Bengali": (0x980, 0x9FF), "Tamil": (0xB80, 0xBFF), "Thai": (0xE00, 0xE7F),
    "Tibetan": (0xF00, 0xFFF), "Georgian": (0x10A0, 0x10FF), "HangulJamo": (0x1100, 0x11FF),
    "LatinExtendedAdditional": (0x1E00, 0x1EFF), "GreekExtended": (0x1F00, 0x1FFF),
    "GeneralPunctuation": (0x2000, 0x206F), "SuperscriptsandSubscripts": (0x2070, 0x209F),
    "CurrencySymbols": (0x20A0, 0x20CF), "LetterlikeSymbols": (0x2100, 0x214F), "NumberForms": (0x2150, 0x218F),
    "Arrows": (0x2190, 0x21FF), "MathematicalOperators": (0x2200, 0x22FF), "BoxDrawing": (0x2500, 0x257F),
    "GeometricShapes": (0x25A0, 0x25FF), "MiscellaneousSymbols": (0x2600, 0x26FF), "Dingbats": (0x2700, 0x27BF),
    "CJKSymbolsandPunctuation": (0x3000, 0x303F), "Hiragana": (0x3040, 0x309F), "Katakana": (0x30A0, 0x30FF),
    "CJKUnifiedIdeographs": (0x4E00, 0x9FFF), "HangulSyllables": (0xAC00, 0xD7AF), "PrivateUse": (0xE000, 0xF8FF),
    "HalfwidthandFullwidthForms": (0xFF00, 0xFFEF), "Emoticons": (0x1F600, 0x1F64F),
}  # fmt: skip
