"""What a handler returns becomes variables."""

from __future__ import annotations

import dataclasses
from datetime import date
from decimal import Decimal

import attrs
import msgspec
import pydantic
import pytest

from procession.errors import InvalidValue
from procession.worker.results import to_variables


@dataclasses.dataclass
class Receipt:
    number: int
    paid: Decimal


class Struct(msgspec.Struct):
    number: int


@attrs.define
class Plain:
    number: int


class Model(pydantic.BaseModel):
    number: int
    on: date = date(2026, 1, 2)


@pytest.mark.parametrize(
    ("value", "variables"),
    [
        (None, {}),
        ({}, {}),
        ({"a": 1}, {"a": 1}),
        (Receipt(1, Decimal("2.50")), {"number": 1, "paid": 2.5}),
        (Struct(1), {"number": 1}),
        (Plain(1), {"number": 1}),
        (Model(number=1), {"number": 1, "on": "2026-01-02"}),
        (
            {"lines": [Model(number=1), Receipt(2, Decimal(1))]},
            {"lines": [{"number": 1, "on": "2026-01-02"}, {"number": 2, "paid": 1}]},
        ),
        (5, {"result": 5}),
        ("text", {"result": "text"}),
        ([1, 2], {"result": [1, 2]}),
        (False, {"result": False}),
    ],
)
def test_objects_become_their_fields_and_single_values_the_result(value, variables):
    assert to_variables(value, "result") == variables


@pytest.mark.parametrize("value", [5, {"a": 1}, [1]])
def test_a_variable_named_by_the_model_takes_the_whole_result(value):
    assert to_variables(value, "result", "answer") == {"answer": value}


@pytest.mark.parametrize(
    ("value", "where"),
    [
        ({"a": [object()]}, r"result\.a\[0\], found object"),
        (Receipt(1, Decimal("NaN")), r"finite number at result\.paid"),
        ({"a": "x\0"}, r"NUL characters at result\.a"),
        (object(), "at result, found object"),
    ],
)
def test_what_cannot_be_stored_is_named_by_its_path(value, where):
    with pytest.raises(InvalidValue, match=where):
        to_variables(value, "result")
