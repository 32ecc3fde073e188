"""Tokens to nodes: a hand-written parser, one precedence level per number.

    1 or   2 and   3 comparison, between, in   4 + -   5 * /   6 **   7 unary minus   8 instance of
    9 path, filter, call

It knows which names of several words are in scope (see `names`) and joins other adjacent words to one name. It
evaluates nothing.
"""

from collections.abc import Callable, Iterable
from typing import Final, TypeVar, cast

from procession.feel import syntax
from procession.feel.cursor import Cursor
from procession.feel.lexer import Token, syntax_error
from procession.feel.limits import NESTING_DEPTH_MAX
from procession.feel.names import Scope, function_with_keyword
from procession.feel.numbers import Number, number_of_text
from procession.feel.problems import Invalid
from procession.feel.syntax import Node

Parsed = TypeVar("Parsed")

_COMPARISONS: Final = frozenset({"=", "!=", "<", "<=", ">", ">="})
_LEVELS: Final = {"or": 1, "and": 2, "between": 3, "in": 3, "+": 4, "-": 4, "*": 5, "/": 5, "**": 6, "instance": 8}
_LEVELS.update(dict.fromkeys(_COMPARISONS, 3))
_OPERAND, _UNARY, _INSTANCE = 4, 7, 8
_CONSTANTS: Final = {"true": True, "false": False, "null": None}
_NAME_SYMBOLS: Final = frozenset("-+*/.'")
# What may follow the closing bracket of `[1..10[`; anything else makes the bracket a filter of the upper end.
_CANNOT_START: Final = frozenset(
    [
        ")",
        "]",
        "}",
        ",",
        ":",
        ".",
        "..",
        "=",
        "!=",
        "<",
        "<=",
        ">",
        ">=",
        "*",
        "/",
        "**",
        "->",
        "+",
        "and",
        "or",
        "then",
        "else",
        "return",
        "in",
    ]
)


def parse(text: str, names: Iterable[str] = (), members: Iterable[str] = ()) -> Node:
    """The node of an expression. `members` are names that may stand after a dot. Raises FeelSyntaxError."""
    return _run(text, names, members, Parser.whole_expression)


def parse_unary_tests(text: str, names: Iterable[str] = (), members: Iterable[str] = ()) -> syntax.UnaryTests:
    """The tests of a decision table's cell. Raises FeelSyntaxError."""
    return _run(text, names, members, Parser.whole_unary_tests)


def _run(text: str, names: Iterable[str], members: Iterable[str], rule: "Callable[[Parser], Parsed]") -> Parsed:
    try:
        return rule(Parser(text, Scope(names), Scope(members)))
    except RecursionError:
        message = f"The expression is nested too deeply (NESTING_DEPTH_MAX is {NESTING_DEPTH_MAX})"
        raise syntax_error(message, text, 0) from None


