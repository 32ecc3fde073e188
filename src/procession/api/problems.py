"""What went wrong, as RFC 9457 problem documents with Camunda 8's titles. Nothing internal leaves with one."""

from __future__ import annotations

from typing import Any

import msgspec

from procession.errors import (
    Conflict,
    InvalidModel,
    InvalidValue,
    Misconfigured,
    NotFound,
    Rejected,
    SchemaMismatch,
    Unavailable,
)

MEDIA_TYPE = "application/problem+json"
USER_TASK_JOBS = "io.camunda.zeebe:userTask"  # what Zeebe calls the jobs of user tasks of its first kind

TITLES = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHORIZED",
    403: "FORBIDDEN",
    404: "NOT_FOUND",
    405: "METHOD_NOT_ALLOWED",
    408: "REQUEST_TIMEOUT",
    409: "INVALID_STATE",
    411: "LENGTH_REQUIRED",
    413: "CONTENT_TOO_LARGE",
    414: "URI_TOO_LONG",
    415: "UNSUPPORTED_MEDIA_TYPE",
    429: "RESOURCE_EXHAUSTED",
    431: "REQUEST_HEADER_FIELDS_TOO_LARGE",
    500: "INTERNAL",
    501: "NOT_IMPLEMENTED",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}


class ProblemDetail(msgspec.Struct, kw_only=True):
    """The document."""

    type: str = "about:blank"
    title: str
    status: int
    detail: str
    instance: str
    reason: str | msgspec.UnsetType = msgspec.UNSET  # a refusal under load: which limit
    limit: float | msgspec.UnsetType = msgspec.UNSET
    current: float | msgspec.UnsetType = msgspec.UNSET


class Problem(Exception):
    """An answer that is not what was asked for; raised wherever it is known."""

    def __init__(
        self,
        status: int,
        detail: str,
        *,
        title: str = "",
        headers: dict[str, str] | None = None,
        **more: str | float,
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.title = title or TITLES.get(status, "ERROR")
        self.detail = detail
        self.headers = headers or {}
        self.more: dict[str, Any] = more

    def document(self, instance: str) -> bytes:
        """The document for a request to this path."""
        detail = ProblemDetail(title=self.title, status=self.status, detail=self.detail, instance=instance, **self.more)
        return msgspec.json.encode(detail)


def problem_of(error: BaseException) -> Problem | None:
    """The problem that an exception of the application stands for; None for a defect."""
    match error:
        case Problem():
            return error
        case NotFound():
            return Problem(404, str(error))
        case Conflict():
            return Problem(409, str(error))
        case InvalidModel() | InvalidValue() | Misconfigured() | Rejected():
            return Problem(400, str(error))
        case SchemaMismatch():
            return Problem(503, "The database's schema is not the one that this server works with")
        case Unavailable():
            return Problem(503, str(error), headers={"Retry-After": "1"})
        case TimeoutError():
            return Problem(504, "It did not happen within the time that was given")
        case _:
            return None


def check_job_type(job_type: str) -> None:
    """Refuse what a worker would wait for in vain. Raises Problem."""
    if job_type == USER_TASK_JOBS:
        raise Problem(
            400,
            f"There are no jobs of the type '{USER_TASK_JOBS}': user tasks are of Camunda 8's own kind, with "
            "zeebe:userTask or without. Search and complete them under /v2/user-tasks",
        )
