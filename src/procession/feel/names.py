"""Names of more than one word: which sequences of tokens stand for one name.

FEEL allows spaces and the symbols . / - ' + * inside names, so that `a-b` is a subtraction or a name, depending on what
is in scope. This module holds the names in scope and finds the longest one at a place. It never reads values.
"""

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Final

from procession.feel.lexer import Token, tokenize
from procession.feel.limits import NAME_SETS_KEPT, NAME_TOKENS_MAX
from procession.feel.problems import FeelSyntaxError

# Built-in functions whose name holds a keyword; plain words need no help.
_FUNCTIONS_WITH_KEYWORDS: Final = ("date and time", "years and months duration", "get or else")

_Parts = tuple[tuple[str, bool], ...]


def normalize(name: str) -> str:
    """White space inside a name counts as one space."""
    return " ".join(name.split())


class _Node:
    """The names that go on, or end, after the same tokens."""

    __slots__ = ("names", "next")

    def __init__(self) -> None:
        self.next: dict[str, _Node] = {}
        self.names: list[tuple[_Parts, str]] = []

    def add(self, name: str, parts: _Parts) -> bool:
        """Make a name known below this node; False where it is known already."""
        node = self
        for text, _ in parts:
            node = node.next.setdefault(text, _Node())
        if any(name == other for _, other in node.names):
            return False
        node.names.append((parts, name))
        return True

    def remove(self, name: str, parts: _Parts) -> None:
        """The opposite of add."""
        node = self
        for text, _ in parts:
            node = node.next[text]
        node.names.remove((parts, name))


class Scope:
    """The names that consist of several tokens, as a tree of their tokens.

    Those that it is made with are read once for all texts that share them; a text adds its own.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._given = _tree_of(frozenset(names))
        self._own = _Node()
        self._added: list[tuple[str, _Parts]] = []

    def declare(self, name: str) -> None:
        """Make a name known from here on. Names of one token need no declaration."""
        name = normalize(name)
        parts = _parts(name)
        if parts and self._own.add(name, parts):
            self._added.append((name, parts))

    def mark(self) -> int:
        """Where a part of the text begins whose names end with it."""
        return len(self._added)

    def forget(self, mark: int) -> None:
        """Names declared since the mark are no longer known."""
        while len(self._added) > mark:
            self._own.remove(*self._added.pop())

    def longest(self, tokens: list[Token], index: int) -> tuple[str, int] | None:
        """The longest known name at a place and how many tokens it takes. Spacing as declared is preferred."""
        first = tokens[index].text
        if first not in self._given.next and first not in self._own.next:
            return None
        known = [*_along(self._given, tokens, index), *_along(self._own, tokens, index)]
        known.sort(key=lambda found: -len(found[0]))
        for exact in (True, False):
            for parts, name in known:
                if _stands_at(parts, tokens, index, exact=exact):
                    return name, len(parts)
        return None


def _along(node: _Node, tokens: list[Token], index: int) -> Iterator[tuple[_Parts, str]]:
    """The names whose tokens stand at a place, whatever the spaces between them."""
    for place in range(index, len(tokens)):
        following = node.next.get(tokens[place].text)
        if following is None:
            return
        yield from following.names
        node = following


@lru_cache(maxsize=NAME_SETS_KEPT)
def _tree_of(names: frozenset[str]) -> _Node:
    tree = _Node()
    for name in sorted({normalize(name) for name in names}):
        parts = _parts(name)
        if parts:
            tree.add(name, parts)
    return tree


def function_with_keyword(tokens: list[Token], index: int) -> tuple[str, int] | None:
    """`date and time(` and its like: a built-in function's name that holds a keyword."""
    for name in _FUNCTIONS_WITH_KEYWORDS:
        words = name.split()
        end = index + len(words)
        if end < len(tokens) and tokens[end].text == "(" and [t.text for t in tokens[index:end]] == words:
            return name, len(words)
    return None


def _parts(name: str) -> _Parts:
    """The tokens of a name; nothing for one of a single token, or of more than anybody writes."""
    try:
        tokens = tokenize(name)[:-1]
    except FeelSyntaxError:
        return ()
    if any(token.kind not in ("name", "keyword", "number", "symbol") for token in tokens):
        return ()
    if not 1 < len(tokens) <= NAME_TOKENS_MAX:
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
