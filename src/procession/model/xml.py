"""Bytes to a small tree of our own, safely: no entities, no DTD, no network, bounded in size, depth and count.

The tree holds what a process needs: names without prefixes, the namespace reduced to a word, attributes, text, lines.
Diagrams (shapes, edges, labels) are left out. Nothing here knows what an element means.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, Protocol, cast

from lxml import etree

from procession.limits import RESOURCE_BYTES_MAX, XML_DEPTH_MAX, XML_ELEMENTS_MAX
from procession.model.definition import Problem

MODEL: Final = ""  # the namespace of BPMN itself
ZEEBE: Final = "zeebe"
CAMUNDA: Final = "camunda"  # Camunda 7 and its relatives; they share names and meanings
BPMN_URI: Final = "http://www.omg.org/spec/BPMN/20100524/MODEL"

_VENDORS: Final = {
    "http://camunda.org/schema/zeebe/1.0": ZEEBE,
    "http://camunda.org/schema/1.0/bpmn": CAMUNDA,
    "http://camunda.org/schema/1.0/dmn": CAMUNDA,
    "http://activiti.com/modeler": "other",
    "http://www.activiti.org/bpmn2.0": CAMUNDA,
    "http://activiti.org/bpmn": CAMUNDA,
    "http://flowable.org/bpmn": CAMUNDA,
    "http://operaton.org/schema/1.0/bpmn": CAMUNDA,
    "http://camunda.org/schema/modeler/1.0": "modeler",
    "http://www.w3.org/2001/XMLSchema-instance": "xsi",
}
# Elements whose children people see as shapes or name by their id; what is deeper is a part of one of those.
_CONTAINERS: Final = frozenset(
    {"definitions", "collaboration", "process", "subProcess", "transaction", "adHocSubProcess"}
)
_PROLOG: Final = re.compile(rb"\s*(?:(?:<\?.*?\?>|<!--.*?-->)\s*)*<!DOCTYPE\b", re.DOTALL)
_BYTE_ORDER_MARKS: Final = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")


class Xml:
    """An element of the resource. Attributes of foreign vendors are keyed ``vendor:name``, BPMN's own by their name."""

    __slots__ = ("attributes", "children", "line", "name", "parent", "space", "text")

    def __init__(self, name: str, space: str, line: int, parent: Xml | None) -> None:
        self.name = name
        self.space = space
        self.line = line
        self.parent = parent
        self.attributes: dict[str, str] = {}
        self.children: list[Xml] = []
        self.text = ""

    def get(self, name: str, default: str = "") -> str:
        """An attribute's value."""
        return self.attributes.get(name, default)

    @property
    def id(self) -> str:
        """The element's id, or nothing."""
        return self.attributes.get("id", "")

    def first(self, name: str, space: str = MODEL) -> Xml | None:
        """The first child with this name."""
        for child in self.children:
            if child.name == name and child.space == space:
                return child
        return None

    def every(self, name: str, space: str = MODEL) -> Iterator[Xml]:
        """The children with this name."""
        for child in self.children:
            if child.name == name and child.space == space:
                yield child

    def extension(self, name: str, space: str) -> Xml | None:
        """The first extension element with this name."""
        for child in self.extensions():
            if child.name == name and child.space == space:
                return child
        return None

    def extensions(self) -> Iterator[Xml]:
        """Every extension element."""
        for child in self.children:
            if child.name == "extensionElements":
                yield from child.children

    def owner_id(self) -> str:
        """The id that people know: of the flow node, flow or root element that this is or is a part of."""
        node: Xml | None = self
        nearest = ""
        while node is not None:
            nearest = nearest or node.id
            if node.id and (node.parent is None or node.parent.name in _CONTAINERS):
                return node.id
            node = node.parent
        return nearest

    def walk(self) -> Iterator[Xml]:
        """This element and everything within, in document order."""
        stack: list[Xml] = [self]
        while stack:
            node = stack.pop()
            yield node
            stack.extend(reversed(node.children))


def parse(content: bytes) -> tuple[Xml | None, list[Problem]]:
    """The root of a resource and what is wrong with it as XML. Without a root there is at least one error."""
    refused = _refuse_early(content)
    if refused is not None:
        return None, [refused]
    parser = _parser(recover=False)
    try:
        return _tree(content, parser)
    except etree.XMLSyntaxError as problem:
        # The exception's own log holds errors of other files too; the parser's is that of this file.
        undeclared = _only_undeclared_prefixes(cast("Sequence[_LogEntry]", parser.error_log))
        if undeclared is None:
            return None, [_syntax_problem(problem)]
    root, problems = _tree(content, _parser(recover=True))  # the text is whole, only prefixes lack a declaration
    return root, [undeclared, *problems]


def _refuse_early(content: bytes) -> Problem | None:
    if len(content) > RESOURCE_BYTES_MAX:
        message = f"The resource has {len(content)} bytes; RESOURCE_BYTES_MAX allows {RESOURCE_BYTES_MAX}"
        return _problem("RESOURCE_TOO_LARGE", message, 1, suggestion="Split the model into several files")
    if not content.strip(b" \t\r\n\x00"):
        return _problem("EMPTY_RESOURCE", "The resource is empty", 1)
    start = next((content[len(mark) :] for mark in _BYTE_ORDER_MARKS if content.startswith(mark)), content)
    if _PROLOG.match(start.replace(b"\x00", b"")):  # without NULs, UTF-16 reads like ASCII here
        return _doctype_problem()
    return None


