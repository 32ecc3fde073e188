"""What runs while things are killed: models with all that can be cut short, and what each instance must end with.

    order   a method, a service job that fails at first, parallel branches with jobs and a timer
    family  a call activity, a multi-instance over jobs, a script
    talk    message catches that outsiders serve
    echo    a message that an instance throws to itself, counted by a boundary event that takes every copy

The number of an instance decides its model and its variables, so that anybody can say what must have come of it.
"""

from __future__ import annotations

from typing import Any, Final

from procession.testing.bpmn import multi_instance, process, resource

METHODS: Final = ("price",)
GROUP: Final = 8  # numbers per group: each group holds every model
_KINDS: Final = ("order", "family", "order", "talk", "order", "family", "order", "echo")
JOBS: Final = {
    "order": ("reserve", "pay", "pack"),
    "family": ("each", "each", "each"),
    "child": ("work",),
    "talk": ("note",),
    "echo": ("listen",),
}
ECHO_S: Final = 4  # an echo listens for longer than a dead process' work takes to be done again


def content() -> bytes:
    """The file that is deployed."""
    order = (
        process("order")
        .start()
        .task("price")
        .service("reserve", retries=8)
        .parallel("split")
        .service("pay")
        .parallel("join")
        .end()
        .at("split")
        .catch("cool down", timer="PT0.1S")
        .service("pack")
        .to("join")
    )
    loop = multi_instance("=items", element="item", output="results", result="=result")
    family = (
        process("family")
        .start()
        .call("child", process="child")
        .service("each", loop=loop, inputs={"result": "=null"})  # its own, or it would be the instance's
        .script("total", "=sum(results) + made", result="total")
        .end()
    )
    child = process("child").start().service("work").end()
    talk = (
        process("talk")
        .start()
        .catch("first", message="word", key="=number", outputs={"first": "=word"})
        .service("note")
        .catch("second", message="word", key="=number", outputs={"second": "=word"})
        .end()
    )
    echo = (
        process("echo")
        .start()
        .service("listen")
        .sub_process("listening")
        .start("inner")
        .throw("shout", message="echo", key="=number")
        .catch("heard", message="heard", key="=number")
        .catch("stay", timer=f"PT{ECHO_S}S")
        .end("enough")
        .done()
        .end()
        .boundary("back", on="listening", interrupting=False, message="echo", key="=number")
        .script("count", "=echoes + 1", result="echoes")
        .throw("tell", message="heard", key="=number")
        .end("counted")
    )
    return resource(order, family, child, talk, echo)


def process_of(number: int) -> str:
    """The process that this number starts."""
    return _KINDS[number % GROUP]


def variables_of(number: int) -> dict[str, Any]:
    """What it is started with."""
    common = {"number": str(number)}
    match process_of(number):
        case "order":
            return common | {"amount": number}
        case "family":
            return common | {"items": [number, number + 1, number + 2], "seed": number}
        case "echo":
            return common | {"echoes": 0}
        case _:
            return common


def words_of(number: int) -> tuple[str, str]:
    """The messages that a talk waits for."""
    return f"a{number}", f"b{number}"


def outcome_of(process_id: str, number: int) -> dict[str, Any]:
    """What its variables must be at the end, what it was started with apart."""
    match process_id:
        case "order":
            return {"total": number * 2, "reserved": number, "paid": number * 2, "packed": number}
        case "family":
            results = [2 * (number + place) for place in range(3)]
            return {"results": results, "made": number + 1, "total": sum(results) + number + 1}
        case "child":
            return {"made": number + 1}
        case "talk":
            return {"noted": number}  # and its words, each once, in either order: see books.py
        case "echo":
            return {"echoes": 1, "listened": number}
        case _:
            raise AssertionError(process_id)
