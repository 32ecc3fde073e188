"""Times FEEL engines for Python that are installed beside it. Run by `peers`, in an environment of its own.

Reads {"expressions": [...], "context": {...}, "seconds": 0.1} from stdin, writes a list of figures to stdout. It uses
nothing but the standard library and the engines.
"""
# ruff: noqa: ANN401, BLE001, PLC0415 - what the engines give and raise is their own; each is loaded where it is timed
# pyright: basic, reportMissingImports=false

from __future__ import annotations

import json
import logging
import sys
import time
from collections.abc import Callable
from importlib import metadata
from typing import Any

Call = Callable[[], Any]
Prepare = Callable[[str], dict[str, Call]]


def best_us(call: Call, seconds: float) -> float:
    """The best of five times, in microseconds of the processor."""
    call()
    count, took = 1, 0.0
    while took < seconds / 5:
        count *= 2
        took = timed(call, count)
    return min(timed(call, count) for _ in range(5)) / count * 1e6


def timed(call: Call, count: int) -> float:
    """Seconds of so many calls."""
    begun = time.process_time()
    for _ in range(count):
        call()
    return time.process_time() - begun


def py_s_feel(context: dict[str, Any]) -> Prepare:
    """pySFeel: every evaluation reads the text; names are assigned by expressions, and dots are a part of them."""
    from pySFeel import SFeelParser

    parser = SFeelParser()
    for name, value in context.items():
        parser.sFeelParse(f"{name} <- {as_feel(value)}")
        for member, item in value.items() if isinstance(value, dict) else ():
            parser.sFeelParse(f"{name}.{member} <- {as_feel(item)}")

    def prepare(text: str) -> dict[str, Call]:
        def call() -> Any:
            _, value = parser.sFeelParse(text)
            return value

        return {"text": call}

    return prepare


def bkflow_feel(context: dict[str, Any]) -> Prepare:
    """bkflow-feel: the text is read once, or with every evaluation."""
    from bkflow_feel import parser, transformer
    from bkflow_feel.api import parse_expression

    logging.disable(logging.CRITICAL)

    def prepare(text: str) -> dict[str, Call]:
        read = transformer.transform(parser.parse(text))
        return {"text": lambda: parse_expression(text, context), "compiled": lambda: read.evaluate(context)}

    return prepare


def as_feel(value: Any) -> str:
    """A value as FEEL writes it."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{name}: {as_feel(item)}" for name, item in value.items()) + "}"
    return json.dumps(value)


def figures_of(engine: str, make: Callable[[dict[str, Any]], Prepare], asked: dict[str, Any]) -> list[dict[str, Any]]:
    """Every expression in one engine; what it cannot do is said, not left out."""
    figures: list[dict[str, Any]] = []
    for expression in asked["expressions"]:
        found = {"engine": engine, "version": metadata.version(engine), "expression": expression["name"]}
        try:
            ways = make(asked["context"])(expression["text"])
            for way, call in ways.items():
                check(call(), expression["expected"])
                figures.append({**found, "way": way, "us": best_us(call, asked["seconds"])})
        except Exception as error:
            note = f"{type(error).__name__}: {error}".splitlines()[0][:200]
            figures.append({**found, "way": "text", "note": note})
    return figures


def check(value: Any, expected: Any) -> None:
    """A wrong value is not timed."""
    if value != expected:
        message = f"gives {value!r} instead of {expected!r}"
        raise ValueError(message)


def main() -> None:
    """Time every expression with every engine."""
    asked = json.load(sys.stdin)
    figures = figures_of("pySFeel", py_s_feel, asked) + figures_of("bkflow-feel", bkflow_feel, asked)
    sys.stdout.write(json.dumps(figures))


if __name__ == "__main__":
    main()
