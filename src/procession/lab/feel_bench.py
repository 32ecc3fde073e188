"""`procession bench feel`: expressions and decision tables, compiled once and evaluated often. Processor time.

Each case is timed in every round, in alternating order; the best of the rounds is the figure, since whatever else runs
on the machine only ever adds. Other engines are timed in processes of their own (`feel_peers`), if asked for.
"""

from __future__ import annotations

import gc
import statistics
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import msgspec

from procession.dmn import DecisionModel, compile_resource
from procession.feel import compile as compile_feel
from procession.lab.bars import feel_bars
from procession.lab.environment import environment
from procession.lab.feel_peers import time_peers
from procession.lab.results import FeelCase, FeelResult

CONTEXT: Final[dict[str, Any]] = {"orderTotal": 1200, "customer": {"tier": "gold"}, "items": [3, 1, 2]}
# (name, text, value): what is compared with other engines is written so that all of them can read it
EXPRESSIONS: Final = (
    ("condition", 'orderTotal > 1000 and customer.tier in ["gold", "platinum"]', True),
    ("comparison", "orderTotal > 1000", True),
    ("arithmetic", "orderTotal * 2 + 5", 2405),
    ("function", 'list contains(["gold", "platinum"], customer.tier)', True),
)
OWN_EXPRESSIONS: Final = (
    ("choice", 'if orderTotal > 1000 then "free" else "paid"', "free"),
    ("filter and sum", "sum(items[item > 1])", 5),
    ("loop", "for item in items return item * 2", [6, 2, 4]),
)
RULES: Final = 20
INPUTS: Final = 4

Told = Callable[[int, int, str], None]  # (cases timed, cases in all, the one that follows)


class FeelOptions(msgspec.Struct, kw_only=True, frozen=True):
    """How long to measure, and with whom to compare."""

    rounds: int = 5
    seconds: float = 0.05  # of each case in each round
    peers: bool = False  # install other engines and time them too
    peers_folder: str = ""  # where they are kept for the next time; empty: a folder that goes with the run


class Case(msgspec.Struct, kw_only=True):
    """What is timed."""

    name: str
    group: str
    text: str
    call: Callable[[], object]


def bench_feel(options: FeelOptions, told: Told | None = None) -> FeelResult:
    """Time every case in every round. Ctrl-C ends it with what was timed so far."""
    shown = msgspec.to_builtins(options)
    del shown["peers_folder"]
    result = FeelResult(started_at=_now(), options=shown, environment=environment())
    cases = feel_cases()
    times: dict[str, list[float]] = {case.name: [] for case in cases}
    order = [case for number in range(options.rounds) for case in (cases if number % 2 == 0 else cases[::-1])]
    try:
        for position, case in enumerate(order):
            if told is not None:
                told(position, len(order), case.name)
            gc.collect()
            times[case.name].append(_time_once(case.call, options.seconds))
        if options.peers:
            if told is not None:
                told(len(order), len(order), "other engines")
            _compare(result, options)
    except KeyboardInterrupt:
        result.interrupted = True
    result.cases = [_found(case, times[case.name]) for case in cases if times[case.name]]
    result.ended_at = _now()
    result.bars = feel_bars(result.cases)
    return result


def feel_cases() -> list[Case]:
    """Every expression compiled and evaluated, the condition's compilation, and tables. Each is checked once."""
    cases: list[Case] = []
    for name, text, value in (*EXPRESSIONS, *OWN_EXPRESSIONS):
        compiled = compile_feel(text)
        found = compiled.evaluate(CONTEXT)
        assert found == value, f"'{text}' gives {found!r}: not what is measured"
        evaluate = compiled.evaluate
        cases.append(Case(name=name, group="evaluate", text=text, call=lambda evaluate=evaluate: evaluate(CONTEXT)))
    for name, text, _ in (*EXPRESSIONS, *OWN_EXPRESSIONS):
        cases.append(
            Case(name=f"{name}, compiled", group="compile", text=text, call=lambda text=text: compile_feel(text))
        )
    model = compile_resource(decision_table())
    for policy, matches in (("UNIQUE", 1), ("COLLECT", 7)):
        cases.append(_table_case(model, policy, matches))
    return cases


def _table_case(model: DecisionModel, policy: str, matches: int) -> Case:
    variables = (
        {"a": 10, "b": 150, "c": "x", "d": True} if policy == "UNIQUE" else {"a": 6, "b": 1, "c": "x", "d": True}
    )
    evaluation = model.evaluate(policy.lower(), variables)
    matched = len(evaluation.trace[0].tables[0].matched_rules)
    assert matched == matches, f"{policy}: {matched} rules match, not {matches}"
    return Case(
        name=f"a table of {RULES} rules and {INPUTS} inputs, {matches} of which match",
        group="table",
        text=policy,
        call=lambda: model.evaluate(policy.lower(), variables),
    )


def decision_table() -> bytes:
    """Two tables of the same size: of one only one rule matches, of the other seven."""
    unique = [(str(number), f"> {number}", '"x", "y"', "true") for number in range(1, RULES + 1)]
    collect = [(f">= {number}" if number < 7 else f"> {number}", "-", 'not("z")', "true") for number in range(RULES)]
    collect[6] = (">= 6", "-", '"x"', "true")
    tables = _table("unique", "UNIQUE", unique) + _table("collect", "COLLECT", collect)
    space = "https://www.omg.org/spec/DMN/20191111/MODEL/"
    return f'<definitions xmlns="{space}" id="bench" name="bench" namespace="bench">{tables}</definitions>'.encode()


def _table(identity: str, policy: str, rules: list[tuple[str, ...]]) -> str:
    columns = "".join(f"<input><inputExpression><text>{name}</text></inputExpression></input>" for name in "abcd")
    rows = "".join(
        "<rule>"
        + "".join(f"<inputEntry><text><![CDATA[{cell}]]></text></inputEntry>" for cell in cells)
        + f"<outputEntry><text>{number}</text></outputEntry></rule>"
        for number, cells in enumerate(rules)
    )
    return (
        f'<decision id="{identity}" name="{identity}"><variable name="{identity}"/>'
        f'<decisionTable hitPolicy="{policy}">{columns}<output name="result"/>{rows}</decisionTable></decision>'
    )


def _compare(result: FeelResult, options: FeelOptions) -> None:
    """Other engines, with the expressions that all can read."""
    asked = [{"name": name, "text": text, "expected": value} for name, text, value in EXPRESSIONS]
    context = {name: CONTEXT[name] for name in ("orderTotal", "customer")}
    if options.peers_folder:
        figures, notes = time_peers(asked, context, folder=Path(options.peers_folder), seconds=options.seconds)
    else:
        with tempfile.TemporaryDirectory(prefix="procession-peers-") as folder:
            figures, notes = time_peers(asked, context, folder=Path(folder), seconds=options.seconds)
    result.peers, result.notes = figures, notes


def _time_once(call: Callable[[], object], seconds: float) -> float:
    """Microseconds of the processor per call, over about so many seconds."""
    count, took = 1, 0.0
    while took < seconds:
        count *= 2
        begun = time.process_time()
        for _ in range(count):
            call()
        took = time.process_time() - begun
    return took / count * 1e6


def _found(case: Case, times: list[float]) -> FeelCase:
    """The rounds of one case as figures."""
    best = min(times)
    return FeelCase(
        name=case.name,
        group=case.group,
        text=case.text,
        best_us=round(best, 3),
        median_us=round(statistics.median(times), 3),
        worst_us=round(max(times), 3),
        per_s=round(1e6 / best, 1),
    )


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
