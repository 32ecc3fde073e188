"""Charts as inline SVG: values in, markup out. It knows no benchmark, loads nothing and needs no script.

Every mark says its values when pointed at or focused (`data-tip`, read by page/hover.js; `title` without scripts).
Colours are classes, so that the page's style sheet decides them for light and dark.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Final

import msgspec

WIDTH: Final = 920
ROW: Final = 30
LABEL_WIDTH: Final = 370
LINE_HEIGHT: Final = 320
LEFT, RIGHT, TOP, BOTTOM = 64, 24, 16, 40
TICKS: Final = 5


class Measured(msgspec.Struct, kw_only=True, frozen=True):
    """A value with its range; `tip` says it in words."""

    label: str
    value: float
    least: float
    most: float
    tip: str
    colour: int = 1


class Point(msgspec.Struct, kw_only=True, frozen=True):
    """A point of a line, with the range it lies in."""

    x: float
    value: float
    least: float
    most: float
    tip: str


class Series(msgspec.Struct, kw_only=True, frozen=True):
    """A line; its band is the range of its points."""

    label: str
    points: tuple[Point, ...]
    colour: int


def range_bars(items: Sequence[Measured], unit: str) -> str:
    """Horizontal bars from zero, each with a whisker over its range."""
    if not items:
        return ""
    height = ROW * len(items) + BOTTOM
    top = _nice(max(item.most for item in items))
    scale = (WIDTH - LABEL_WIDTH - 90) / top
    parts = [_grid_of_bars(top, scale, ROW * len(items))]
    for number, item in enumerate(items):
        parts.append(_bar(item, number * ROW, scale))
    return _svg(height, f"Bars in {unit}", parts)


def lines(series: Sequence[Series], x_unit: str, y_unit: str) -> str:
    """Lines over a common axis, each with the band of its range, and their names below."""
    points = [point for line in series for point in line.points]
    if not points:
        return ""
    right = max(point.x for point in points)
    top = _nice(max(point.most for point in points))
    x_scale = (WIDTH - LEFT - RIGHT) / (right or 1)
    y_scale = (LINE_HEIGHT - TOP - BOTTOM) / top

    def place(x: float, y: float) -> tuple[float, float]:
        return LEFT + x * x_scale, LINE_HEIGHT - BOTTOM - y * y_scale

    parts = [_axes(top, right, y_scale, x_scale, f"{x_unit}", y_unit)]
    for line in series:
        upper = [place(point.x, point.most) for point in line.points]
        lower = [place(point.x, point.least) for point in reversed(line.points)]
        middle = [place(point.x, point.value) for point in line.points]
        parts.append(f'<polygon class="band c{line.colour}" points="{_joined([*upper, *lower])}"/>')
        parts.append(f'<polyline class="line c{line.colour}" points="{_joined(middle)}"/>')
        for point, (x, y) in zip(line.points, middle, strict=True):
            parts.append(_mark(f'<circle class="dot c{line.colour}" cx="{x:.1f}" cy="{y:.1f}" r="4"', point.tip))
    legend = "".join(f'<span><i class="swatch c{line.colour}"></i>{escape(line.label)}</span>' for line in series)
    return _svg(LINE_HEIGHT, f"{y_unit} over {x_unit}", parts) + f'<p class="legend">{legend}</p>'


def _bar(item: Measured, y: float, scale: float) -> str:
    """One bar with its label, whisker and value."""
    middle = y + ROW / 2
    end, least, most = (LABEL_WIDTH + value * scale for value in (item.value, item.least, item.most))
    bar = f'<rect class="bar c{item.colour}" x="{LABEL_WIDTH}" y="{y + 6}" width="{end - LABEL_WIDTH:.1f}" height="18"'
    whisker = "whisker" if least < most else "whisker none"
    return (
        f'<text class="label" x="{LABEL_WIDTH - 10}" y="{middle + 4}" text-anchor="end">{escape(item.label)}</text>'
        + _mark(bar, item.tip)
        + f'<path class="{whisker}" d="M{least:.1f} {middle}H{most:.1f}M{least:.1f} {middle - 4}v8'
        + f'M{most:.1f} {middle - 4}v8"/>'
        + f'<text class="value" x="{max(end, most) + 8:.1f}" y="{middle + 4}">{number(item.value)}</text>'
    )


def _grid_of_bars(top: float, scale: float, height: float) -> str:
    parts: list[str] = []
    for step in range(TICKS + 1):
        value = top * step / TICKS
        x = LABEL_WIDTH + value * scale
        parts.append(f'<path class="grid" d="M{x:.1f} 0V{height}"/>')
        parts.append(f'<text class="tick" x="{x:.1f}" y="{height + 18}" text-anchor="middle">{number(value)}</text>')
    return "".join(parts)


def _axes(top: float, right: float, y_scale: float, x_scale: float, x_unit: str, y_unit: str) -> str:
    bottom = LINE_HEIGHT - BOTTOM
    parts = [f'<text class="tick" x="{LEFT}" y="10">{escape(y_unit)}</text>']
    for step in range(TICKS + 1):
        value = top * step / TICKS
        y = bottom - value * y_scale
        parts.append(f'<path class="grid" d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}"/>')
        parts.append(f'<text class="tick" x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{number(value)}</text>')
        across = right * step / TICKS
        x = LEFT + across * x_scale
        parts.append(f'<text class="tick" x="{x:.1f}" y="{bottom + 18}" text-anchor="middle">{number(across)}</text>')
    parts.append(f'<text class="tick" x="{WIDTH - RIGHT}" y="{bottom + 34}" text-anchor="end">{escape(x_unit)}</text>')
    return "".join(parts)


def _mark(opening: str, tip: str) -> str:
    """A mark that says its values."""
    text = escape(tip, quote=True)
    return f'{opening} data-tip="{text}" tabindex="0"><title>{text}</title></{opening[1:].split(" ", 1)[0]}>'


def _svg(height: float, words: str, parts: Sequence[str]) -> str:
    return (
        f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{escape(words, quote=True)}">'
        + "".join(parts)
        + "</svg>"
    )


def _joined(points: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in points)


def _nice(value: float) -> float:
    """The next larger 1, 1.5, 2, 3, 5 or 8 times a power of ten: an axis that people can read."""
    power = 1.0
    while power * 10 <= value:
        power *= 10
    while power > value > 0:
        power /= 10
    return next((power * step for step in (1, 1.5, 2, 3, 5, 8) if power * step >= value), power * 10)


def number(value: float) -> str:
    """For people: thousands separated, three digits that count."""
    if value >= 100 or value == int(value):
        return f"{value:,.0f}"
    return f"{value:,.1f}" if value >= 10 else f"{value:,.2f}"
