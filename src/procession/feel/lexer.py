"""Text to tokens, by one regular expression that cannot backtrack far.

It knows nothing of names with spaces: those depend on what is in scope and are put together by the parser.
"""

import re
from typing import Final, Literal, NamedTuple

from procession.feel.limits import TEXT_LENGTH_MAX
from procession.feel.problems import FeelSyntaxError

Kind = Literal["name", "keyword", "number", "string", "quoted", "symbol", "end"]

KEYWORDS: Final = frozenset(
    [
        "and",
        "or",
        "if",
        "then",
        "else",
        "for",
        "in",
        "return",
        "some",
        "every",
        "satisfies",
        "between",
        "function",
        "true",
        "false",
        "null",
    ]
)

# Start and part characters of a name as the DMN specification lists them (grammar rules 28 to 30).
_START: Final = (
    r"?A-Z_a-z\u00C0-\u00D6\u00D8-\u00F6\u00F8-\u02FF\u0370-\u037D\u037F-\u1FFF\u200C-\u200D\u2070-\u218F"
    r"\u2C00-\u2FEF\u3001-\uD7FF\uF900-\uFDCF\uFDF0-\uFFFD\U00010000-\U000EFFFF"
)
_PART: Final = _START + r"0-9\u00B7\u0300-\u036F\u203F-\u2040"

_TOKEN: Final = re.compile(
    rf"""(?P<space>(?:\s|\uFEFF|//[^\n\r]*|/\*(?:[^*]|\*(?!/))*\*/)+)
    |(?P<number>(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)
    |(?P<name>[{_START}][{_PART}]*)
    |(?P<string>"(?:[^"\\]|\\.)*")
    |(?P<quoted>`[^`]*`)
    |(?P<symbol>\*\*|\.\.|!=|<=|>=|->|/(?!\*)|[-+*=<>()\[\]{{}},:.@'])
    """,
    re.VERBOSE | re.DOTALL,
)

_ESCAPE: Final = re.compile(r"\\(u[0-9a-fA-F]{4}|U[0-9a-fA-F]{6}|.)", re.DOTALL)
_SIMPLE_ESCAPES: Final = {"n": "\n", "t": "\t", "r": "\r", '"': '"', "'": "'", "\\": "\\"}
_SURROGATE_PAIR: Final = re.compile("([\ud800-\udbff])([\udc00-\udfff])")
_LONE_SURROGATE: Final = re.compile("[\ud800-\udfff]")


class Token(NamedTuple):
    """`text` is the name, the symbol, the number's digits or the string's value; `start`..`end` its place."""

    kind: Kind
    text: str
    start: int
    end: int
    spaced: bool  # white space or a comment stands before it


def place(text: str, at: int) -> tuple[int, int]:
    """Line and column, counted from 1, of a character index."""
    line = text.count("\n", 0, at) + 1
    return line, at - (text.rfind("\n", 0, at) + 1) + 1


def syntax_error(message: str, text: str, at: int) -> FeelSyntaxError:
    """The error at a character index."""
    line, column = place(text, at)
    return FeelSyntaxError(message, line, column, text)


def tokenize(text: str) -> list[Token]:
    """All tokens of a text, closed by one of kind `end`. Raises FeelSyntaxError for a character that starts none."""
    if len(text) > TEXT_LENGTH_MAX:
        message = f"The expression has {len(text)} characters; TEXT_LENGTH_MAX is {TEXT_LENGTH_MAX}"
        raise FeelSyntaxError(message, 1, 1, text)
    tokens: list[Token] = []
    at, spaced, length = 0, False, len(text)
    while at < length:
        match = _TOKEN.match(text, at)
        if match is None:
            raise syntax_error(_unexpected(text, at), text, at)
        kind, end = match.lastgroup, match.end()
        if kind == "space":
            spaced, at = True, end
            continue
        tokens.append(_token(kind or "", match.group(), at, end, spaced=spaced))
        spaced, at = False, end
    tokens.append(Token("end", "", length, length, spaced))
    return tokens


def _token(kind: str, raw: str, start: int, end: int, *, spaced: bool) -> Token:
    match kind:
        case "name":
            return Token("keyword" if raw in KEYWORDS else "name", raw, start, end, spaced)
        case "string":
            return Token("string", unescape(raw[1:-1]), start, end, spaced)
        case "quoted":
            return Token("quoted", " ".join(raw[1:-1].split()), start, end, spaced)
        case "number":
            return Token("number", raw, start, end, spaced)
        case _:
            return Token("symbol", raw, start, end, spaced)


def _unexpected(text: str, at: int) -> str:
    character = text[at]
    if character == '"':
        return 'The string that starts here has no closing "'
    if text.startswith("/*", at):
        return "The comment that starts here has no closing */"
    return f"Unexpected character {character!r}"


def unescape(body: str) -> str:
    """The value of a string literal's body. An unknown escape keeps its backslash: regular expressions need it."""
    if "\\" not in body:
        return body
    value = _ESCAPE.sub(_escaped, body)
    value = _SURROGATE_PAIR.sub(_joined, value)
    return _LONE_SURROGATE.sub("\ufffd", value)


def _escaped(match: "re.Match[str]") -> str:
    code = match.group(1)
    if len(code) == 1:
        return _SIMPLE_ESCAPES.get(code, "\\" + code)
    point = int(code[1:], 16)
    return chr(point) if point <= 0x10FFFF else "\ufffd"


def _joined(match: "re.Match[str]") -> str:
    high, low = ord(match.group(1)), ord(match.group(2))
    return chr(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00))
