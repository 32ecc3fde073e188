"""Random expressions and values for property tests."""

from __future__ import annotations

from decimal import Decimal

from hypothesis import strategies as st

from procession.feel import syntax

WORDS = st.sampled_from(["a", "b", "order total", "x", "item", "count", "name 2", "_z"])


def by_name(pairs):
    """One pair of each name. Without `unique_by`, which writes out the whole recursive strategy when it retries."""
    return tuple(dict(pairs).items())


TYPES = st.recursive(
    st.sampled_from(["number", "string", "date and time", "days and time duration", "tPerson", "Any"]).map(
        syntax.NamedType
    ),
    lambda inner: st.one_of(
        st.builds(syntax.ListType, inner),
        st.builds(syntax.RangeType, inner),
        st.builds(syntax.ContextType, st.lists(st.tuples(WORDS, inner), max_size=2).map(by_name)),
        st.builds(syntax.FunctionType, st.lists(inner, max_size=2).map(tuple), inner),
    ),
    max_leaves=4,
)
NUMBERS = st.one_of(
    st.integers(min_value=0, max_value=10**20),
    st.decimals(min_value=0, max_value=10**6, allow_nan=False, places=4).filter(lambda d: d != d.to_integral_value()),
)
STRINGS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
CONSTANTS = st.one_of(NUMBERS, STRINGS, st.booleans(), st.none()).map(syntax.Constant)
LEAVES = st.one_of(
    CONSTANTS,
    WORDS.map(syntax.Name),
    st.sampled_from(["2024-01-31", "P1D", "nonsense"]).map(syntax.AtLiteral),
)
COMPARISONS = st.sampled_from(["=", "!=", "<", "<=", ">", ">="])


def _compound(inner):
    iterators = st.lists(
        st.builds(syntax.Iterator, WORDS, inner, st.one_of(st.none(), inner)), min_size=1, max_size=2
    ).map(tuple)
    tests = st.one_of(inner, st.builds(syntax.UnaryRange, COMPARISONS, inner))
    many = st.lists(inner, max_size=3).map(tuple)
    parameters = st.lists(st.builds(syntax.Parameter, WORDS, st.one_of(st.none(), TYPES)), max_size=2).map(
        lambda found: tuple({one.name: one for one in found}.values())
    )
    return st.one_of(
        st.builds(syntax.Path, inner, WORDS),
        st.builds(syntax.Filter, inner, inner),
        st.builds(syntax.Call, inner, many),
        st.builds(syntax.Call, WORDS.map(syntax.Name), inner.map(lambda one: (one,)), st.just(("first name",))),
        st.builds(syntax.Negation, inner),
        st.builds(syntax.Arithmetic, st.sampled_from(["+", "-", "*", "/", "**"]), inner, inner),
        st.builds(syntax.Comparison, COMPARISONS, inner, inner),
        st.builds(syntax.And, st.lists(inner, min_size=2, max_size=3).map(tuple)),
        st.builds(syntax.Or, st.lists(inner, min_size=2, max_size=3).map(tuple)),
        st.builds(syntax.Between, inner, inner, inner),
        st.builds(syntax.In, inner, st.lists(tests, min_size=1, max_size=3).map(tuple)),
        st.builds(syntax.InstanceOf, inner, TYPES),
        st.builds(syntax.If, inner, inner, inner),
        st.builds(syntax.For, iterators, inner),
        st.builds(syntax.Quantified, st.sampled_from(["some", "every"]), iterators, inner),
        st.builds(syntax.FunctionDefinition, parameters, inner),
        st.builds(syntax.ListLiteral, many),
        st.builds(syntax.ContextLiteral, st.lists(st.tuples(WORDS, inner), max_size=2).map(by_name)),
        st.builds(syntax.RangeLiteral, inner, inner, st.booleans(), st.booleans()),
        st.builds(syntax.UnaryRange, COMPARISONS, inner),
    )


EXPRESSIONS = st.recursive(LEAVES, _compound, max_leaves=12)

SYMBOLS = "+ - * / ** = != < <= > >= ( ) [ ] { } , : . .. @ ' -> ?"
KEYWORDS = "and or not if then else for in return some every satisfies between instance of function external"
NAMES = "true false null a b item partial list context range number string date time duration"
TOKENS = st.sampled_from(
    [
        *SYMBOLS.split(),
        *KEYWORDS.split(),
        *NAMES.split(),
        *("date and time", "years and months duration", "get or else", "count", "sort", "replace", "matches"),
        *("1", "0", "2.5", "1e3", '"a"', '"2024-01-31"', '@"P1D"', '@"10:00:00@Europe/Paris"', "`q`", "\n", "// c\n"),
    ]
)

VALUES = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(),
        st.decimals(),
        STRINGS,
        st.dates(),
        st.times(),
        st.datetimes(),
        st.timedeltas(),
        st.sampled_from([Decimal("1e6144"), Decimal("1e999999"), Decimal("-1e-6176"), -(10**40), "\ud800", (1,)]),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(["a", "b", "x"]), inner, max_size=2)
    ),
    max_leaves=6,
)
