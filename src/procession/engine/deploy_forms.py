"""Forms to the rows of a deployment: JSON files of form-js, whose ``id`` they are deployed under. It stores nothing."""

from __future__ import annotations

import hashlib

import msgspec

from procession.engine.form_schema import problems_of
from procession.errors import InvalidModel
from procession.ids import Keys
from procession.limits import NAME_BYTES_MAX
from procession.store.rows import NewForm, NewResource

EXTENSIONS = (".form", ".form.json")


class FormHead(msgspec.Struct):
    """What is read of a form; the rest is for whoever shows it."""

    id: str = ""
    type: object = "default"
    version_tag: str | None = msgspec.field(default=None, name="versionTag")
    components: list[object] | None = None


_decode = msgspec.json.Decoder(FormHead).decode


def is_form(name: str) -> bool:
    """Whether a file is a form, by its name."""
    return name.lower().endswith(EXTENSIONS)


def form_resource(name: str, content: bytes, keys: Keys) -> NewResource:
    """One form. Raises InvalidModel."""
    head = read_form(name, content)
    checksum = hashlib.sha256(content).hexdigest()
    return NewResource(
        key=keys.take(),
        name=name,
        kind="form",
        content=content,
        checksum=checksum,
        forms=[
            NewForm(key=keys.take(), form_id=head.id, checksum=checksum, version_tag=head.version_tag or ""),
        ],
    )


def read_form(name: str, content: bytes) -> FormHead:
    """The head of a form. Raises InvalidModel with what is wrong with it."""
    try:
        head = _decode(content)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        problem = f"expected a form as JSON (an object with an id and components), found something else: {error}"
        raise InvalidModel([problem], name=name) from error
    if not head.id.strip():
        problem = "expected a form to have an id, found none: a user task names it as its formId"
        raise InvalidModel([problem], name=name)
    if len(head.id.encode()) > NAME_BYTES_MAX or "\0" in head.id:
        problem = f"expected a form id of at most {NAME_BYTES_MAX} bytes (NAME_BYTES_MAX) without U+0000"
        raise InvalidModel([problem], name=name)
    if head.components is None:
        problem = f"expected form '{head.id}' to have components, found none: is it a form?"
        raise InvalidModel([problem], name=name)
    if head.type != "default":
        problem = f"expected form '{head.id}' to be of type 'default', found {head.type!r}"
        raise InvalidModel([problem], name=name)
    if problems := problems_of(head.components):
        raise InvalidModel(problems, name=name)
    return head
