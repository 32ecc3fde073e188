"""Short ways to evaluate in tests. `text_of` writes a result as FEEL writes it: examples read as one language."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from procession import feel
from procession.feel.text import feel_text

NOW = datetime(2024, 5, 17, 12, 30, tzinfo=UTC)


def evaluate(text: str, context: dict[str, Any] | None = None, names: frozenset[str] = frozenset()) -> Any:
    """The value; the expression must evaluate without a warning."""
    value, warnings = evaluate_with_warnings(text, context, names)
    assert [str(warning) for warning in warnings] == []
    return value


def evaluate_with_warnings(
    text: str, context: dict[str, Any] | None = None, names: frozenset[str] = frozenset()
) -> tuple[Any, list[feel.FeelWarning]]:
    warnings: list[feel.FeelWarning] = []
    value = feel.compile(text, names).evaluate(context or {}, now=NOW, warnings=warnings)
    assert [warning for warning in warnings if warning.code == "internal"] == []
    return value, warnings


def text_of(text: str, context: dict[str, Any] | None = None) -> str:
    """The result as text: strings in quotes, temporal values as their ISO texts."""
    value = evaluate(text, context)
    return feel.to_json(value) if hasattr(value, "__struct_fields__") else feel_text(value)


def refusal(text: str, context: dict[str, Any] | None = None) -> str:
    """The first warning of an expression that must be null."""
    value, warnings = evaluate_with_warnings(text, context)
    assert value is None
    assert warnings, f"{text} is null without a warning"
    return warnings[0].message
