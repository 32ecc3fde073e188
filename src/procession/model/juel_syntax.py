"""Reads Java's expression language (JUEL): the text between ``${`` and ``}`` to a small syntax tree.

It knows the grammar only. What can be evaluated without Java is decided in `juel`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

TEXT_LENGTH_MAX: Final = 10_000  # the longest condition seen in public models has some hundred characters
DEPTH_MAX: Final = 60  # nesting; each level costs ten Python frames


class JuelError(ValueError):
    """The text is not an expression of the language, or needs Java to be evaluated."""


@dataclass(frozen=True, slots=True)
class Literal:
    """A number, string, boolean or null."""

    value: object


@dataclass(frozen=True, slots=True)
class Name:
    """A variable."""

    name: str


@dataclass(frozen=True, slots=True)
class Member:
    """``base.name`` or ``base[index]``."""

    base: Node
    index: Node


@dataclass(frozen=True, slots=True)
class Call:
    """``base.method(arguments)``; without a base a function."""

    base: Node | None
    method: str
    arguments: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Unary:
    """``-x``, ``not x`` or ``empty x``."""

    operator: str
    operand: Node


@dataclass(frozen=True, slots=True)
class Binary:
    """Two operands and their operator, spelled as a symbol."""

    operator: str
    left: Node
    right: Node


@dataclass(frozen=True, slots=True)
class Choice:
    """``condition ? yes : no``."""

    condition: Node
    yes: Node
    no: Node


Node = Literal | Name | Member | Call | Unary | Binary | Choice

_TOKEN: Final = re.compile(
    r"""\s*(?:
        (?P<number>\d+(?:\.\d+)?(?:[eE][+-]?\d+)?[LlDdFf]?)
      | (?P<string>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')
      | (?P<name>[^\W\d][\w$]*(?::[^\W\d]\w*(?=\())?|\$[\w$]+)
      | (?P<symbol>&&|\|\||==|!=|<=|>=|[-+*/%<>!?:.,()\[\]])
    )""",
    re.VERBOSE,
)
_WORDS: Final = {
    "and": "&&", "or": "||", "not": "!", "eq": "==", "ne": "!=", "lt": "<", "gt": ">", "le": "<=", "ge": ">=",
    "div": "/", "mod": "%",
}  # fmt: skip
_CONSTANTS: Final[dict[str, object]] = {"true": True, "false": False, "null": None}
_LEVELS: Final = (
    frozenset({"||"}),
    frozenset({"&&"}),
    frozenset({"==", "!="}),
    frozenset({"<", ">", "<=", ">="}),
    frozenset({"+", "-"}),
    frozenset({"*", "/", "%"}),
)


def split_parts(text: str) -> list[str | Node]:
    """The pieces of a text with ``${...}`` or ``#{...}`` in it: plain text and expressions. Raises JuelError."""
    if len(text) > TEXT_LENGTH_MAX:
        raise JuelError(f"the text has {len(text)} characters; TEXT_LENGTH_MAX allows {TEXT_LENGTH_MAX}")
    parts: list[str | Node] = []
    position = 0
    while position < len(text):
        start = _next_start(text, position)
        if start < 0:
            parts.append(text[position:])
            break
        if start > position:
            parts.append(text[position:start])
        end = _end(text, start + 2)
        parts.append(_Parser(text[start + 2 : end]).whole())
        position = end + 1
    return parts


def has_expression(text: str) -> bool:
    """Whether a text holds an expression of this language."""
    return _next_start(text, 0) >= 0


def _next_start(text: str, position: int) -> int:
    starts = [start for start in (text.find("${", position), text.find("#{", position)) if start >= 0]
    return min(starts, default=-1)


def _end(text: str, position: int) -> int:
    quote = ""
    while position < len(text):
        character = text[position]
        if quote:
            if character == "\\":
                position += 1
            elif character == quote:
                quote = ""
        elif character in "\"'":
            quote = character
        elif character == "}":
            return position
        position += 1
    raise JuelError("the closing '}' is missing")


class _Parser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._kinds: list[str] = []
        self._tokens: list[str] = []
        self._at = 0
        self._depth = 0
        self._tokenize()

    def whole(self) -> Node:
        node = self._choice()
        if self._kind() != "end":
            raise JuelError(f"'{self._token()}' is not expected in '{self._text.strip()}'")
        return node

    def _tokenize(self) -> None:
        position = 0
        while self._text[position:].strip():
            match = _TOKEN.match(self._text, position)
            if match is None or match.lastgroup is None:
                raise JuelError(f"'{self._text[position:].strip()[:20]}' cannot be read in '{self._text.strip()}'")
            token = match.group(match.lastgroup)
            kind = match.lastgroup
            if kind == "name" and token in _WORDS:
                kind, token = "symbol", _WORDS[token]
            self._kinds.append(kind)
            self._tokens.append(token)
            position = match.end()
        self._kinds.append("end")
        self._tokens.append("the end")

    def _kind(self) -> str:
        return self._kinds[self._at]

    def _token(self) -> str:
        return self._tokens[self._at]

    def _take(self) -> str:
        token = self._tokens[self._at]
        self._at += 1
        return token

    def _is(self, symbol: str) -> bool:
        return self._kind() == "symbol" and self._token() == symbol

    def _expect(self, symbol: str) -> None:
        if not self._is(symbol):
            raise JuelError(f"expected '{symbol}' but found '{self._token()}' in '{self._text.strip()}'")
        self._at += 1

    def _choice(self) -> Node:
        self._depth += 1
        if self._depth > DEPTH_MAX:
            raise JuelError(f"the expression is nested deeper than DEPTH_MAX = {DEPTH_MAX}")
        condition = self._binary(0)
        if self._is("?"):
            self._at += 1
            yes = self._choice()
            self._expect(":")
            condition = Choice(condition, yes, self._choice())
        self._depth -= 1
        return condition

    def _binary(self, level: int) -> Node:
        if level == len(_LEVELS):
            return self._unary()
        left = self._binary(level + 1)
        while self._kind() == "symbol" and self._token() in _LEVELS[level]:
            operator = self._take()
            left = Binary(operator, left, self._binary(level + 1))
        return left

    def _unary(self) -> Node:
        operators: list[str] = []
        while self._is("-") or self._is("!") or (self._kind() == "name" and self._token() == "empty"):
            operators.append(self._take())
            if len(operators) > DEPTH_MAX:
                raise JuelError(f"the expression is nested deeper than DEPTH_MAX = {DEPTH_MAX}")
        node = self._postfix()
        for operator in reversed(operators):
            node = Unary(operator, node)
        return node

    def _postfix(self) -> Node:
        node = self._primary()
        while True:
            if self._is("."):
                self._at += 1
                if self._kind() not in {"name", "symbol"}:
                    raise JuelError(f"expected a name after '.' in '{self._text.strip()}'")
                name = self._take()
                node = Call(node, name, self._arguments()) if self._is("(") else Member(node, Literal(name))
            elif self._is("["):
                self._at += 1
                node = Member(node, self._choice())
                self._expect("]")
            else:
                return node

    def _primary(self) -> Node:
        kind, word = self._kind(), self._take()
        if kind == "number":
            return Literal(_number(word))
        if kind == "string":
            return Literal(re.sub(r"\\(.)", r"\1", word[1:-1]))
        if kind == "name":
            if word in _CONSTANTS:
                return Literal(_CONSTANTS[word])
            return Call(None, word, self._arguments()) if self._is("(") else Name(word)
        if kind == "symbol" and word == "(":
            node = self._choice()
            self._expect(")")
            return node
        raise JuelError(f"'{word}' is not expected in '{self._text.strip()}'")

    def _arguments(self) -> tuple[Node, ...]:
        self._expect("(")
        arguments: list[Node] = []
        while not self._is(")"):
            if arguments:
                self._expect(",")
            arguments.append(self._choice())
        self._at += 1
        return tuple(arguments)


def _number(token: str) -> int | Decimal:
    digits = token.rstrip("LlDdFf")
    return int(digits) if digits.isdigit() else Decimal(digits)
