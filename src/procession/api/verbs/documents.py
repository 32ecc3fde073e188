"""Small documents beside processes: keep a file, read it, delete it. They stand in the database, up to a bound."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from datetime import datetime
from typing import Annotated, Any

import msgspec
from msgspec import UNSET, Meta, UnsetType

from procession.api.audit_tenants import may_read
from procession.api.endpoints import Call, Content, Endpoint, Upload
from procession.api.problems import Problem
from procession.api.roles import Role
from procession.api.search import Instant, Record, Request
from procession.api.words import key_of, when
from procession.errors import NotFound
from procession.jobs.schedule import to_datetime
from procession.limits import DOCUMENT_BYTES_MAX
from procession.store.rows.keeping import Kept

GROUP = "Document"
STORE = "procession"
KIND = "document"
LINK_MS_MAX = 7 * 86_400_000
ID = re.compile(r"[A-Za-z0-9_.-]{1,200}")
NO_DOCUMENT = "Expected a document with this id, found none"


class Metadata(Request):
    """What a client says of a file."""

    content_type: str | UnsetType = UNSET
    file_name: Annotated[str, Meta(max_length=255)] | UnsetType = UNSET
    expires_at: Instant | UnsetType = UNSET
    size: int | UnsetType = UNSET
    process_definition_id: str | UnsetType = UNSET
    process_instance_key: str | UnsetType = UNSET
    custom_properties: dict[str, Any] | UnsetType = UNSET


class MetadataResult(Record):
    """What is known of it."""

    content_type: str
    file_name: str
    expires_at: datetime | None
    size: int
    process_definition_id: str | None
    process_instance_key: str | None
    custom_properties: dict[str, Any]


class DocumentLinkRequest(Request):
    """For how long, in milliseconds."""

    time_to_live: Annotated[int, Meta(ge=1_000, le=LINK_MS_MAX)] = 3_600_000


class DocumentLink(Record):
    """Where the file is to be had without a name, and until when."""

    url: str
    expires_at: datetime


class DocumentReference(Record, kw_only=True):
    """How processes refer to it."""

    camunda_document_type: str = msgspec.field(name="camunda.document.type", default="camunda")
    store_id: str
    document_id: str
    content_hash: str
    metadata: MetadataResult


class Stored(Record):
    """As it is kept: the file follows the length and this."""

    document_id: str
    content_hash: str
    owner: str
    metadata: MetadataResult
    secret: str = ""  # that links to it are signed with: they end with it
    tenants: list[str] | None = None  # whose it is; None: of nobody who is bound to tenants


class DocumentFailure(Record):
    """A file of several that could not be kept."""

    file_name: str
    status: int
    title: str
    detail: str


class DocumentsCreated(Record):
    """What became of several files."""

    created_documents: list[DocumentReference]
    failed_documents: list[DocumentFailure]


async def create_document(call: Call) -> DocumentReference:
    """Keep a file. Raises Problem where it is too large, or its id is taken."""
    file = next((part for part in call.uploads if part.name == "file"), None)
    if file is None:
        raise Problem(400, "Expected a file in the part named 'file', found none")
    said = next((part for part in call.uploads if part.name == "metadata"), None)
    kept = await _keep(call, file, said, call.query.get("documentId", ""))
    call.about.update(document_id=kept.document_id, size=len(file.data))
    return kept


async def create_documents(call: Call) -> DocumentsCreated:
    """Keep several files, each by itself: what is wrong with one is told beside the others. Raises Problem."""
    files = [part for part in call.uploads if part.name == "files"]
    said = [part for part in call.uploads if part.name == "metadataList"]
    if not files:
        raise Problem(400, "Expected at least one file in the parts named 'files', found none")
    if said and len(said) != len(files):
        raise Problem(400, f"Expected metadata for each of {len(files)} files or for none, found {len(said)}")
    result = DocumentsCreated(created_documents=[], failed_documents=[])
    for number, file in enumerate(files):
        try:
            result.created_documents.append(await _keep(call, file, said[number] if said else None, ""))
        except Problem as problem:
            name = file.filename or "document"
            failure = DocumentFailure(file_name=name, status=problem.status, title=problem.title, detail=problem.detail)
            result.failed_documents.append(failure)
    call.about.update(document_ids=[each.document_id for each in result.created_documents])
    return result


async def _keep(call: Call, file: Upload, said: Upload | None, named: str) -> DocumentReference:
    """Keep a file under a name, or under one that nobody can guess. Raises Problem."""
    if len(file.data) > DOCUMENT_BYTES_MAX:
        raise Problem(
            413,
            f"Expected a document of at most {DOCUMENT_BYTES_MAX} bytes (DOCUMENT_BYTES_MAX), found {len(file.data)}",
        )
    document_id = named or secrets.token_urlsafe(18)
    if not ID.fullmatch(document_id):
        raise Problem(400, "Expected documentId to have 1 to 200 letters, digits, '_', '.' or '-'")
    if call.query.get("storeId", STORE) != STORE:
        raise Problem(400, f"Expected storeId '{STORE}', the only store of documents there is")
    if await call.desk.rows.kept(KIND, name=document_id, limit=1):
        raise Problem(409, f"There is a document '{document_id}' already", title="ALREADY_EXISTS")
    stored = Stored(
        document_id=document_id,
        content_hash=hashlib.sha256(file.data).hexdigest(),
        owner=call.who.name,
        metadata=_metadata(file, said),
        secret=secrets.token_urlsafe(32),
    )
    stored.tenants = await _whose(call, stored.metadata.process_instance_key)
    await _write(call, await call.desk.app.new_key(), stored, file.data)
    return _reference(stored)


async def _whose(call: Call, instance: str | None) -> list[str] | None:
    """The tenants of whoever keeps it; for one who is bound to none, that of the instance which is named."""
    if call.who.tenants is not None:
        return sorted(call.who.tenants)
    if not instance:
        return None
    rows = await call.desk.rows.load([key_of(instance, "processInstanceKey")])
    return [rows[0].tenant] if rows else None


async def _write(call: Call, key: int, stored: Stored, data: bytes) -> None:
    """Keep what is known of it and the file itself, as one."""
    head = msgspec.json.encode(stored)
    body = len(head).to_bytes(4, "big") + head + data
    await call.desk.rows.keep([Kept(kind=KIND, key=key, name=stored.document_id, body=body)])


def _metadata(file: Upload, part: Upload | None) -> MetadataResult:
    """What the client says of it, and what is seen. Raises Problem."""
    try:
        said = msgspec.json.decode(part.data, type=Metadata) if part is not None else Metadata()
    except (msgspec.ValidationError, msgspec.DecodeError) as error:
        raise Problem(400, f"Expected metadata of a document as JSON: {error}") from None
    given = {name: value for name, value in msgspec.structs.asdict(said).items() if value is not UNSET}
    return MetadataResult(
        content_type=given.get("content_type") or file.content_type or "application/octet-stream",
        file_name=given.get("file_name") or file.filename or "document",
        expires_at=given.get("expires_at"),
        size=len(file.data),
        process_definition_id=given.get("process_definition_id"),
        process_instance_key=given.get("process_instance_key"),
        custom_properties=given.get("custom_properties", {}),
    )


def _reference(stored: Stored) -> DocumentReference:
    return DocumentReference(
        store_id=STORE,
        document_id=stored.document_id,
        content_hash=stored.content_hash,
        metadata=stored.metadata,
    )


async def _kept(call: Call) -> tuple[Kept, Stored, bytes]:
    """The document that a request names. Raises NotFound."""
    document_id = call.path["documentId"]
    rows = await call.desk.rows.kept(KIND, name=document_id, limit=1) if ID.fullmatch(document_id) else []
    if rows:
        size = int.from_bytes(rows[0].body[:4], "big")
        stored = msgspec.json.decode(rows[0].body[4 : 4 + size], type=Stored)
        expires, now = stored.metadata.expires_at, when(call.desk.app.now)
        if expires is None or now is None or expires > now:
            return rows[0], stored, rows[0].body[4 + size :]
    raise NotFound(NO_DOCUMENT)


async def _theirs(call: Call) -> tuple[Kept, Stored, bytes]:
    """The document that a request names, where it is of the tenants of whoever asks. Raises NotFound."""
    found = await _kept(call)
    if not may_read(call.who.tenants, found[1].tenants):
        raise NotFound(NO_DOCUMENT)
    return found


async def get_document(call: Call) -> Content:
    """The file, to be saved and never to be shown as a page of this server."""
    _, stored, data = await _theirs(call)
    _check_hash(call, stored)
    return _content(stored, data)


def _check_hash(call: Call, stored: Stored) -> None:
    """Is it the content that the client knows? Raises Problem."""
    wanted = call.query.get("contentHash")
    if wanted is not None and wanted != stored.content_hash:
        raise Problem(400, "Expected the hash of the document's content, found another one")


def _content(stored: Stored, data: bytes) -> Content:
    return Content(
        data=data,
        media_type="application/octet-stream",
        headers={"Content-Disposition": "attachment", "X-Content-Hash": stored.content_hash},
    )


async def create_link(call: Call) -> DocumentLink:
    """A link to the file that needs no name, for a while. Raises NotFound, Problem."""
    row, stored, data = await _theirs(call)
    _check_hash(call, stored)
    body: DocumentLinkRequest = call.body or DocumentLinkRequest()
    if not stored.secret:  # kept before there were links
        stored.secret = secrets.token_urlsafe(32)
        await _write(call, row.key, stored, data)
    until = call.desk.app.now // 1000 + -(-body.time_to_live // 1000)
    if stored.metadata.expires_at is not None:
        until = min(until, int(stored.metadata.expires_at.timestamp()))
    address = f"{call.desk.address}/api/document-links/{stored.document_id}"
    url = f"{address}?expires={until}&signature={_signature(stored, until)}"
    call.about.update(expires=until)
    return DocumentLink(url=url, expires_at=to_datetime(until * 1000))


def _signature(stored: Stored, until: int) -> str:
    """What only this server, or another on the same database, can have written."""
    said = f"{stored.document_id}\0{until}".encode()
    return hmac.new(stored.secret.encode(), said, hashlib.sha256).hexdigest()


async def follow_link(call: Call) -> Content:
    """The file, to whoever has a link that still holds. Raises NotFound: nothing is told of a wrong one."""
    expires, signature = call.query.get("expires", ""), call.query.get("signature", "")
    if not (expires.isascii() and expires.isdigit() and len(expires) < 12 and signature.isascii()):
        raise NotFound(NO_LINK)
    try:
        _, stored, data = await _kept(call)
    except NotFound:
        raise NotFound(NO_LINK) from None
    holds = bool(stored.secret) and hmac.compare_digest(_signature(stored, int(expires)), signature)
    if not holds or int(expires) * 1000 < call.desk.app.now:
        raise NotFound(NO_LINK)
    return _content(stored, data)


NO_LINK = "Expected a link that a server of this database has given and whose time is not over, found another one"


async def delete_document(call: Call) -> None:
    """Forget it."""
    row, _, _ = await _theirs(call)
    await call.desk.rows.forget_kept(KIND, keys=[row.key])


ENDPOINTS = (
    Endpoint(
        method="POST",
        path="/documents/{documentId}/links",
        operation_id="createDocumentLink",
        verb=create_link,
        role=Role.OPERATOR,
        summary="A link to it that needs no name, for a while",
        group=GROUP,
        body=DocumentLinkRequest,
        optional=True,
        answer=DocumentLink,
        status=201,
        queries=("contentHash", "storeId"),
        entity="DOCUMENT",
    ),
    Endpoint(
        method="POST",
        path="/documents/batch",
        operation_id="createDocuments",
        verb=create_documents,
        role=Role.OPERATOR,
        summary="Keep several small files",
        group=GROUP,
        multipart=True,
        answer=DocumentsCreated,
        status=201,
        queries=("storeId",),
        entity="DOCUMENT",
    ),
    Endpoint(
        method="POST",
        path="/documents",
        operation_id="createDocument",
        verb=create_document,
        role=Role.OPERATOR,
        summary="Keep a small file",
        group=GROUP,
        multipart=True,
        answer=DocumentReference,
        status=201,
        problems=(409,),
        queries=("documentId", "storeId"),
        entity="DOCUMENT",
    ),
    Endpoint(
        method="GET",
        path="/documents/{documentId}",
        operation_id="getDocument",
        verb=get_document,
        role=Role.READER,
        summary="Read it",
        group=GROUP,
        answer=Content,
        media_type="application/octet-stream",
        queries=("contentHash", "storeId"),
    ),
    Endpoint(
        method="DELETE",
        path="/documents/{documentId}",
        operation_id="deleteDocument",
        verb=delete_document,
        role=Role.OPERATOR,
        summary="Forget it",
        group=GROUP,
        status=204,
        entity="DOCUMENT",
    ),
)

LINKS = (
    Endpoint(
        method="GET",
        path="/document-links/{documentId}",
        operation_id="followDocumentLink",
        verb=follow_link,
        role=None,
        summary="The file that a link leads to",
        group=GROUP,
        answer=Content,
        media_type="application/octet-stream",
        queries=("expires", "signature"),
    ),
)
