"""What comes in as bytes: encodings, hostile XML, limits, odd namespaces. Each refusal says which line."""

from __future__ import annotations

from contextlib import nullcontext

import pytest
from hypothesis import given
from hypothesis import strategies as st

from procession.limits import RESOURCE_BYTES_MAX, XML_DEPTH_MAX
from procession.model import InvalidModel, compile_resource, lint_resource
from procession.testing.bpmn import process as build
from tests.model.models import codes, compiled, file, findings, process, refused

PLAIN = '<process id="p" name="Prüfung ✓" isExecutable="true"><startEvent id="s"/></process>'
BPMN = "http://www.omg.org/spec/BPMN/20100524/MODEL"
BOMB = '<!DOCTYPE d [<!ENTITY a "aaaaaaaaaa">' + "".join(
    f'<!ENTITY {b} "{f"&{a};" * 10}">' for a, b in zip("abcdefgh", "bcdefghi", strict=True)
)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "iso-8859-15"])
def test_every_declared_encoding_is_read(encoding: str):
    declared = {"utf-8-sig": "utf-8", "iso-8859-15": "iso-8859-15"}.get(encoding, encoding)
    text = f'<?xml version="1.0" encoding="{declared}"?>\n<definitions xmlns="{BPMN}">{PLAIN}</definitions>'
    if encoding == "iso-8859-15":
        text = text.replace(" ✓", "")
    name = compiled(text.encode(encoding)).name
    assert name.startswith("Prüfung")


def test_windows_line_ends_count_like_others():
    content = file('<process id="p" isExecutable="true">', '<task id="a"/>', "</process>").replace(b"\n", b"\r\n")
    assert [problem.line for problem in findings(content)] == [2]


