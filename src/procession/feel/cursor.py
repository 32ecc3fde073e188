"""A place in the list of tokens: look, take, expect, complain. It knows no grammar but names and types."""

from typing import Final, NoReturn

from procession.feel import syntax
from procession.feel.lexer import Token, syntax_error, tokenize
from procession.feel.limits import NESTING_DEPTH_MAX
from procession.feel.names import Scope, normalize

_NAME_SYMBOLS: Final = frozenset("-+*/.'")
_TYPES_OF_WORDS: Final = (
    ("days", "and", "time", "duration"),
    ("years", "and", "months", "duration"),
    ("date", "and", "time"),
)


# After any other type a `<` with a space before it is a comparison.
_TYPES_WITH_PARTS: Final = frozenset({"list", "range", "context"})


class Cursor:
    """Reads tokens from left to right; `depth` counts the open levels of nesting."""

    def __init__(self, text: str, scope: Scope, members: Scope) -> None:
        self.text = text
        self.tokens = tokenize(text)
        self.index = 0
        self.depth = 0
        self.scope = scope
        self.members = members

    @property
    def token(self) -> Token:
        """The token that stands here."""
        return self.tokens[self.index]

    def at(self, text: str, ahead: int = 0) -> bool:
        """Whether a symbol or word stands here (a string of the same text does not count)."""
        index = self.index + ahead
        if index >= len(self.tokens):
            return False
        token = self.tokens[index]
        return token.text == text and token.kind in ("symbol", "keyword", "name")

    def take(self) -> Token:
        """The token that stands here; the next one stands here from now on."""
        token = self.tokens[self.index]
        if token.kind != "end":
            self.index += 1
        return token

    def accept(self, text: str) -> bool:
        """Take a symbol or word if it stands here."""
        if self.at(text):
            self.index += 1
            return True
        return False

    def expect(self, text: str, inside: str) -> Token:
        """Take a symbol or word, or fail."""
        if not self.at(text):
            self.fail(f"Expected {text!r} {inside}, found {self.found()}")
        return self.take()

    def found(self) -> str:
        """What stands here, for messages."""
        token = self.token
        return "the end of the expression" if token.kind == "end" else repr(self.text[token.start : token.end])

    def fail(self, message: str, token: Token | None = None) -> NoReturn:
        """Raise the syntax error of this place."""
        raise syntax_error(message, self.text, (token or self.token).start)

    def deepen(self, levels: int = 1) -> None:
        """Go down in nesting, or fail."""
        self.depth += levels
        if self.depth > NESTING_DEPTH_MAX:
            self.fail(f"The expression is nested deeper than NESTING_DEPTH_MAX = {NESTING_DEPTH_MAX}")

    # Names

    def name(self, what: str) -> str:
        """A simple name, a quoted one, or several words that cannot be anything else."""
        if self.token.kind == "quoted":
            return self.take().text
        if self.token.kind != "name":
            self.fail(f"Expected {what}, found {self.found()}")
        return self.words()

    def words(self) -> str:
        """This word and all that follow it: no operator is written by putting two names side by side."""
        words = [self.take().text]
        while self._continues_name():
            words.append(self.take().text)
        return " ".join(words)

    def _continues_name(self) -> bool:
        token = self.token
        if token.kind == "number":
            return token.spaced and token.text.isdigit()
        if token.kind != "name":
            return False
        return not (token.text == "instance" and self.at("of", 1))

    def name_until(self, closers: str, what: str) -> str:
        """Everything up to one of the closing symbols or words, as one name; for places where names are declared."""
        if self.token.kind == "quoted":
            return self.take().text
        start = self.token
        if start.kind not in ("name", "keyword"):
            self.fail(f"Expected {what}, found {self.found()}")
        ends = closers.split()
        end = start.end
        while not any(self.at(closer) for closer in ends):
            token = self.token
            if token.kind == "symbol" and token.text not in _NAME_SYMBOLS:
                break
            if token.kind not in ("name", "keyword", "number", "symbol"):
                break
            end = self.take().end
        return normalize(self.text[start.start : end])

    # Types

    def type(self) -> syntax.TypeNode:
        """A type: number, list<string>, context<a: number>, function<number> -> Any, range<date>, tPerson."""
        self.deepen()
        for words in _TYPES_OF_WORDS:
            if all(self.at(word, ahead) for ahead, word in enumerate(words)):
                self.index += len(words)
                self.depth -= 1
                return syntax.NamedType(" ".join(words))
        has_parts = self.at("function") or (
            self.at("<", 1) and (self.token.text in _TYPES_WITH_PARTS or not self.tokens[self.index + 1].spaced)
        )
        node = self._type_with_parts() if has_parts else self._named_type()
        self.depth -= 1
        return node

    def _named_type(self) -> syntax.TypeNode:
        name = self._type_name()
        while self.accept("."):
            name += "." + self._type_name()
        return syntax.NamedType(name)

    def _type_name(self) -> str:
        known = self.members.longest(self.tokens, self.index)
        if known is not None:
            self.index += known[1]
            return known[0]
        return "null" if self.accept("null") else self.name("a type")

    def _type_with_parts(self) -> syntax.TypeNode:
        token = self.take()
        match token.text:
            case "list" | "range":
                self.expect("<", f"after {token.text}")
                item = self.type()
                self.expect(">", "after the type of the items")
                return syntax.ListType(item) if token.text == "list" else syntax.RangeType(item)
            case "context":
                return self._context_type()
            case "function":
                return self._function_type()
            case _:
                return self.fail(f"Expected list, range, context or function before '<', found {token.text!r}", token)

    def _context_type(self) -> syntax.TypeNode:
        self.expect("<", "after context")
        members: list[tuple[str, syntax.TypeNode]] = []
        while not self.at(">"):
            name = self.name_until(":", "a member's name")
            self.expect(":", "after the member's name")
            members.append((name, self.type()))
            if not self.accept(","):
                break
        self.expect(">", "after the members")
        return syntax.ContextType(tuple(members))

    def _function_type(self) -> syntax.TypeNode:
        if not self.accept("<"):
            return syntax.NamedType("function")
        parameters: list[syntax.TypeNode] = []
        while not self.at(">"):
            parameters.append(self.type())
            if not self.accept(","):
                break
        self.expect(">", "after the types of the parameters")
        self.expect("->", "before the type of the result")
        return syntax.FunctionType(tuple(parameters), self.type())
