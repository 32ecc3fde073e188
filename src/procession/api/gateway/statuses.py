"""Problems as gRPC statuses, with Zeebe's meaning of each, and what a client that is refused is to know besides."""

from __future__ import annotations

from grpc import StatusCode

from procession.api.problems import Problem

DETAILS_CHARS_MAX = 2_000  # trailers have 8 KiB in all at most clients; a letter may take nine bytes there

_CODES = {
    400: StatusCode.INVALID_ARGUMENT,
    401: StatusCode.UNAUTHENTICATED,
    403: StatusCode.PERMISSION_DENIED,
    404: StatusCode.NOT_FOUND,
    409: StatusCode.FAILED_PRECONDITION,
    413: StatusCode.RESOURCE_EXHAUSTED,
    501: StatusCode.UNIMPLEMENTED,
    503: StatusCode.UNAVAILABLE,
    504: StatusCode.DEADLINE_EXCEEDED,
}
_TITLES = {
    "ALREADY_EXISTS": StatusCode.ALREADY_EXISTS,
    "RESOURCE_EXHAUSTED": StatusCode.RESOURCE_EXHAUSTED,
}


def code_of(problem: Problem) -> StatusCode:
    """The status that stands for a problem."""
    return _TITLES.get(problem.title) or _CODES.get(problem.status, StatusCode.INTERNAL)


def details_of(problem: Problem) -> str:
    """Its words, as far as they fit."""
    detail = problem.detail
    return detail if len(detail) <= DETAILS_CHARS_MAX else f"{detail[: DETAILS_CHARS_MAX - 1]}…"


def trailers_of(problem: Problem) -> tuple[tuple[str, str], ...]:
    """Why it was refused under load, which limit, and when to come again; clients with a retry policy keep to that."""
    found = [
        (name, f"{value:g}" if isinstance(value, int | float) else str(value)) for name, value in problem.more.items()
    ]
    after = problem.headers.get("Retry-After")
    if after is not None:
        found += [("retry-after", after), ("grpc-retry-pushback-ms", str(int(after) * 1_000))]
    return tuple(found)
