"""Small models of decisions for tests, written as XML the way modelers do, from a few words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from procession.dmn import DecisionModel, Evaluation, compile_resource

NAMESPACE = "https://www.omg.org/spec/DMN/20191111/MODEL/"


def definitions(*content: str, namespace: str = "test", attributes: str = "") -> bytes:
    return (
        f'<definitions xmlns="{NAMESPACE}" id="model" name="Model" namespace="{namespace}" {attributes}>\n'
        + "\n".join(content)
        + "\n</definitions>"
    ).encode()


def compiled(*content: str, **options: Any) -> DecisionModel:
    return compile_resource(definitions(*content), **options)


def literal(text: str, kind: str = "") -> str:
    return f"<literalExpression{type_ref(kind)}><text>{escape(text)}</text></literalExpression>"


def type_ref(kind: str) -> str:
    return f" typeRef={quoteattr(kind)}" if kind else ""


def decision(name: str, logic: str, *, kind: str = "", needs: Sequence[str] = (), knows: Sequence[str] = ()) -> str:
    """A decision whose id is its name; `needs` are ids of decisions, or of inputs with a ``?`` in front."""
    required = "".join(
        f'<informationRequirement><requiredInput href="#{need[1:]}"/></informationRequirement>'
        if need.startswith("?")
        else f'<informationRequirement><requiredDecision href="#{need}"/></informationRequirement>'
        for need in needs
    )
    required += "".join(f'<knowledgeRequirement><requiredKnowledge href="#{k}"/></knowledgeRequirement>' for k in knows)
    variable = f"<variable name={quoteattr(name)}{type_ref(kind)}/>"
    return f"<decision id={quoteattr(name)} name={quoteattr(name)}>{variable}{required}{logic}</decision>"


def input_data(name: str, kind: str = "") -> str:
    variable = f"<variable name={quoteattr(name)}{type_ref(kind)}/>"
    return f"<inputData id={quoteattr(name)} name={quoteattr(name)}>{variable}</inputData>"


def knowledge(name: str, parameters: dict[str, str], body: str, *, knows: Sequence[str] = (), kind: str = "") -> str:
    formal = "".join(f"<formalParameter name={quoteattr(p)}{type_ref(t)}/>" for p, t in parameters.items())
    required = "".join(f'<knowledgeRequirement><requiredKnowledge href="#{k}"/></knowledgeRequirement>' for k in knows)
    return (
        f"<businessKnowledgeModel id={quoteattr(name)} name={quoteattr(name)}>"
        f"<variable name={quoteattr(name)}{type_ref(kind)}/><encapsulatedLogic>{formal}{body}</encapsulatedLogic>"
        f"{required}</businessKnowledgeModel>"
    )


def item(
    name: str, kind: str = "", *, allowed: str = "", constraint: str = "", many: bool = False, parts: str = ""
) -> str:
    values = f"<allowedValues><text>{escape(allowed)}</text></allowedValues>" if allowed else ""
    values += f"<typeConstraint><text>{escape(constraint)}</text></typeConstraint>" if constraint else ""
    reference = f"<typeRef>{kind}</typeRef>" if kind else ""
    return (
        f'<itemDefinition name="{name}" isCollection="{str(many).lower()}">{reference}{values}{parts}</itemDefinition>'
    )


def component(name: str, kind: str, allowed: str = "") -> str:
    values = f"<allowedValues><text>{escape(allowed)}</text></allowedValues>" if allowed else ""
    return f"<itemComponent name={quoteattr(name)}><typeRef>{kind}</typeRef>{values}</itemComponent>"


def table(
    inputs: Sequence[str],
    outputs: Sequence[str],
    *rules: Sequence[str],
    policy: str = "UNIQUE",
    aggregation: str = "",
    input_values: Sequence[str] = (),
    output_values: Sequence[str] = (),
    defaults: Sequence[str] = (),
    kinds: Sequence[str] = (),
) -> str:
    """A decision table; a rule is its input entries followed by its output entries."""
    columns = "".join(
        f"<input id='i{n}'><inputExpression><text>{escape(text)}</text></inputExpression>"
        + _values("inputValues", input_values, n)
        + "</input>"
        for n, text in enumerate(inputs)
    )
    columns += "".join(
        f"<output id='o{n}' name={quoteattr(name)}{type_ref(kinds[n] if n < len(kinds) else '')}>"
        + _values("outputValues", output_values, n)
        + _values("defaultOutputEntry", defaults, n)
        + "</output>"
        for n, name in enumerate(outputs)
    )
    rows = "".join(_rule(number, rule, len(inputs)) for number, rule in enumerate(rules, 1))
    extra = f" aggregation={quoteattr(aggregation)}" if aggregation else ""
    return f"<decisionTable id='table' hitPolicy={quoteattr(policy)}{extra}>{columns}{rows}</decisionTable>"


def _values(tag: str, texts: Sequence[str], column: int) -> str:
    if column >= len(texts) or not texts[column]:
        return ""
    return f"<{tag}><text>{escape(texts[column])}</text></{tag}>"


def _rule(number: int, cells: Sequence[str], inputs: int) -> str:
    entries = "".join(f"<inputEntry><text>{escape(cell)}</text></inputEntry>" for cell in cells[:inputs])
    entries += "".join(f"<outputEntry><text>{escape(cell)}</text></outputEntry>" for cell in cells[inputs:])
    return f"<rule id='r{number}'>{entries}</rule>"


def evaluate(logic: str, context: dict[str, Any] | None = None, *more: str, **options: Any) -> Evaluation:
    """The evaluation of one decision with this logic."""
    model = compiled(*more, decision("it", logic, **options))
    return model.evaluate("it", context or {})


def messages(evaluation: Evaluation) -> list[str]:
    return [warning.message for warning in evaluation.warnings]
