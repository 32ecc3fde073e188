"""The parts of a parsed expression: immutable nodes that compare by content, not by place.

`at` is the index of the character where the node's own operator or first token stands. Nodes hold no behaviour; the
compiler, the printer and the name finder read them.
"""

from dataclasses import dataclass, field
from decimal import Decimal
from typing import Literal

_AT = field(default=0, compare=False)

ArithmeticOperator = Literal["+", "-", "*", "/", "**"]
ComparisonOperator = Literal["=", "!=", "<", "<=", ">", ">="]


@dataclass(frozen=True, slots=True)
class NamedType:
    """A built-in type or the name of an item definition."""

    name: str


@dataclass(frozen=True, slots=True)
class ListType:
    """``list<string>``."""

    item: "TypeNode"


@dataclass(frozen=True, slots=True)
class RangeType:
    """``range<date>``."""

    item: "TypeNode"


@dataclass(frozen=True, slots=True)
class ContextType:
    """``context<name: string, age: number>``."""

    members: tuple[tuple[str, "TypeNode"], ...]


@dataclass(frozen=True, slots=True)
class FunctionType:
    """``function<number, number> -> boolean``."""

    parameters: tuple["TypeNode", ...]
    result: "TypeNode"


TypeNode = NamedType | ListType | RangeType | ContextType | FunctionType


@dataclass(frozen=True, slots=True)
class Constant:
    """``1.5``, ``"a"``, ``true``, ``null``."""

    value: int | Decimal | str | bool | None
    at: int = _AT


@dataclass(frozen=True, slots=True)
class AtLiteral:
    """@"2024-01-31" and its relatives."""

    text: str
    at: int = _AT


@dataclass(frozen=True, slots=True)
class Name:
    """A variable, a local name or a function."""

    name: str
    at: int = _AT


@dataclass(frozen=True, slots=True)
class Path:
    """``a.b``."""

    base: "Node"
    name: str
    at: int = _AT


@dataclass(frozen=True, slots=True)
class Filter:
    """``a[b]``."""

    base: "Node"
    condition: "Node"
    at: int = _AT


@dataclass(frozen=True, slots=True)
class Call:
    """`names` is empty for positional arguments, else one per argument."""

    function: "Node"
    arguments: tuple["Node", ...]
    names: tuple[str, ...] = ()
    at: int = _AT


@dataclass(frozen=True, slots=True)
class Negation:
    """``-a``."""

    operand: "Node"
    at: int = _AT


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """``a + b``."""

    operator: ArithmeticOperator
    left: "Node"
    right: "Node"
    at: int = _AT


@dataclass(frozen=True, slots=True)
class Comparison:
    """``a < b``."""

    operator: ComparisonOperator
    left: "Node"
    right: "Node"
    at: int = _AT


@dataclass(frozen=True, slots=True)
class And:
    """``a and b and c``."""

    operands: tuple["Node", ...]
    at: int = _AT


@dataclass(frozen=True, slots=True)
class Or:
    """``a or b or c``."""

    operands: tuple["Node", ...]
    at: int = _AT


@dataclass(frozen=True, slots=True)
class Between:
    """``a between b and c``."""

    operand: "Node"
    low: "Node"
    high: "Node"
    at: int = _AT


@dataclass(frozen=True, slots=True)
class In:
    """``a in (b, < c)``."""

    operand: "Node"
    tests: tuple["Node", ...]
    at: int = _AT


@dataclass(frozen=True, slots=True)
class InstanceOf:
    """``a instance of b``."""

    operand: "Node"
    type: TypeNode
    at: int = _AT


@dataclass(frozen=True, slots=True)
class If:
    """``if a then b else c``."""

    condition: "Node"
    then: "Node"
    otherwise: "Node"
    at: int = _AT


@dataclass(frozen=True, slots=True)
class Iterator:
    """`name in source`, or `name in source..end`."""

    name: str
    source: "Node"
    end: "Node | None" = None


@dataclass(frozen=True, slots=True)
class For:
    """``for a in b, c in d..e return f``."""

    iterators: tuple[Iterator, ...]
    body: "Node"
    at: int = _AT


@dataclass(frozen=True, slots=True)
class Quantified:
    """``some a in b satisfies c``, ``every a in b satisfies c``."""

    quantifier: Literal["some", "every"]
    iterators: tuple[Iterator, ...]
    condition: "Node"
    at: int = _AT


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a function, ``a`` or ``a: string``."""

    name: str
    type: TypeNode | None = None


@dataclass(frozen=True, slots=True)
class FunctionDefinition:
    """``function(a, b: number) c``."""

    parameters: tuple[Parameter, ...]
    body: "Node"
    external: bool = False
    at: int = _AT


@dataclass(frozen=True, slots=True)
class ListLiteral:
    """``[a, b]``."""

    items: tuple["Node", ...]
    at: int = _AT


@dataclass(frozen=True, slots=True)
class ContextLiteral:
    """``{a: b, "c d": e}``."""

    entries: tuple[tuple[str, "Node"], ...]
    at: int = _AT


@dataclass(frozen=True, slots=True)
class RangeLiteral:
    """``[a..b)``."""

    low: "Node"
    high: "Node"
    low_included: bool
    high_included: bool
    at: int = _AT


@dataclass(frozen=True, slots=True)
class UnaryRange:
    """`< 10` as a test, `(< 10)` as a value."""

    operator: ComparisonOperator
    operand: "Node"
    at: int = _AT


@dataclass(frozen=True, slots=True)
class UnaryTests:
    """The tests of a decision table's cell. No tests at all is `-`: anything matches."""

    tests: tuple["Node", ...]
    negated: bool = False
    at: int = _AT


Node = (
    Constant
    | AtLiteral
    | Name
    | Path
    | Filter
    | Call
    | Negation
    | Arithmetic
    | Comparison
    | And
    | Or
    | Between
    | In
    | InstanceOf
    | If
    | For
    | Quantified
    | FunctionDefinition
    | ListLiteral
    | ContextLiteral
    | RangeLiteral
    | UnaryRange
)
