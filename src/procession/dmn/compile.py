"""A resource's bytes to a compiled model of decisions, or to everything that is wrong with them.

The walk: parse the XML, find the imports, read the types, make the functions, compile the decisions in the order of
their requirements. Every step adds to one list of findings; there is a model only if that list is free of errors.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from procession.dmn.boxed import compile_boxed, compile_function, find_logic
from procession.dmn.build import Build, nothing
from procession.dmn.graph import (
    Decision,
    InputData,
    Knowledge,
    Logic,
    RequiredDecision,
    RequiredInput,
    Service,
    put,
)
from procession.dmn.items import member_names, read_items, share_types
from procession.dmn.model import DecisionModel, Imports
from procession.dmn.requirements import Elements, Target, element_id, variable_name
from procession.dmn.run import Variables
from procession.dmn.table_reader import table_shape
from procession.dmn.types import Types
from procession.errors import InvalidModel
from procession.feel import Function
from procession.model.definition import Problem
from procession.model.problems import Findings
from procession.model.xml import Xml, parse

_CONTENT = ("decision", "decisionService", "businessKnowledgeModel", "inputData", "itemDefinition")


def compile_resource(content: bytes, *, name: str = "", imports: Iterable[DecisionModel] = ()) -> DecisionModel:
    """Compile a DMN file (1.1 to 1.5). `imports` are the models that it may import, found by their namespace.

    Raises InvalidModel with every error at once.
    """
    return _compile_or_refuse(content, name, imports, frozenset())


def _compile_or_refuse(
    content: bytes, name: str, imports: Iterable[DecisionModel], circle: frozenset[str]
) -> DecisionModel:
    findings = Findings()
    model = _compile(content, name, imports, findings, circle)
    if model is None or findings.has_errors:
        raise InvalidModel(findings.errors(), name=name)
    return model


def lint_resource(content: bytes, *, imports: Iterable[DecisionModel] = ()) -> list[Problem]:
    """Everything that is wrong with a file or worth a remark, by line. Never raises for a bad model."""
    findings = Findings()
    _compile(content, "", imports, findings, frozenset())
    return list(findings.all())


def compile_resources(
    contents: Mapping[str, bytes], *, imports: Iterable[DecisionModel] = ()
) -> dict[str, DecisionModel]:
    """Compile files that may import each other, by their names. Raises InvalidModel of the first that is not valid."""
    known = list(imports)
    waiting = {name: (_imported(content), _namespace(content)) for name, content in contents.items()}
    compiled: dict[str, DecisionModel] = {}
    while waiting:
        missing = {namespace for _, namespace in waiting.values()}
        ready = [name for name, (wanted, own) in waiting.items() if not wanted & (missing - {own})]
        name = ready[0] if ready else next(iter(waiting))
        circle = frozenset[str]() if ready else frozenset(missing)
        compiled[name] = _compile_or_refuse(contents[name], name, known, circle)
        known.append(compiled[name])
        del waiting[name]
    return {name: compiled[name] for name in contents}


def _imported(content: bytes) -> set[str]:
    root, _ = parse(content)
    return set() if root is None else {element.get("namespace") for element in root.every("import")}


def _namespace(content: bytes) -> str:
    root, _ = parse(content)
    return "" if root is None else root.get("namespace")


def _compile(
    content: bytes,
    resource_name: str,
    imports: Iterable[DecisionModel],
    findings: Findings,
    circle: frozenset[str],
) -> DecisionModel | None:
    root, problems = parse(content)
    for problem in problems:
        findings.add(problem)
    if root is None:
        return None
    if root.name != "definitions" or not any(child.name in _CONTENT for child in root.children):
        findings.error("NO_DECISIONS", "The resource holds no decisions: it is not a DMN file", root)
        return None
    try:
        return _Compilation(root, _found_imports(root, imports, findings, circle), findings).model(resource_name)
    except RecursionError:
        findings.error("MODEL_TOO_DEEP", "The model's expressions are nested too deeply", root)
        return None


def _found_imports(root: Xml, known: Iterable[DecisionModel], findings: Findings, circle: frozenset[str]) -> Imports:
    """The imported models by the names of the imports. `circle`: namespaces of files that wait for each other."""
    models: dict[str, list[DecisionModel]] = {}
    for model in known:
        models.setdefault(model.namespace, []).append(model)
    found: list[tuple[str, DecisionModel]] = []
    for element in root.every("import"):
        name, namespace = " ".join(element.get("name").split()), element.get("namespace")
        if "DMN" not in element.get("importType").upper():
            message = f"An import of the type '{element.get('importType')}' is not read"
            findings.warning("FOREIGN_IMPORT", message, element)
        elif namespace in circle or namespace == root.get("namespace"):
            message = f"The model with the namespace '{namespace}' imports this one in turn, or is this one"
            findings.error("IMPORT_CYCLE", message, element, "Move what both need to a model of its own")
        elif len(models.get(namespace, ())) > 1:
            names = ", ".join(f"'{model.resource_name or model.name}'" for model in models[namespace])
            message = f"Several models have the namespace '{namespace}' that is imported: {names}"
            findings.error("AMBIGUOUS_IMPORT", message, element, "Give each model a namespace of its own")
        elif namespace not in models:
            message = f"The model with the namespace '{namespace}' is imported, but it was not given"
            findings.error("MISSING_IMPORT", message, element, "Deploy the imported file before, or with this one")
        elif name and any(name == other for other, _ in found):
            findings.error("NAME_TWICE", f"There are two imports with the name '{name}'", element)
        else:
            found.append((name, models[namespace][0]))
    return tuple(found)


class _Compilation:
    """One resource on its way to a model."""

    def __init__(self, root: Xml, imports: Imports, findings: Findings) -> None:
        self.root = root
        self.imports = imports
        self.findings = findings
        types = Types()
        for prefix, model in imports:
            share_types(types, prefix, model.types)
        members = member_names(root).union(*(model.members for _, model in imports))
        self.build = Build(findings, types, members, root.get("expressionLanguage"))
        self.elements = Elements(root, imports, findings)
        self.inputs: dict[str, InputData] = {}
        self.knowledge: dict[str, Knowledge] = {}
        self.services: dict[str, Service] = {}
        self.decisions: dict[str, Decision] = {}

    def model(self, resource_name: str) -> DecisionModel:
        read_items(self.build, self.root)
        for element in self.elements.of_kind("inputData"):
            self.inputs[element_id(element)] = self._input(element)
        for element in self.elements.of_kind("decisionService"):
            self.services[element_id(element)] = self._service(element)
        self._fill_knowledge()
        for element in self.elements.decisions_in_order():
            self.decisions[element_id(element)] = self._decision(element)
        for identity, service in self.services.items():
            self._fill_service(service, self.elements.by_id[identity])
        return DecisionModel(
            id=self.root.id or self.root.get("name"),
            name=self.root.get("name") or self.root.id,
            namespace=self.root.get("namespace"),
            resource_name=resource_name,
            types=self.build.types,
            members=self.build.members,
            imports=self.imports,
            inputs=self.inputs,
            knowledge=self.knowledge,
            services=self.services,
            decisions={element_id(e): self.decisions[element_id(e)] for e in self.elements.of_kind("decision")},
            problems=self.findings.all(),
        )

    def _input(self, element: Xml) -> InputData:
        variable = element.first("variable")
        node = self.build.type(variable)
        coercion = self.build.types.coercion(node)
        return InputData(element_id(element), variable_name(element), self.build.place(element), node, coercion)

    def _service(self, element: Xml) -> Service:
        variable = element.first("variable")
        coercion = self.build.types.coercion(self.build.types.result_of(self.build.type(variable)))
        return Service(
            element_id(element),
            " ".join(element.get("name").split()),
            variable_name(element),
            self.build.place(element),
            self._parameters(element),
            coercion,
        )

    def _parameters(self, element: Xml) -> tuple[str, ...]:
        """The names of what a service takes, in the order of positional arguments: input data, then decisions."""
        names: list[str] = []
        for reference, kind in (("inputData", "inputData"), ("inputDecision", "decision")):
            for _, target in self.elements.targets(element, "", reference, kind):
                if target.model is None:
                    names.append(variable_name(self.elements.by_id[target.id]))
                elif kind == "inputData":
                    names.append(target.model.inputs[target.id].name)
                else:
                    names.append(target.model.decisions[target.id].variable)
        return tuple(names)

    def _fill_service(self, service: Service, element: Xml) -> None:
        targets = self.elements.targets
        service.inputs = tuple(self._required_input(t) for _, t in targets(element, "", "inputData", "inputData"))
        service.decisions = tuple(
            self._required_decision(target) for _, target in targets(element, "", "inputDecision", "decision")
        )
        service.outputs = tuple(
            self._required_decision(target) for _, target in targets(element, "", "outputDecision", "decision")
        )
        for _ in targets(element, "", "encapsulatedDecision", "decision"):
            pass  # it is evaluated where an output requires it; here it only has to exist
        if not service.outputs:
            self.findings.error("NO_OUTPUT", "The decision service has no output decision", element)

    def _fill_knowledge(self) -> None:
        """Functions may call each other in circles, so all of them see scopes that are filled at the end."""
        scopes: dict[str, Variables] = {}
        for element in self.elements.of_kind("businessKnowledgeModel"):
            identity, variable = element_id(element), element.first("variable")
            scope = scopes[identity] = Variables()
            names = self._required_names(element) | {variable_name(element)}
            logic = element.first("encapsulatedLogic") or element.first("functionDefinition")
            node = self.build.types.result_of(self.build.type(variable))
            name = " ".join(element.get("name").split())
            if logic is None:
                self.findings.warning("NO_LOGIC", f"The business knowledge model '{name}' has no logic", element)
                logic = Xml("encapsulatedLogic", "", element.line, element)
            make = compile_function(self.build, logic, names, name, self.build.types.coercion(node))
            self.knowledge[identity] = Knowledge(identity, name, variable_name(element), make(scope))
        for identity, scope in scopes.items():
            own = self.knowledge[identity]
            scope[own.variable] = own.function
            scope.update(self._required_functions(self.elements.by_id[identity]))

    def _required_names(self, element: Xml) -> frozenset[str]:
        """The names that an element's requirements bring into scope; an imported model brings that of its import."""
        names = {name for name, _ in self.imports if name}
        for _, target in self._knowledge_targets(element):
            if not target.prefix and target.model is None:
                names.add(variable_name(self.elements.by_id[target.id]))
            elif target.model is not None:
                names.add(_function_of(target.model.knowledge, target.model.services, target.id)[0])
        return frozenset(names)

    def _knowledge_targets(self, element: Xml) -> list[tuple[str, Target]]:
        kinds = ("businessKnowledgeModel", "decisionService")
        return list(self.elements.targets(element, "knowledgeRequirement", "requiredKnowledge", *kinds))

    def _required_functions(self, element: Xml) -> Variables:
        functions: Variables = {}
        for _, target in self._knowledge_targets(element):
            model = target.model
            knowledge, services = (
                (self.knowledge, self.services) if model is None else (model.knowledge, model.services)
            )
            name, function = _function_of(knowledge, services, target.id)
            put(functions, target.prefix, name, function)
        return functions

    def _decision(self, element: Xml) -> Decision:
        inputs, requires = self._requirements(element)
        knowledge = self._required_functions(element)
        names = self._required_names(element)
        names |= {need.input.name for need in inputs if not need.prefix}
        names |= {need.decision.variable for need in requires if not need.prefix}
        names |= {alias for need in requires for alias in need.aliases}
        return Decision(
            element_id(element),
            " ".join(element.get("name").split()) or element.id,
            variable_name(element),
            self.build.place(element),
            inputs,
            requires,
            knowledge,
            self._logic(element, names),
        )

    def _requirements(self, element: Xml) -> tuple[tuple[RequiredInput, ...], tuple[RequiredDecision, ...]]:
        targets, kinds = self.elements.targets, ("inputData", "decision")
        inputs: list[RequiredInput] = []
        requires: list[RequiredDecision] = []
        for reference in ("requiredInput", "requiredDecision"):
            for kind, target in targets(element, "informationRequirement", reference, *kinds):
                if kind == "inputData":
                    inputs.append(self._required_input(target))
                elif target.model is not None or target.id in self.decisions:  # one that closes a circle is left out
                    requires.append(self._required_decision(target))
        return tuple(inputs), tuple(requires)

    def _required_input(self, target: Target) -> RequiredInput:
        inputs = self.inputs if target.model is None else target.model.inputs
        return RequiredInput(target.prefix, inputs[target.id])

    def _required_decision(self, target: Target) -> RequiredDecision:
        decisions = self.decisions if target.model is None else target.model.decisions
        decision = decisions[target.id]
        return RequiredDecision(target.prefix, decision, () if target.prefix else _aliases(decision))

    def _logic(self, element: Xml, names: frozenset[str]) -> Logic:
        coercion, logic = self.build.coercion(element.first("variable")), find_logic(element)
        if logic is None:
            message = f"The decision '{element.get('name')}' has no logic; its value is null"
            self.findings.warning("NO_LOGIC", message, element)
            return Logic("none", nothing, coercion)
        boxed = compile_boxed(self.build, logic, names)
        if logic.name != "decisionTable":
            return Logic("expression", boxed, coercion)
        return Logic("decision table", boxed, coercion, *table_shape(logic))


def _aliases(decision: Decision) -> tuple[str, ...]:
    """Camunda's modelers call a required decision's value by its id, and its outputs by their names."""
    names = dict.fromkeys((decision.id, decision.name, *decision.logic.outputs))
    names.pop(decision.variable, None)
    return tuple(name for name in names if name)


def _function_of(
    knowledge: Mapping[str, Knowledge], services: Mapping[str, Service], identity: str
) -> tuple[str, Function]:
    found = knowledge.get(identity)
    if found is not None:
        return found.variable, found.function
    service = services[identity]
    return service.variable, service.function()
