"""A handler's arguments: by name, by camel case, by annotation; and what is said when they do not fit."""

from __future__ import annotations

import dataclasses
from datetime import datetime
from decimal import Decimal
from typing import Any

import attrs
import msgspec
import pydantic
import pytest

from procession.engine import Delivery
from procession.errors import Misconfigured
from procession.worker import Job
from procession.worker.arguments import Arguments, BadArguments, camel_case


@dataclasses.dataclass
class Item:
    name: str
    price: Decimal


class Customer(msgspec.Struct):
    id: int


@attrs.define
class Address:
    city: str


class Order(pydantic.BaseModel):
    number: int
    lines: list[str] = []


def bound(function, variables: dict[str, Any], job: Job | None = None) -> dict[str, Any]:
    args, kwargs = Arguments(function, "handler 'test'").bind(variables, job)
    assert args == []
    return kwargs


def test_a_parameter_takes_the_variable_of_its_name_or_in_camel_case_and_the_exact_name_wins():
    def handler(order_id: str, total): ...

    assert bound(handler, {"orderId": "A", "total": 1}) == {"order_id": "A", "total": 1}
    assert bound(handler, {"orderId": "A", "order_id": "B", "total": 1})["order_id"] == "B"


@pytest.mark.parametrize(
    ("name", "camel"),
    [("order_id", "orderId"), ("x", "x"), ("a_b_c", "aBC"), ("_private", "_private"), ("orderId", "orderId")],
)
def test_snake_case_becomes_camel_case(name, camel):
    assert camel_case(name) == camel


def test_values_are_decoded_by_annotation():
    def handler(item: Item, customer: Customer, address: Address, when: datetime, price: Decimal, order: Order): ...

    result = bound(
        handler,
        {
            "item": {"name": "tea", "price": 2.5},
            "customer": {"id": 7},
            "address": {"city": "Rome"},
            "when": "2026-01-02T03:04:05Z",
            "price": 12.1,
            "order": {"number": 3, "lines": ["a"]},
        },
    )
    assert result["item"] == Item("tea", Decimal("2.5"))
    assert result["customer"] == Customer(7)
    assert result["address"] == Address("Rome")
    assert result["when"].year == 2026
    assert result["price"] == Decimal("12.1")
    assert result["order"] == Order(number=3, lines=["a"])


def test_defaults_stand_in_for_missing_variables_and_none_where_it_is_allowed():
    def handler(a: int = 5, b: str | None = "x", c: int | None = None): ...

    assert bound(handler, {}) == {}

    def optional(note: str | None): ...

    assert bound(optional, {}) == {"note": None}


def test_the_rest_of_the_variables_goes_to_the_last_parameter():
    def handler(order_id: str, **rest): ...

    assert bound(handler, {"orderId": "A", "x": 1, "y": [2]}) == {"order_id": "A", "x": 1, "y": [2]}


def test_the_context_is_given_by_annotation_or_by_its_name():
    delivery = Delivery(key=1, lease=1, kind=0, queue="q", type="t")
    job = Job(delivery, {})

    def annotated(context: Job): ...

    def named(job): ...

    assert bound(annotated, {}, job) == {"context": job}
    assert bound(named, {}, job) == {"job": job}


def test_positional_parameters_are_given_by_position():
    def handler(a, b, /, c): ...

    assert Arguments(handler, "handler").bind({"a": 1, "b": 2, "c": 3}, None) == ([1, 2], {"c": 3})


def test_a_handler_cannot_change_what_the_engine_keeps():
    def handler(items: list, anything, data: dict): ...

    variables = {"items": [{"a": 1}], "anything": {"b": [1]}, "data": {"c": [1]}}
    given = bound(handler, variables)
    given["items"][0]["a"] = 2
    given["anything"]["b"].append(2)
    given["data"]["c"].append(2)
    assert variables == {"items": [{"a": 1}], "anything": {"b": [1]}, "data": {"c": [1]}}


def test_what_is_missing_is_named_with_what_there_is():
    def handler(order_id: str): ...

    with pytest.raises(
        BadArguments, match=r"'order_id' expects a variable 'order_id' or 'orderId'.*there are: id, total"
    ):
        bound(handler, {"total": 1, "id": 2})


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"name": "tea"}, "price"),
        ({"name": 5, "price": 1}, "Expected `str`, got `int`"),
        ("tea", "Expected `object`, got `str`"),
    ],
)
def test_what_does_not_decode_names_parameter_expectation_and_value(value, expected):
    def handler(item: Item): ...

    with pytest.raises(BadArguments) as caught:
        bound(handler, {"item": value})
    text = str(caught.value)
    assert "parameter 'item'" in text
    assert expected in text
    assert f"found {type(value).__name__}" in text


def test_a_pydantic_model_says_what_is_wrong():
    def handler(orders: list[Order]): ...

    with pytest.raises(BadArguments, match=r"'orders'.*number"):
        bound(handler, {"orders": [{"number": "x"}]})


def test_handlers_that_cannot_be_called_by_name_are_refused_when_they_are_registered():
    def starred(*args): ...

    with pytest.raises(Misconfigured, match=r"\*args"):
        Arguments(starred, "job handler 'x'")

    def unresolved(a: Nowhere): ...  # noqa: F821 - that is the point

    with pytest.raises(Misconfigured, match="Nowhere"):
        Arguments(unresolved, "job handler 'x'")


def test_a_handler_may_use_what_the_function_around_it_defines_later():
    def handler(item: Item):
        return later(item)

    assert bound(handler, {"item": {"name": "lamp", "price": "1"}})

    def later(item: Item):
        return item
