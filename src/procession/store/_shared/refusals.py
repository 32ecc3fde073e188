"""Which values every store refuses, and the words for it; texts that must never be refused are cleaned instead.

All stores refuse alike, so that a program that runs on one runs on the others. What can be known is refused before a
statement is sent; a store still splits its batch for whatever its database refuses on top of that.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from procession import limits
from procession.errors import InvalidValue
from procession.jobs.kinds import JOB_QUEUE_PREFIX, METHOD_QUEUE_PREFIX, JobKind
from procession.store._shared.bulk import are_alike
from procession.store.rows import NewJob, NewMessage, NewUserTask, Row, StartRequest, Step

INT_MAX: Final = 2**31 - 1  # priorities and attempts: a 32-bit column in every store
_ENVELOPE_BYTES: Final = 64 * 1024  # what a follow-up's JSON adds to the variables that it carries
_KEY_FIELDS: Final = frozenset({"queue", "correlation_key", "start_channel", "release_channel", "message_id"})
_LONG_FIELDS: Final = frozenset({"message", "error"})  # cleaned and cut, never refused
_TASK_TEXTS: Final = frozenset({"name", "assignee", "form_key"})
_TASK_LISTS: Final = frozenset({"candidate_users", "candidate_groups"})
_TASK_NUMBERS: Final = frozenset({"due_at", "follow_up_at", "priority"})


def refusal_of_step(step: Step) -> str:
    """Why no store can write this step, or an empty text."""
    try:
        for job in step.new_jobs:
            if why := _refusal_of_job(job):
                return why
        return _refusal_of_texts_of(step) or _refusal_of_parts(step)
    except (TypeError, AttributeError) as error:
        return f"Expected texts, numbers and bytes as the rows declare them in the step of {step.instance}: {error}"


def are_plain(steps: Sequence[Step]) -> bool:
    """Whether a look at all of these together shows that there is nothing to refuse in any; False is no refusal.

    Texts that are short, ASCII and without a NUL when they are put together are so each; likewise JSON, which has no
    escapes besides: so no database has a reason of its own either. Give it usual steps only, no wide ones.
    """
    try:
        return _are_plain(steps)
    except (TypeError, AttributeError):
        return False


def _are_plain(steps: Sequence[Step]) -> bool:
    names: set[str] = set()
    values: list[bytes] = []
    numbers: set[int] = set()
    times: set[int] = set()
    size = 0
    whose = like = None  # of the step and the job before: most are alike
    for step in steps:
        if step.tags:
            return False
        texts = (step.process_id, step.business_id, step.tenant)
        if texts != whose:
            whose = texts
            names.update(texts)
        size += len(step.state)
        values += (step.variables or b"", step.events or b"")
        for job in step.new_jobs:
            this = (job.queue, job.type, job.element, job.tenant, job.priority, job.retries, job.run_at, job.delay_ms)
            if this != like:
                like = this
                names.update(this[:4])
                numbers.update(this[4:6])
                times.update(this[6:])
            if job.args:
                values.append(job.args)
    text, value = "".join(names), b"".join(values)
    return (
        _is_plain(text)
        and size <= limits.STATE_BYTES_MAX
        and len(value) <= limits.JOB_ARGS_BYTES_MAX
        and b"\0" not in value
        and b"\\u" not in value
        and not refusal_of_json(value, "", limits.STATE_BYTES_MAX, "")
        and all(0 <= number <= INT_MAX for number in numbers)
        and all(0 <= time <= limits.TIMER_MS_MAX for time in times)
    )


def check_jobs(jobs: Sequence[NewJob]) -> bool:
    """Raise InvalidValue for the first job that no store can write. The answer: whether they are alike (``bulk``)."""
    alike = are_alike(jobs)
    if alike and _args_are_plain([job.args for job in jobs]):
        jobs = jobs[:1]  # what is true of one is true of all
    seen: tuple[object, ...] = ()  # what was found to be fine: of many jobs most are alike but for key and arguments
    for job in jobs:
        shared = (
            job.queue,
            job.type,
            job.element,
            job.tenant,
            job.priority,
            job.retries,
            job.run_at,
            job.delay_ms,
        )
        try:
            why = (_refusal_of_job_but_args(job) if shared != seen else "") or _refusal_of_args(job)
        except (TypeError, AttributeError) as error:
            why = f"Expected texts, numbers and bytes as NewJob declares them in job {job.key}: {error}"
        if why:
            raise InvalidValue(why)
        seen = shared
    return alike


def check_messages(messages: Iterable[NewMessage]) -> None:
    """Raise InvalidValue for the first message that no store can write."""
    for message in messages:
        try:
            why = _refusal_of_row(message) or refusal_of_json(
                message.variables, "variables", limits.VARIABLES_BYTES_MAX, "VARIABLES_BYTES_MAX"
            )
            if not why and not 0 <= message.ttl_ms <= limits.MESSAGE_TTL_MS_MAX:
                why = (
                    f"Expected a time to live of 0 to {limits.MESSAGE_TTL_MS_MAX} ms (MESSAGE_TTL_MS_MAX) for message "
                    f"{message.name!r}, got {message.ttl_ms}"
                )
        except (TypeError, AttributeError) as error:
            why = f"Expected texts, numbers and bytes as NewMessage declares them in {message.key}: {error}"
        if why:
            raise InvalidValue(why)


def check_start_request(request: StartRequest) -> None:
    """Raise InvalidValue when no store can write what a caller's transaction asks for."""
    why = (
        _refusal_of_row(request)
        or refusal_of_json(request.variables, "variables", limits.VARIABLES_BYTES_MAX, "VARIABLES_BYTES_MAX")
        or refusal_of_json(request.command, "command", _follow_up_bytes_max(), "VARIABLES_BYTES_MAX")
    )
    if why:
        raise InvalidValue(why)


