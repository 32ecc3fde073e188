"""What every reader of one resource shares: findings, expressions, vendor, what the file declares at its root."""

from __future__ import annotations

from dataclasses import dataclass, field

from procession.model.expressions import Expressions
from procession.model.problems import Findings
from procession.model.xml import Xml


@dataclass(slots=True)
class Declared:
    """Root elements that processes refer to, by id."""

    messages: dict[str, Xml] = field(default_factory=dict[str, Xml])
    signals: dict[str, Xml] = field(default_factory=dict[str, Xml])
    errors: dict[str, Xml] = field(default_factory=dict[str, Xml])
    escalations: dict[str, Xml] = field(default_factory=dict[str, Xml])
    event_definitions: dict[str, Xml] = field(default_factory=dict[str, Xml])
    associations: list[Xml] = field(default_factory=list[Xml])


@dataclass(slots=True)
class Reading:
    """The state of reading one resource."""

    findings: Findings
    expressions: Expressions
    zeebe: bool
    camunda: bool
    methods: frozenset[str] = frozenset()
    declared: Declared = field(default_factory=Declared)

    @property
    def lenient(self) -> bool:
        """Whether gaps are filled with defaults."""
        return self.findings.lenient


def lookup(table: dict[str, Xml], ref: str) -> Xml | None:
    """What a reference names. It may be a qualified name (``tns:order``)."""
    found = table.get(ref)
    return found if found is not None else table.get(ref.rpartition(":")[2])


def boolean(xml: Xml, name: str, findings: Findings, *, default: bool) -> bool:
    """A boolean attribute of XML Schema; anything else is a finding."""
    text = xml.get(name).strip()
    if not text:
        return default
    if text in {"true", "1"}:
        return True
    if text in {"false", "0"}:
        return False
    message = f"The attribute {name} must be true or false, not '{text}'"
    findings.error("INVALID_ATTRIBUTE", message, xml)
    return default


def integer(xml: Xml, name: str, findings: Findings, *, default: int) -> int:
    """A whole number; anything else is a finding."""
    text = xml.get(name).strip()
    if not text:
        return default
    try:
        return int(text)
    except ValueError:
        findings.error("INVALID_ATTRIBUTE", f"The attribute {name} must be a whole number, not '{text}'", xml)
        return default


def choice(xml: Xml, name: str, findings: Findings, allowed: tuple[str, ...]) -> str:
    """One of a few words, the first being the default; anything else is a finding."""
    text = xml.get(name).strip()
    if not text or text in allowed:
        return text or allowed[0]
    findings.error("INVALID_ATTRIBUTE", f"The attribute {name} must be one of {', '.join(allowed)}, not '{text}'", xml)
    return allowed[0]
