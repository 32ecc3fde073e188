"""Names of more than one word: which sequences of tokens stand for one name.

FEEL allows spaces and the symbols . / - ' + * inside names, so that `a-b` is a subtraction or a name, depending on what
is in scope. This module holds the names in scope and finds the longest one at a place. It never reads values.
"""

from collections.abc import Iterable
from typing import Final

from procession.feel.lexer import Token, tokenize
from procession.feel.problems import FeelSyntaxError

# Built-in functions whose name holds a keyword; plain words need no help.
_FUNCTIONS_WITH_KEYWORDS: Final = ("date and time", "years and months duration", "get or else")

_Parts = tuple[tuple[str, bool], ...]


def normalize(name: str) -> str:
    """White space inside a name counts as one space."""
    return " ".join(name.split())


class Scope:
    """The names that consist of several tokens, by their first token."""

    def __init__(self, names: Iterable[str]) -> None:
        self._known: dict[str, list[tuple[_Parts, str]]] = {}
        self.declared: list[str] = []
        for name in names:
            self.declare(name)

    def declare(self, name: str) -> None:
        """Make a name known from here on. Names of one token need no declaration."""
        name = normalize(name)
        parts = _parts(name)
        if len(parts) < 2:
            return
        known = self._known.setdefault(parts[0][0], [])
        if all(other != name for _, other in known):
            known.append((parts, name))
            known.sort(key=lambda entry: -len(entry[0]))

    def longest(self, tokens: list[Token], index: int) -> tuple[str, int] | None:
        """The longest known name at a place and how many tokens it takes. Spacing as declared is preferred."""
        known = self._known.get(tokens[index].text)
        if known is None:
            return None
        for exact in (True, False):
            for parts, name in known:
                if _stands_at(parts, tokens, index, exact=exact):
                    return name, len(parts)
        return None


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