def _doctype_problem() -> Problem:
    message = "The resource has a DOCTYPE declaration; document types and entities are not allowed in a model"
    return _problem("DOCTYPE_NOT_ALLOWED", message, 1, suggestion="Remove the <!DOCTYPE ...> declaration")


def _problem(code: str, message: str, line: int, column: int = 0, suggestion: str = "") -> Problem:
    return Problem(severity="error", code=code, message=message, line=line, column=column, suggestion=suggestion)


def _syntax_problem(problem: etree.XMLSyntaxError) -> Problem:
    line, column = problem.position
    text = re.sub(r", line \d+, column \d+.*$", "", str(problem.msg or problem))
    text = re.sub(r"^Error reading file '.*?': ", "", text)
    return _problem(
        "XML_SYNTAX", f"The resource is not well-formed XML: {text}", max(line or 1, 1), max(column or 0, 0)
    )


def _only_undeclared_prefixes(entries: Sequence[_LogEntry]) -> Problem | None:
    if len(entries) == 0 or any(entry.domain_name != "NAMESPACE" for entry in entries):
        return None
    return Problem(
        severity="warning",
        code="XML_NAMESPACE",
        message=f"{entries[0].message}; names are read without their prefix",
        line=max(entries[0].line, 1),
        suggestion="Declare the prefix at the root element",
    )


class _LogEntry(Protocol):
    """What lxml's error log holds; its stubs do not say."""

    domain_name: str
    message: str
    line: int


def _parser(*, recover: bool) -> etree.XMLParser:
    return etree.XMLParser(
        resolve_entities=False,
        load_dtd=False,
        dtd_validation=False,
        attribute_defaults=False,
        no_network=True,
        huge_tree=False,
        remove_comments=True,
        remove_pis=True,
        recover=recover,
    )


def _tree(content: bytes, parser: etree.XMLParser) -> tuple[Xml | None, list[Problem]]:
    root = etree.fromstring(content, parser)
    if _doctype(root.getroottree().docinfo):
        return None, [_doctype_problem()]
    spaces = _Spaces(_split(str(root.tag))[0])
    top: Xml | None = None
    open_elements: list[Xml] = []
    count = 0
    walker = etree.iterwalk(root, events=("start", "end"))
    for event, element in walker:
        if event == "end":
            open_elements.pop()
            continue
        parent = open_elements[-1] if open_elements else None
        node = _node(str(element.tag), element.text, element.sourceline or 1, parent, spaces)
        for key, value in element.attrib.items():
            spaces.keep_attribute(node, str(key), str(value))
        open_elements.append(node)
        if parent is None:
            top = node
        else:
            parent.children.append(node)
        count += 1
        if parent is not None and len(open_elements) == 2 and node.name == "BPMNDiagram":
            walker.skip_subtree()
            parent.children.pop()
        if count > XML_ELEMENTS_MAX or len(open_elements) > XML_DEPTH_MAX:
            return None, [_over_limit(node, count)]
    return top, []


def _doctype(info: object) -> str:
    return str(getattr(info, "doctype", ""))  # lxml's stubs do not know the attribute


def _over_limit(node: Xml, count: int) -> Problem:
    if count > XML_ELEMENTS_MAX:
        message = f"The resource has more than XML_ELEMENTS_MAX = {XML_ELEMENTS_MAX} elements"
        return _problem("TOO_MANY_ELEMENTS", message, node.line, suggestion="Split the model into several files")
    message = f"Elements are nested deeper than XML_DEPTH_MAX = {XML_DEPTH_MAX}"
    return _problem("XML_TOO_DEEP", message, node.line)


class _Spaces:
    """Reduces namespaces to words. What shares the root's namespace is BPMN, whatever that namespace is called."""

    def __init__(self, model_uri: str) -> None:
        self._words: dict[str, str] = {**_VENDORS, BPMN_URI: MODEL, model_uri: MODEL}
        if model_uri:
            self._words.setdefault("", "none")
        self._tags: dict[str, tuple[str, str]] = {}

    def name(self, tag: str) -> tuple[str, str]:
        """Space and local name of a tag."""
        known = self._tags.get(tag)
        if known is None:
            uri, local = _split(tag)
            prefix, colon, rest = local.partition(":")  # an undeclared prefix is a part of the local name
            local = rest if colon else local
            space = self._words.get(uri, uri)
            if colon and not uri:
                space = prefix if prefix in {ZEEBE, CAMUNDA} else MODEL
            known = self._tags[tag] = (space, local)
        return known

    def keep_attribute(self, node: Xml, key: str, value: str) -> None:
        """Keep an attribute under its name, or ``vendor:name``."""
        if key[0] != "{" and ":" not in key:
            node.attributes[key] = value
            return
        space, local = self.name(key)
        if space == MODEL:
            node.attributes.setdefault(local, value)
        elif ":" not in space and "/" not in space:
            node.attributes[f"{space}:{local}"] = value


def _split(tag: str) -> tuple[str, str]:
    if tag.startswith("{"):
        uri, _, local = tag[1:].partition("}")
        return uri, local
    return "", tag


def _node(tag: str, text: str | None, line: int, parent: Xml | None, spaces: _Spaces) -> Xml:
    space, name = spaces.name(tag)
    node = Xml(name, space, line, parent)
    if text and not text.isspace():
        node.text = text.strip()
    return node