def check_text(text: str, what: str, bytes_max: int = limits.NAME_BYTES_MAX, limit: str = "NAME_BYTES_MAX") -> None:
    """Raise InvalidValue when a text cannot be stored as a name."""
    if why := _refusal_of_text(text, what, bytes_max, limit):
        raise InvalidValue(why)


def check_variables(variables: bytes) -> None:
    """Raise InvalidValue when variables cannot be stored."""
    why = refusal_of_json(variables, "variables", limits.VARIABLES_BYTES_MAX, "VARIABLES_BYTES_MAX")
    if why:
        raise InvalidValue(why)


def clean_text(text: str) -> str:
    """A problem's text as every store can keep it: an error must never be lost because it cannot be written down."""
    if text.isascii() and "\0" not in text and len(text) <= limits.ERROR_TEXT_CHARS_MAX:
        return text
    text = text.replace("\0", "\N{REPLACEMENT CHARACTER}")
    text = text.encode("utf-8", "replace").decode("utf-8")
    if len(text) <= limits.ERROR_TEXT_CHARS_MAX:
        return text
    mark = f"... (cut at {limits.ERROR_TEXT_CHARS_MAX} characters)"
    return text[: limits.ERROR_TEXT_CHARS_MAX - len(mark)] + mark


def _refusal_of_texts_of(step: Step) -> str:
    if _is_plain(_texts_of(step)):
        return ""
    for row in _rows_of(step):
        if why := _refusal_of_row(row):
            return why
    return ""


def _texts_of(step: Step) -> str:
    """The texts of a step's own columns and of the rows that steps usually write, in one string to look at once."""
    joined = f"{step.process_id}{step.business_id}{step.tenant}{step.start_channel}{step.release_channel}"
    if step.tags:
        joined += "".join(step.tags)
    for incident in step.new_incidents:
        joined += incident.element + incident.process_id + incident.kind + incident.fingerprint + incident.tenant
    for wait in step.new_subscriptions:
        joined += wait.element + wait.process_id + wait.name + wait.correlation_key + wait.tenant
    for task in step.new_user_tasks:
        joined += task.element + task.name + task.process_id + task.assignee + task.form_key + task.tenant
        joined += "".join(task.candidate_users) + "".join(task.candidate_groups)
    return joined


