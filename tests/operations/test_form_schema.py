"""Forms that nobody could show are refused when they are deployed, with every reason at once."""

from __future__ import annotations

import json
from typing import Any

import pytest

from procession import Procession
from procession.errors import InvalidModel

X = {"type": "number", "key": "x"}


def form(*components: Any, **more: Any) -> tuple[str, bytes]:
    return "weigh.form", json.dumps({"id": "weigh", "components": list(components), **more}).encode()


async def test_a_form_of_every_known_kind_is_deployed() -> None:
    inner = {"type": "textfield", "key": "street", "id": "Field_3"}
    async with Procession("memory://") as app:
        await app.deploy(
            form(
                {"type": "number", "key": "grams", "id": "Field_1"},
                {"type": "text", "text": "No key at all"},
                {"type": "group", "path": "address", "id": "Field_2", "components": [inner]},
                {"type": "dynamiclist", "path": "rows", "components": [{**inner, "id": "Field_4"}]},
                {"type": "textfield", "key": "address.city"},
                {"type": "select", "key": "", "values": []},
                type="default",
            )
        )


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (form({"type": "hologram", "key": "x"}), r"components\[0\] \('x'\) to have a type that forms know.*'hologram'"),
        (form({"key": "x"}), "found None"),
        (form("text"), r"expected components\[0\] to be a component, found str"),
        (form({"type": "group", "components": 3}), "to be a list, found int"),
        (form({"type": "text", "id": "A"}, {"type": "text", "id": "A"}), r"'A' at components\[0\] and at"),
        (form({"type": "number", "key": "x"}, {"type": "textfield", "key": "x"}), "keep their values apart, found 'x'"),
        (form({"type": "number", "key": "x"}, {"type": "number", "key": "x.y"}), "found 'x.y'"),
        (form({"type": "number", "key": "x.y"}, {"type": "number", "key": "x"}), "found 'x' at"),
        (form({"type": "group", "path": "a", "components": [X]}, {"type": "number", "key": "a.x"}), "'a.x'"),
        (form(type="page"), "to be of type 'default', found 'page'"),
    ],
)  # fmt: skip
async def test_a_form_that_nobody_could_show_is_refused(given: tuple[str, bytes], said: str) -> None:
    async with Procession("memory://") as app:
        with pytest.raises(InvalidModel, match=said):
            await app.deploy(given)


async def test_every_reason_is_told_up_to_a_bound() -> None:
    wrong = [{"type": f"strange-{number}"} for number in range(100)]
    async with Procession("memory://") as app:
        with pytest.raises(InvalidModel) as caught:
            await app.deploy(form(*wrong))
    assert len(caught.value.problems) == 20


async def test_components_that_are_too_deep_are_refused() -> None:
    deep: dict[str, Any] = {"type": "text"}
    for _ in range(60):
        deep = {"type": "group", "components": [deep]}
    async with Procession("memory://") as app:
        with pytest.raises(InvalidModel, match="at most 50 deep"):
            await app.deploy(form(deep))