class Parser(Cursor):
    """One run over one text."""

    _in_filter = 0  # how many filters are open
    _upper_end = False  # reading the upper end of a range, where `[` may close it

    def whole_expression(self) -> Node:
        """The whole text as one expression."""
        if self.token.kind == "end":
            self.fail("Expected an expression, found nothing")
        node = self.expression()
        self._end()
        return node

    def whole_unary_tests(self) -> syntax.UnaryTests:
        """The whole text as the tests of a cell."""
        at = self.token.start
        if self.token.kind == "end":
            self.fail("Expected '-' or tests, found nothing")
        if self.at("-") and self.tokens[1].kind == "end":
            return syntax.UnaryTests(())
        if self.at("not") and self.at("(", 1):
            negated = self._negated_tests()
            if negated is not None:
                return syntax.UnaryTests(negated, negated=True, at=at)
        tests = self._tests()
        self._end()
        return syntax.UnaryTests(tests, at=at)

    def _negated_tests(self) -> tuple[Node, ...] | None:
        start = self.index
        self.index += 2
        tests = self._tests()
        if self.accept(")") and self.token.kind == "end":
            return tests
        self.index = start  # not(a) or b: an ordinary expression that begins with a call of not
        return None

    def _end(self) -> None:
        if self.token.kind != "end":
            self.fail(f"Expected an operator or the end of the expression, found {self.found()}")

    def expression(self, level: int = 1, left: Node | None = None) -> Node:
        """An expression of operators that bind at least as strongly as `level`."""
        depth = self.depth
        self.deepen()
        node = self._postfix(self._prefix()) if left is None else left
        while True:
            operator = self.token
            if operator.kind not in ("symbol", "keyword", "name"):
                break
            found = _LEVELS.get(operator.text)
            if found is None or found < level or (found == _INSTANCE and not self.at("of", 1)):
                break
            self.deepen()
            self.take()
            node = self._infix(node, operator, found)
        self.depth = depth
        return node

    def _infix(self, left: Node, operator: Token, level: int) -> Node:
        at = operator.start
        match operator.text:
            case "and" | "or":
                return self._junction(left, operator)
            case "between":
                return self._between(left, at)
            case "in":
                return self._in(left, at)
            case "instance":
                self.take()
                return syntax.InstanceOf(left, self.type(), at)
            case text if text in _COMPARISONS:
                right = self.expression(level + 1)
                return syntax.Comparison(cast("syntax.ComparisonOperator", text), left, right, at)
            case text:
                right = self.expression(level + 1)
                return syntax.Arithmetic(cast("syntax.ArithmeticOperator", text), left, right, at)

    def _junction(self, left: Node, operator: Token) -> Node:
        operands = [left]
        level = _LEVELS[operator.text]
        while True:
            operands.append(self.expression(level + 1))
            if not self.accept(operator.text):
                break
        kind = syntax.And if operator.text == "and" else syntax.Or
        return kind(tuple(operands), operator.start)

    def _between(self, operand: Node, at: int) -> Node:
        low = self.expression(_OPERAND)
        self.expect("and", "between the two bounds")
        return syntax.Between(operand, low, self.expression(_OPERAND), at)

    def _in(self, operand: Node, at: int) -> Node:
        if self._comparison_follows():
            return syntax.In(operand, (self._unary_range(),), at)
        if not self.at("("):
            return syntax.In(operand, (self.expression(_OPERAND),), at)
        first, *more = self._parenthesis(several=True)
        if more:
            return syntax.In(operand, (first, *more), at)
        return syntax.In(operand, (self.expression(_OPERAND, self._postfix(first)),), at)

    def _tests(self) -> tuple[Node, ...]:
        tests = [self._test()]
        while self.accept(","):
            tests.append(self._test())
        return tuple(tests)

    def _test(self) -> Node:
        return self._unary_range() if self._comparison_follows() else self.expression()

    def _comparison_follows(self) -> bool:
        return self.token.kind == "symbol" and self.token.text in _COMPARISONS

    def _unary_range(self) -> Node:
        operator = self.take()
        text = cast("syntax.ComparisonOperator", operator.text)
        return syntax.UnaryRange(text, self.expression(_OPERAND), operator.start)

    # What an expression may begin with

    def _prefix(self) -> Node:
        token = self.token
        match token.kind:
            case "number":
                return syntax.Constant(self._number(), token.start)
            case "string":
                self.take()
                return syntax.Constant(token.text, token.start)
            case "quoted":
                self.take()
                return syntax.Name(token.text, token.start)
            case "end":
                return self.fail("Expected an expression, found the end of the expression")
            case _:
                return self._known_name() or self._prefix_word(token)

    def _number(self) -> Number:
        try:
            value = number_of_text(self.token.text)
        except Invalid as problem:
            self.fail(problem.message)
        self.take()
        return value

    def _known_name(self) -> Node | None:
        at = self.token.start
        found = self.scope.longest(self.tokens, self.index) or function_with_keyword(self.tokens, self.index)
        if found is None and self._in_filter:
            found = self.members.longest(self.tokens, self.index)  # a member of the item
        if found is None:
            return None
        self.index += found[1]
        return syntax.Name(found[0], at)

    def _prefix_word(self, token: Token) -> Node:
        match token.text:
            case "-":
                self.take()
                return syntax.Negation(self.expression(_UNARY), token.start)
            case "(":
                return self._parenthesis(several=False)[0]
            case "[":
                return self._list_or_range()
            case "]":
                self.take()
                return self._range_after(self._inside(), low_included=False, at=token.start)
            case "{":
                return self._context()
            case "@":
                return self._at_literal()
            case _:
                return self._prefix_keyword(token)

    def _prefix_keyword(self, token: Token) -> Node:
        if token.kind == "name":
            return syntax.Name(self.words(), token.start)
        if token.kind == "keyword":
            match token.text:
                case "true" | "false" | "null":
                    self.take()
                    return syntax.Constant(_CONSTANTS[token.text], token.start)
                case "if":
                    return self._if()
                case "for":
                    return self._for()
                case "some" | "every":
                    return self._quantified()
                case "function":
                    return self._function()
                case _:
                    pass
        return self.fail(f"Expected an expression, found {self.found()}")

    def _at_literal(self) -> Node:
        at = self.take().start
        if self.token.kind != "string":
            self.fail(
                f'Expected a date, time or duration in quotes after @, such as @"2024-01-31", found {self.found()}'
            )
        return syntax.AtLiteral(self.take().text, at)

    def _inside(self) -> Node:
        """An expression inside brackets, where a `[` is a filter again."""
        upper_end, self._upper_end = self._upper_end, False
        node = self.expression()
        self._upper_end = upper_end
        return node

    def _parenthesis(self, *, several: bool) -> tuple[Node, ...]:
        at = self.expect("(", "here").start
        upper_end, self._upper_end = self._upper_end, False
        is_comparison = self._comparison_follows()
        tests = [self._test()]
        if self.at("..") and not is_comparison:
            self._upper_end = upper_end
            return (self._range_after(tests[0], low_included=False, at=at),)
        while several and self.accept(","):
            tests.append(self._test())
        self.expect(")", "to close the parenthesis")
        self._upper_end = upper_end
        return tuple(tests)

    def _list_or_range(self) -> Node:
        at = self.take().start
        items: list[Node] = []
        if not self.at("]"):
            items.append(self._inside())
            if self.at(".."):
                return self._range_after(items[0], low_included=True, at=at)
            while self.accept(","):
                items.append(self._inside())
        self.expect("]", "to close the list")
        return syntax.ListLiteral(tuple(items), at)

    def _range_after(self, low: Node, *, low_included: bool, at: int) -> Node:
        self.expect("..", "between the two ends of a range")
        upper_end, self._upper_end = self._upper_end, True
        high = self.expression()
        self._upper_end = upper_end
        closer = self.token.text if self.token.kind == "symbol" else ""
        if closer not in ("]", ")", "["):
            self.fail(f"Expected ']', ')' or '[' to close the range, found {self.found()}")
        self.take()
        return syntax.RangeLiteral(low, high, low_included, closer == "]", at)

    def _context(self) -> Node:
        at, mark = self.take().start, self.scope.mark()
        entries: list[tuple[str, Node]] = []
        seen: set[str] = set()
        while not self.at("}"):
            token = self.token
            name = self.take().text if token.kind == "string" else self.name_until(":", "a key")
            if name in seen:
                self.fail(f"The key {name!r} stands twice in this context", token)
            seen.add(name)
            self.expect(":", "after the key")
            entries.append((name, self._inside()))
            self.scope.declare(name)
            self.members.declare(name)
            if not self.accept(","):
                break
        self.expect("}", "to close the context")
        self.scope.forget(mark)
        return syntax.ContextLiteral(tuple(entries), at)

    def _if(self) -> Node:
        at = self.take().start
        condition = self.expression()
        self.expect("then", "after the condition of if")
        then = self.expression()
        self.expect("else", "after the value of then")
        return syntax.If(condition, then, self.expression(), at)

    def _for(self) -> Node:
        at, mark = self.take().start, self.scope.mark()
        iterators = self._iterators()
        self.expect("return", "after the iterators of for")
        node = syntax.For(iterators, self.expression(), at)
        self.scope.forget(mark)
        return node

    def _quantified(self) -> Node:
        token, mark = self.take(), self.scope.mark()
        iterators = self._iterators()
        self.expect("satisfies", f"after the iterators of {token.text}")
        quantifier = "some" if token.text == "some" else "every"
        node = syntax.Quantified(quantifier, iterators, self.expression(), token.start)
        self.scope.forget(mark)
        return node

    def _iterators(self) -> tuple[syntax.Iterator, ...]:
        iterators: list[syntax.Iterator] = []
        while True:
            name = self.name_until("in", "the name of an iterator")
            self.expect("in", "after the iterator's name")
            source = self.expression()
            end = self.expression() if self.accept("..") else None
            iterators.append(syntax.Iterator(name, source, end))
            self.scope.declare(name)
            if not self.accept(","):
                return tuple(iterators)

    def _function(self) -> Node:
        at, mark = self.take().start, self.scope.mark()
        self.expect("(", "after function")
        parameters: list[syntax.Parameter] = []
        while not self.at(")"):
            token = self.token
            name = self.name_until(": , )", "a parameter's name")
            if any(name == other.name for other in parameters):
                self.fail(f"The parameter {name!r} stands twice in this function", token)
            parameters.append(syntax.Parameter(name, self.type() if self.accept(":") else None))
            self.scope.declare(name)
            if not self.accept(","):
                break
        self.expect(")", "to close the parameters")
        external = self.accept("external")
        body = self.expression()
        self.scope.forget(mark)
        return syntax.FunctionDefinition(tuple(parameters), body, external, at)

    # What may follow an operand

    def _postfix(self, node: Node) -> Node:
        depth = self.depth
        while True:
            token = self.token
            if token.kind != "symbol":
                break
            if token.text == ".":
                self.deepen()
                self.take()
                node = syntax.Path(node, self._member(), token.start)
            elif token.text == "[" and not self._closes_range():
                self.deepen()
                self.take()
                self._in_filter += 1
                node = syntax.Filter(node, self._inside(), token.start)
                self._in_filter -= 1
                self.expect("]", "to close the filter")
            elif token.text == "(":
                self.deepen()
                node = self._call(node)
            else:
                break
        self.depth = depth
        return node

    def _closes_range(self) -> bool:
        following = self.tokens[self.index + 1]
        return self._upper_end and (
            following.kind == "end" or (following.kind in ("symbol", "keyword") and following.text in _CANNOT_START)
        )

    def _member(self) -> str:
        for scope in (self.members, self.scope):
            known = scope.longest(self.tokens, self.index)
            if known is not None:
                self.index += known[1]
                return known[0]
        if self.token.kind == "keyword":
            return self.words()
        return self.name("a member's name after '.'")

    def _call(self, function: Node) -> Node:
        at = function.at
        self.take()
        upper_end, self._upper_end = self._upper_end, False
        arguments: list[Node] = []
        names: list[str] = []
        named = self._named_argument_follows()
        while not self.at(")"):
            if named:
                names.append(self.name_until(":", "a parameter's name"))
                self.expect(":", "after the parameter's name")
            arguments.append(self._test())
            if not self.accept(","):
                break
        self.expect(")", "to close the arguments")
        self._upper_end = upper_end
        return syntax.Call(function, tuple(arguments), tuple(names), at)

    def _named_argument_follows(self) -> bool:
        index = self.index
        if self.tokens[index].kind not in ("name", "keyword", "quoted", "string"):
            return False
        while True:
            token = self.tokens[index]
            if token.kind == "symbol" and token.text == ":":
                return True
            if token.kind == "end" or (token.kind == "symbol" and token.text not in _NAME_SYMBOLS):
                return False
            index += 1