def _is_plain(joined: str) -> bool:
    """Whether texts that make up this string need no closer look: so short that none of them can be too long."""
    return len(joined) <= limits.KEY_TEXT_BYTES_MAX and joined.isascii() and "\0" not in joined


def _rows_of(step: Step) -> Iterator[Row]:
    yield step
    yield from step.new_subscriptions
    yield from step.new_incidents
    yield from step.new_user_tasks


def _refusal_of_job(job: NewJob) -> str:
    return _refusal_of_job_but_args(job) or _refusal_of_args(job)


def _refusal_of_job_but_args(job: NewJob) -> str:
    if not _is_plain(f"{job.queue}{job.type}{job.element}{job.tenant}") and (why := _refusal_of_row(job)):
        return why
    if not (-INT_MAX <= job.priority <= INT_MAX and 0 <= job.retries <= INT_MAX):
        return (
            f"Expected a priority within ±{INT_MAX} and 0 to {INT_MAX} retries for job {job.key} of type "
            f"{job.type!r}, got {job.priority} and {job.retries}"
        )
    if not (0 <= job.run_at <= limits.TIMER_MS_MAX and 0 <= job.delay_ms <= limits.TIMER_MS_MAX):
        return (
            f"Expected job {job.key} to be due between 1970 and {limits.TIMER_MS_MAX} ms (TIMER_MS_MAX), "
            f"got {job.run_at} and a delay of {job.delay_ms}"
        )
    return ""


def _args_are_plain(args: Sequence[bytes]) -> bool:
    """Whether the arguments of many jobs are certainly fine: together they are no longer than those of one may be."""
    try:
        together = b"".join(args) if sum(map(len, args)) <= limits.JOB_ARGS_BYTES_MAX else b"\0"
    except TypeError:
        return False
    return together.isascii() and b"\0" not in together


def _refusal_of_args(job: NewJob) -> str:
    args = job.args
    if len(args) <= limits.JOB_ARGS_BYTES_MAX and args.isascii() and b"\0" not in args:
        return ""
    if job.kind == JobKind.TASK:
        return refusal_of_json(args, "args", limits.JOB_ARGS_BYTES_MAX, "JOB_ARGS_BYTES_MAX")
    return refusal_of_json(args, "args", _follow_up_bytes_max(), "VARIABLES_BYTES_MAX")


def _follow_up_bytes_max() -> int:
    return limits.VARIABLES_BYTES_MAX + _ENVELOPE_BYTES


def _refusal_of_row(row: Row) -> str:
    """Look at every text of a row, by the names of its fields."""
    for field in row.__struct_fields__:
        value = getattr(row, field)
        if isinstance(value, str) and field not in _LONG_FIELDS:
            why = _refusal_of_field(row, field, value)
        elif isinstance(value, list) and field in _TASK_LISTS | {"tags"}:
            why = _refusal_of_texts(value, field)  # pyright: ignore[reportUnknownArgumentType] - looked at there
        else:
            why = ""
        if why:
            return why
    return ""


def _refusal_of_field(row: Row, field: str, value: str) -> str:
    if field == "queue":
        value = value.removeprefix(JOB_QUEUE_PREFIX).removeprefix(METHOD_QUEUE_PREFIX)
    return _refusal_of_text(value, field, *_limit_of(field, of_user_task=isinstance(row, NewUserTask)))


def _limit_of(field: str, *, of_user_task: bool) -> tuple[int, str]:
    if field in _KEY_FIELDS:
        return limits.KEY_TEXT_BYTES_MAX, "KEY_TEXT_BYTES_MAX"
    if of_user_task and field == "name":  # shown, never looked up: as long as the model says
        return limits.JOB_ARGS_BYTES_MAX, "JOB_ARGS_BYTES_MAX"
    return limits.NAME_BYTES_MAX, "NAME_BYTES_MAX"


