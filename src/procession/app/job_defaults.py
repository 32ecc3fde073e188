"""Options that a job has without its call saying so: its handler's, and those of the type that its arguments have.

What a call says counts before what the type says, and that before what the handler says, option by option. It holds no
rule of the queue.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, TypeVar, Unpack, cast

from procession.app import arguments
from procession.app.job_options import WORDS, JobWords, job_options
from procession.errors import InvalidValue, Misconfigured, Rejected
from procession.jobs.retry import Span

T = TypeVar("T")

MARK: Final = "__job_defaults__"
NEVER: Final = frozenset({"after", "after_finished", "batch", "at"})  # they name what there is at one moment
WHEN: Final = frozenset({"delay", "at"})  # of these, one counts
FIXED: Final = frozenset({"queue", "backoff"})  # never a function of the arguments


class Defaults(JobWords, total=False):
    """What may be said beforehand. Each may be a function of the arguments, but for ``queue`` and ``backoff``."""

    queue: str
    priority: int
    delay: Span
    retries: int


KNOWN: Final = frozenset(Defaults.__optional_keys__) - NEVER


def job_defaults(**words: Unpack[Defaults]) -> Callable[[type[T]], type[T]]:
    """A class decorator: jobs that are enqueued with an object of the class have these options, unless a call says.

    Raises Misconfigured for what is no option of a job.
    """

    def mark(kind: type[T]) -> type[T]:
        what = f"the job defaults of {kind.__qualname__}"
        check_defaults(what, words)
        setattr(kind, MARK, dict(words))
        return kind

    return mark


def check_defaults(what: str, words: Mapping[str, Any]) -> None:
    """Refuse what cannot be a default, as far as it can be known beforehand. Raises Misconfigured."""
    for word, value in words.items():
        if word not in KNOWN:
            message = f"{what}: expected options of a job ({', '.join(sorted(KNOWN))}), found '{word}'"
            raise Misconfigured(message)
        if word == "deadline" and isinstance(value, datetime):
            message = f"{what}: expected deadline to be a span, found an instant, which passes once"
            raise Misconfigured(message)
    try:
        job_options({word: value for word, value in words.items() if not _is_function(word, value)})
    except Rejected as error:
        message = f"{what}: {error}"
        raise Misconfigured(message) from error


def defaults_of_type(args: object) -> Mapping[str, Any] | None:
    """What the type of a job's arguments says, if anything. Raises Misconfigured for what is no mapping of options."""
    kind = type(args)
    if kind is dict or args is None:
        return None
    found = cast("object", getattr(kind, MARK, None))
    if found is None or isinstance(found, Mapping):
        return cast("Mapping[str, Any] | None", found)
    message = f"Expected {kind.__qualname__}.{MARK} to be a dict of options, found {type(found).__name__}"
    raise Misconfigured(message)


def merged(layers: Sequence[Mapping[str, Any]], args: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """The words of one job: of each option the last layer that says it, of metadata each name's last.

    ``args`` are for those that are functions. Raises InvalidValue where such a function fails.
    """
    words: dict[str, Any] = {}
    metadata: list[Any] = []
    for layer in layers:
        said = {word: value for word, value in layer.items() if value is not None}
        if said.keys() & WHEN:
            words = {word: value for word, value in words.items() if word not in WHEN}
        if "metadata" in said:
            metadata.append(said["metadata"])
        words |= said
    of = _Made(args)
    for word, value in words.items():
        words[word] = of(word, value)
    if len(metadata) > 1:
        words["metadata"] = {}
        for value in metadata:
            words["metadata"] |= arguments.mapping(of("metadata", value), "metadata")
    return words


class _Made:
    """Gives each value of an option: where it is a function, what that makes of the arguments."""

    def __init__(self, args: Callable[[], dict[str, Any]]) -> None:
        self._args = args
        self._plain: dict[str, Any] | None = None

    def __call__(self, word: str, value: Any) -> Any:  # noqa: ANN401 - any option's value
        """One value. Raises InvalidValue."""
        if not _is_function(word, value):
            return value
        if self._plain is None:
            self._plain = self._args()
        try:
            return value(self._plain)
        except Exception as error:
            message = f"The default of '{word}' could not be made of the arguments: {type(error).__name__}: {error}"
            raise InvalidValue(message) from error


def has_functions(words: Mapping[str, Any]) -> bool:
    """Whether jobs with other arguments may get other options."""
    return any(_is_function(word, value) for word, value in words.items())


def _is_function(word: str, value: object) -> bool:
    return word not in FIXED and callable(value)


assert WORDS <= KNOWN | NEVER, "each option is a default or can never be one"
