"""From files to the rows of a deployment: compiled first, so that nothing is stored unless all of it is sound."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Sequence

from procession.engine.deploy_decisions import DeployedFile, decision_resources, is_dmn
from procession.engine.deploy_forms import form_resource, is_form
from procession.engine.start_timers import start_timers
from procession.errors import InvalidModel, InvalidValue
from procession.ids import Keys
from procession.limits import RESOURCE_BYTES_MAX
from procession.model import compile_resource
from procession.model.definition import Definition, Trigger, Work
from procession.model.expressions import Static
from procession.store.rows import Deployment, NewDefinition, NewResource, NewStartSubscription

SUBSCRIBED = frozenset({Trigger.MESSAGE, Trigger.SIGNAL})


def build_deployment(
    resources: Sequence[tuple[str, bytes]],
    keys: Keys,
    now: int,
    *,
    tenant: str = "",
    methods: Collection[str] = (),
    imported: Sequence[DeployedFile] = (),
) -> Deployment:
    """The request to store these files (name, content) together.

    ``methods`` are the ids of bare tasks that the application binds to functions; ``imported`` are deployed DMN files
    that the new ones import.
    Raises InvalidModel with every problem of every file.
    """
    rows: list[NewResource] = []
    refused: list[InvalidModel] = []
    decisions: list[tuple[str, bytes]] = []
    for name, content in resources:
        try:
            _check_size(name, content)
            if is_dmn(name, content):
                decisions.append((name, content))
            elif is_form(name):
                rows.append(form_resource(name, content, keys))
            else:
                rows.append(_resource(name, content, keys, now, methods))
        except InvalidModel as error:
            refused.append(error)
    found, wrong = decision_resources(decisions, keys, imported)
    if not wrong:
        refused += _without_decision(resources, {each.decision_id for row in found for each in row.decisions}, methods)
    rows, refused = [*rows, *found], [*refused, *wrong, *_twice(rows)]
    if len(refused) == 1:
        raise refused[0]
    if refused:
        raise InvalidModel([f"{error.name}: {problem}" for error in refused for problem in error.problems])
    return Deployment(key=keys.take(), resources=rows, tenant=tenant)


def _without_decision(
    resources: Sequence[tuple[str, bytes]], decisions: Collection[str], methods: Collection[str]
) -> list[InvalidModel]:
    """Tasks that ask for the decision of their own deployment, which has none of that id: they could never go on."""
    wrong: list[InvalidModel] = []
    for name, content in resources:
        if b"deployment" not in content or is_dmn(name, content) or is_form(name):
            continue
        try:
            definitions = compile_resource(content, name=name, methods=methods).definitions
        except InvalidModel:
            continue  # told already
        problems = [
            f"line {element.line}, element '{element.id}': expected the decision '{spec.decision_id.value}' in this "
            f"deployment, because the binding is deployment, found none: deploy its file too, or bind to the latest"
            for definition in definitions
            for element in definition.elements
            if (spec := element.decision) is not None
            and spec.binding == "deployment"
            and isinstance(spec.decision_id, Static)
            and spec.decision_id.value not in decisions
        ]
        if problems:
            wrong.append(InvalidModel(problems, name=name))
    return wrong


def _twice(rows: Sequence[NewResource]) -> list[InvalidModel]:
    """Forms whose id another file of the deployment has too: nobody could say which is meant."""
    seen: dict[str, str] = {}
    wrong: list[InvalidModel] = []
    for row in rows:
        for form in row.forms:
            if form.form_id in seen:
                problem = f"form '{form.form_id}' stands in '{seen[form.form_id]}' too: give one of them another id"
                wrong.append(InvalidModel([problem], name=row.name))
            seen[form.form_id] = row.name
    return wrong


def _check_size(name: str, content: bytes) -> None:
    """Raise InvalidModel for a file that is too large to be read."""
    if len(content) > RESOURCE_BYTES_MAX:
        problem = f"expected at most {RESOURCE_BYTES_MAX} bytes (RESOURCE_BYTES_MAX), found {len(content)}"
        raise InvalidModel([problem], name=name)


def _resource(name: str, content: bytes, keys: Keys, now: int, methods: Collection[str]) -> NewResource:
    """One BPMN file with what it defines."""
    compiled = compile_resource(content, name=name, methods=methods)
    return NewResource(
        key=keys.take(),
        name=name,
        kind="bpmn",
        content=content,
        checksum=hashlib.sha256(content).hexdigest(),
        definitions=[
            _definition(definition, keys.take(), now, methods, name)
            for definition in compiled.definitions
            if definition.is_executable
        ],
    )


def _definition(definition: Definition, key: int, now: int, methods: Collection[str], file: str) -> NewDefinition:
    """One process with its start events' subscriptions and timers."""
    try:
        timers = start_timers(definition, key, now)
    except InvalidValue as error:
        raise InvalidModel([f"process '{definition.process_id}': {error}"], name=file) from error
    bound = {element.id for element in definition.elements if element.work == Work.METHOD} & set(methods)
    return NewDefinition(
        key=key,
        process_id=definition.process_id,
        name=definition.name,
        version_tag=definition.version_tag,
        elements=[element.id for element in definition.elements],
        methods=sorted(bound),
        start_subscriptions=_subscriptions(definition, file),
        start_timers=timers,
    )


def _subscriptions(definition: Definition, file: str) -> list[NewStartSubscription]:
    """What the start events wait for by name. Raises InvalidModel where a name is no text."""
    made: list[NewStartSubscription] = []
    for index in definition.start_events:
        element = definition.elements[index]
        for event in element.events:
            if event.trigger not in SUBSCRIBED:
                continue
            name = event.name.evaluate({}) if event.name is not None else None
            if not isinstance(name, str) or not name:
                what = f"the name of the {event.trigger.name.lower()}"
                problem = f"line {element.line}, element '{element.id}': expected {what} to be a text, found {name!r}"
                raise InvalidModel([problem], name=file)
            made.append(NewStartSubscription(element=element.id, trigger=event.trigger, name=name))
    return made