def _refusal_of_texts(values: list[object], what: str) -> str:
    for value in values:
        if not isinstance(value, str):
            return f"Expected texts in {what}, got {value!r}"
        if why := _refusal_of_text(value, what, limits.NAME_BYTES_MAX, "NAME_BYTES_MAX"):
            return why
    return ""


def _refusal_of_text(text: str, what: str, bytes_max: int, limit: str) -> str:
    if "\0" in text:
        return f"Expected {what} without the NUL character (U+0000), got {text[:60]!r}"
    try:
        size = len(text.encode())
    except UnicodeEncodeError as error:
        return f"Expected {what} as Unicode text, got {text[:60]!r} with a lone surrogate at character {error.start}"
    if size > bytes_max:
        return f"Expected {what} of at most {bytes_max} bytes ({limit}), got {size}: {text[:60]!r}..."
    return ""


def refusal_of_json(value: bytes, what: str, bytes_max: int, limit: str) -> str:
    """Why no store can keep this JSON, or an empty text."""
    if len(value) > bytes_max:
        return f"Expected {what} of at most {bytes_max} bytes ({limit}), got {len(value)}"
    if b"\0" in value:
        return f"Expected {what} as JSON, got bytes with a NUL"
    if not value.isascii():
        try:
            value.decode()
        except UnicodeDecodeError as error:
            return f"Expected {what} as JSON in UTF-8, got another byte at position {error.start}"
    return ""


def _refusal_of_parts(step: Step) -> str:
    if len(step.state) > limits.STATE_BYTES_MAX:
        return (
            f"Expected a state of at most {limits.STATE_BYTES_MAX} bytes (STATE_BYTES_MAX) for instance "
            f"{step.instance}, got {len(step.state)}"
        )
    for what, value in (("variables", step.variables), ("events", step.events)):
        if value and (why := refusal_of_json(value, what, limits.STATE_BYTES_MAX, "STATE_BYTES_MAX")):
            return why
    if len(step.tags) > limits.TAGS_MAX:
        return f"Expected at most {limits.TAGS_MAX} tags (TAGS_MAX), got {len(step.tags)}"
    for task in step.new_user_tasks:
        for field in _TASK_NUMBERS:
            if why := _refusal_of_number(getattr(task, field), field):
                return why
    for job in step.changed_jobs:
        if not -1 <= job.retries <= INT_MAX:
            return f"Expected 0 to {INT_MAX} retries for job {job.key}, got {job.retries}"
    for change in step.changed_user_tasks:
        for field, value in change.changes.items():
            if why := _refusal_of_change(field, value):
                return why
    return ""


def _refusal_of_change(field: str, value: object) -> str:
    if field in _TASK_TEXTS:
        if not isinstance(value, str):
            return f"Expected a text as {field} of a user task, got {value!r}"
        return _refusal_of_text(value, field, *_limit_of(field, of_user_task=True))
    if field in _TASK_LISTS:
        if not isinstance(value, list):
            return f"Expected a list of texts as {field} of a user task, got {value!r}"
        return _refusal_of_texts(value, field)  # pyright: ignore[reportUnknownArgumentType] - looked at there
    if field in _TASK_NUMBERS:
        return _refusal_of_number(value, field)
    names = sorted(_TASK_TEXTS | _TASK_LISTS | _TASK_NUMBERS)
    return f"Expected one of {', '.join(names)} as a changed column of a user task, got {field!r}"


def _refusal_of_number(value: object, what: str) -> str:
    bound = INT_MAX if what == "priority" else limits.TIMER_MS_MAX
    if isinstance(value, int) and not isinstance(value, bool) and -bound <= value <= bound:
        return ""
    return f"Expected {what} as a whole number within ±{bound}, got {value!r}"