@pytest.mark.parametrize(
    "prolog",
    [
        "<!DOCTYPE definitions>",
        '<?xml version="1.0"?>\n<!-- a comment --> <!DOCTYPE definitions SYSTEM "http://127.0.0.1:1/x.dtd">',
        f"{BOMB}]>",
        '<!DOCTYPE d [<!ENTITY x SYSTEM "file:///etc/passwd">]>',
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_a_document_type_is_refused_by_name(prolog: str, encoding: str):
    content = f'{prolog}<definitions xmlns="{BPMN}">{PLAIN}</definitions>'.encode(encoding)
    (problem,) = refused(content).problems
    assert (problem.code, problem.line) == ("DOCTYPE_NOT_ALLOWED", 1)


def test_the_word_doctype_inside_a_text_is_no_document_type():
    content = file(
        '<process id="p" isExecutable="true"><documentation><![CDATA[<!DOCTYPE html>]]></documentation>',
        '<startEvent id="s"/></process>',
    )
    assert compiled(content).process_id == "p"


def test_an_entity_is_not_resolved():
    (problem,) = refused(file("<process>&secret;</process>")).problems
    assert problem.code == "XML_SYNTAX"
    assert "secret" in problem.message


def test_broken_xml_is_refused_with_line_and_column():
    (problem,) = refused(file('<process id="p">', "<task></process>")).problems
    assert (problem.code, problem.line) == ("XML_SYNTAX", 3)
    assert problem.column > 0


@pytest.mark.parametrize("content", [b"", b"   \n", b"\x00\x00", b"\xff\xfe"])
def test_nothing_is_refused_as_empty(content: bytes):
    assert codes(content) in (["EMPTY_RESOURCE"], ["XML_SYNTAX"])


def test_bytes_that_are_not_of_the_encoding_are_refused():
    content = b'<?xml version="1.0" encoding="UTF-8"?><definitions name="\xe9t\xe9"/>'
    assert codes(content) == ["XML_SYNTAX"]


def test_a_file_over_the_limit_is_refused_before_it_is_parsed():
    content = file(PLAIN) + b" " * RESOURCE_BYTES_MAX
    (problem,) = refused(content).problems
    assert problem.code == "RESOURCE_TOO_LARGE"
    assert "RESOURCE_BYTES_MAX" in problem.message


def test_deep_nesting_is_refused_by_the_name_of_the_limit():
    depth = XML_DEPTH_MAX + 5
    content = process('<extensionElements id="e">' + "<a>" * depth + "</a>" * depth + "</extensionElements>")
    (problem,) = refused(content).problems
    assert problem.code == "XML_TOO_DEEP"
    assert "XML_DEPTH_MAX" in problem.message


def test_nesting_beyond_the_parsers_own_limit_is_refused_too():
    assert codes(process("<a>" * 5_000 + "</a>" * 5_000)) == ["XML_SYNTAX"]


def test_too_many_elements_are_refused(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("procession.model.xml.XML_ELEMENTS_MAX", 10)
    assert codes(process('<task id="a"/>' * 20)) == ["TOO_MANY_ELEMENTS"]


def test_a_process_with_too_many_elements_is_refused(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("procession.model.reader.structure.ELEMENTS_MAX", 3)
    content = build("p").start().task("a").task("b").end().xml()
    assert "TOO_MANY_ELEMENTS" in codes(content)


def test_a_model_without_any_namespace_is_read():
    content = f"<definitions>{PLAIN}</definitions>".encode()
    assert compiled(content).process_id == "p"


def test_a_prefix_that_is_not_declared_is_read_with_a_warning():
    content = b'<definitions><process id="p" isExecutable="true"><bpmn:startEvent id="s"/></process></definitions>'
    assert compiled(content).element("s").index == 1
    assert "XML_NAMESPACE" in codes(content, "warning")


def test_any_prefix_will_do():
    body = '<x:process id="p" isExecutable="true"><x:startEvent id="s"/></x:process>'
    content = f'<x:definitions xmlns:x="{BPMN}">{body}</x:definitions>'
    assert compiled(content.encode()).index_of == {"p": 0, "s": 1}


@pytest.mark.parametrize(
    "content",
    [
        b'<definitions xmlns="https://www.omg.org/spec/DMN/20191111/MODEL/"><decision id="d"/></definitions>',
        b"<html><body/></html>",
        b"<definitions/>",
    ],
)
def test_what_is_no_bpmn_is_refused_as_such(content: bytes):
    assert codes(content) == ["NOT_BPMN"]


def test_the_diagram_is_not_read():
    content = process('<startEvent id="s"/>').replace(
        b"</definitions>", b'<BPMNDiagram><bad id="s"/><process id="p"/></BPMNDiagram></definitions>'
    )
    assert compiled(content).index_of == {"p": 0, "s": 1}


MODEL = (
    build("p")
    .start()
    .exclusive("x")
    .when("=a > 1")
    .sub_process("sub")
    .start("s")
    .service("job")
    .end("e")
    .done()
    .end("end")
    .at("x")
    .otherwise()
    .user("u")
    .to("end")
    .boundary("late", on="sub", timer="PT1H")
    .end("expired")
    .xml()
)


@given(st.integers(0, len(MODEL) - 1), st.integers(0, 40), st.binary(max_size=12))
def test_no_damage_to_a_file_is_an_internal_error(position: int, removed: int, inserted: bytes):
    damaged = MODEL[:position] + inserted + MODEL[position + removed :]
    found = lint_resource(damaged)
    assert all(problem.line >= 1 and problem.message for problem in found)
    with nullcontext() if all(problem.severity != "error" for problem in found) else pytest.raises(InvalidModel):
        compile_resource(damaged)
    lint_resource(damaged, executable_only=False, lenient=True)


@given(st.data())
def test_no_exchange_of_words_is_an_internal_error(data: st.DataObject):
    words = MODEL.split(b'"')
    first, second = (data.draw(st.integers(0, len(words) - 1)) for _ in range(2))
    words[first], words[second] = words[second], words[first]
    lint_resource(b'"'.join(words))
