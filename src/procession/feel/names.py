"""Names of more than one word: which sequences of tokens stand for one name.

FEEL allows spaces and the symbols . / - ' + * inside names, so that `a-b` is a subtraction or a name, depending on what
is in scope. This module holds the names in scope and finds the longest one at a place. It never reads values.
"""

from bisect import insort
from collections.abc import Iterable
from functools import lru_cache
from heapq import merge
from typing import Final, NamedTuple

from procession.feel.lexer import Token, tokenize
from procession.feel.limits import NAME_SETS_KEPT
from procession.feel.problems import FeelSyntaxError

# Built-in functions whose name holds a keyword; plain words need no help.
_FUNCTIONS_WITH_KEYWORDS: Final = ("date and time", "years and months duration", "get or else")

_Parts = tuple[tuple[str, bool], ...]


def normalize(name: str) -> str:
    """White space inside a name counts as one space."""
    return " ".join(name.split())


class _Known(NamedTuple):
    """A name of several tokens. Longer names come first."""

    order: int
    parts: _Parts
    name: str


class Scope:
    """The names that consist of several tokens, by their first token.

    Those that it is made with are read once for all texts that share them; a text adds its own.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._given = _by_first_token(frozenset(names))
        self._own: dict[str, list[_Known]] = {}
        self._declared: set[str] = set()

    def declare(self, name: str) -> None:
        """Make a name known from here on. Names of one token need no declaration."""
        name = normalize(name)
        if name in self._declared:
            return
        self._declared.add(name)
        parts = _parts(name)
        if len(parts) > 1:
            insort(self._own.setdefault(parts[0][0], []), _Known(-len(parts), parts, name), key=_order)

    def longest(self, tokens: list[Token], index: int) -> tuple[str, int] | None:
        """The longest known name at a place and how many tokens it takes. Spacing as declared is preferred."""
        first = tokens[index].text
        given, own = self._given.get(first), self._own.get(first)
        known = list(merge(given, own, key=_order)) if given and own else given or own
        if known is None:
            return None
        for exact in (True, False):
            for _, parts, name in known:
                if _stands_at(parts, tokens, index, exact=exact):
                    return name, len(parts)
        return None


def _order(known: _Known) -> int:
    return known.order


@lru_cache(maxsize=NAME_SETS_KEPT)
def _by_first_token(names: frozenset[str]) -> dict[str, list[_Known]]:
    found: dict[str, list[_Known]] = {}
    for name in sorted({normalize(name) for name in names}):
        parts = _parts(name)
        if len(parts) > 1:
            found.setdefault(parts[0][0], []).append(_Known(-len(parts), parts, name))
    for known in found.values():
        known.sort(key=_order)
    return found


def function_with_keyword(tokens: list[Token], index: int) -> tuple[str, int] | None:
    """`date and time(` and its like: a built-in function's name that holds a keyword."""
    for name in _FUNCTIONS_WITH_KEYWORDS:
        words = name.split()
        end = index + len(words)
        if end < len(tokens) and tokens[end].text == "(" and [t.text for t in tokens[index:end]] == words:
            return name, len(words)
    return None


def _parts(name: str) -> _Parts:
    try:
        tokens = tokenize(name)[:-1]
    except FeelSyntaxError:
        return ()
    if any(token.kind not in ("name", "keyword", "number", "symbol") for token in tokens):
        return ()
    return tuple((token.text, token.spaced) for token in tokens)


def _stands_at(parts: _Parts, tokens: list[Token], index: int, *, exact: bool) -> bool:
    if index + len(parts) >= len(tokens):
        return False
    for offset, (text, spaced) in enumerate(parts):
        token = tokens[index + offset]
        if token.text != text or token.kind in ("string", "quoted"):
            return False
        if exact and offset and token.spaced != spaced:
            return False
    # "a - b" is the name "a-b" only where it is not plainly a subtraction of something known.
    return exact or all(text not in "+-*/" for text, _ in parts)
