"""A handler's arguments from a job's variables: compiled once per handler, decoded by annotation.

A parameter annotated with ``Job`` (or called ``job``) gets the context; ``**rest`` gets what no other parameter takes;
every other parameter takes the variable of its name, or the same name in camel case (``order_id`` takes ``orderId``;
the exact name wins). Decoding is msgspec's (dataclasses, structs, attrs, typed dicts, dates, decimals), or pydantic's
where a pydantic model is involved.
"""

from __future__ import annotations

import contextlib
import inspect
import types
import typing
from collections.abc import Callable, Mapping
from typing import Any, cast

import msgspec

from procession.errors import InvalidValue, Misconfigured
from procession.worker.context import Job, copy_json

Decoder = Callable[[Any], Any]
Plan = tuple[str, tuple[str, ...], Decoder, bool, Any]  # parameter, variable names, decoder, required, stand-in

_SCALARS = frozenset({str, int, float, bool, type(None)})
_MISSING = object()


class BadArguments(InvalidValue):
    """The variables do not fit the handler's parameters: trying again would give the same.

    ``discreet`` says so without anything of what was found, for what is stored encoded.
    """

    def __init__(self, message: str, discreet: str) -> None:
        super().__init__(message)
        self.discreet = f"{discreet}; what was found is stored encoded and not shown"


class Arguments:
    """The compiled parameters of one handler."""

    __slots__ = ("_fields", "_job", "_positional", "_rest", "_what", "names", "wants_job")

    def __init__(self, function: Callable[..., Any], what: str) -> None:
        self._what = what
        self._job = ""
        self._rest = ""
        self._positional: list[str] = []
        self._fields: list[Plan] = []
        hints = _hints(function, what)
        for parameter in inspect.signature(function).parameters.values():
            self._add(parameter, hints.get(parameter.name, Any))
        self.names = [name for _, names, *_ in self._fields for name in names]
        self.wants_job = bool(self._job)  # whether the handler asks for the context

    def _add(self, parameter: inspect.Parameter, hint: Any) -> None:  # noqa: ANN401 - any annotation
        """Plan one parameter."""
        name = parameter.name
        if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
            raise Misconfigured(f"{self._what}: expected named parameters, found *{name}; variables have names")
        if parameter.kind is inspect.Parameter.VAR_KEYWORD:
            self._rest = name
            return
        if parameter.kind is inspect.Parameter.POSITIONAL_ONLY:
            self._positional.append(name)
        if _is_job(hint) or (name == "job" and parameter.annotation is inspect.Parameter.empty):
            self._job = name
            return
        required = parameter.default is inspect.Parameter.empty
        optional = required and _allows_none(hint)
        camel = camel_case(name)
        names = (name,) if camel == name else (name, camel)
        self._fields.append((name, names, _decoder(hint), required and not optional, None if optional else _MISSING))

    def bind(self, variables: Mapping[str, Any], job: Job | None) -> tuple[list[Any], dict[str, Any]]:
        """Positional and named arguments. Raises BadArguments naming parameter, expectation and what was found."""
        named: dict[str, Any] = {}
        for name, names, decode, required, stand_in in self._fields:
            for variable in names:
                if variable in variables:
                    named[name] = self._decode(name, variable, decode, variables[variable])
                    break
            else:
                if required:
                    raise BadArguments(self._absent(name, names, variables), self._absent(name, names, {}))
                if stand_in is not _MISSING:
                    named[name] = stand_in
        if self._job:
            named[self._job] = job
        if self._rest:
            taken = set(self.names)
            named.update({name: copy_json(value) for name, value in variables.items() if name not in taken})
        if not self._positional:
            return [], named
        return [named.pop(name) for name in self._positional if name in named], named

    def _decode(self, name: str, variable: str, decode: Decoder, value: Any) -> Any:  # noqa: ANN401 - any value
        """One value by its annotation."""
        try:
            return decode(value)
        except Exception as error:
            reason = " ".join(str(error).split())
            raise BadArguments(
                f"{self._what}: parameter '{name}' does not decode from variable '{variable}': {reason[:1000]}; "
                f"found {type(value).__name__} {_shown(value)}",
                f"{self._what}: parameter '{name}' does not decode from variable '{variable}'",
            ) from error

    def _absent(self, name: str, names: tuple[str, ...], variables: Mapping[str, Any]) -> str:
        """What is missing and what there is."""
        wanted = " or ".join(f"'{variable}'" for variable in names)
        there = ", ".join(sorted(map(str, variables))[:20]) or "none"
        return (
            f"{self._what}: parameter '{name}' expects a variable {wanted}, found none of that name; there are: {there}"
        )


def camel_case(name: str) -> str:
    """``order_id`` as ``orderId``."""
    head, *rest = name.split("_")
    return head + "".join(part[:1].upper() + part[1:] for part in rest) if head else name


def _hints(function: Callable[..., Any], what: str) -> dict[str, Any]:
    """The annotations, resolved; names of an enclosing function count. Raises Misconfigured."""
    try:
        return typing.get_type_hints(function, localns=_enclosing(function), include_extras=True)
    except NameError as error:
        raise Misconfigured(
            f"{what}: an annotation cannot be resolved: {error}; define it at the module's top"
        ) from error


def _enclosing(function: Callable[..., Any]) -> dict[str, Any]:
    """The names that a function takes from the one around it, as far as they have a value by now."""
    if not inspect.isfunction(function):
        return {}
    names: dict[str, Any] = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        with contextlib.suppress(ValueError):  # not assigned yet: it is by the time that the handler runs
            names[name] = cell.cell_contents
    return names


def _is_job(hint: Any) -> bool:  # noqa: ANN401 - any annotation
    """Whether an annotation asks for the context."""
    return isinstance(hint, type) and issubclass(hint, Job)


def _allows_none(hint: Any) -> bool:  # noqa: ANN401 - any annotation
    """``X | None``: a missing variable is null."""
    return typing.get_origin(hint) in {typing.Union, types.UnionType} and type(None) in typing.get_args(hint)


def _decoder(hint: Any) -> Decoder:  # noqa: ANN401 - any annotation
    """How a value becomes what the annotation says; never the engine's own object."""
    if hint is Any or hint is inspect.Parameter.empty or hint is object:
        return copy_json
    if hint in {str, bool}:
        return _exactly(hint)
    if _has_pydantic(hint):
        return _pydantic_decoder(hint)
    convert = msgspec.convert

    def decode(value: Any) -> Any:  # noqa: ANN401 - any value
        return convert(value if type(value) in _SCALARS else copy_json(value), hint)

    return decode


def _exactly(wanted: type) -> Decoder:
    """The value itself if it has the type; msgspec's message otherwise."""

    def decode(value: Any) -> Any:  # noqa: ANN401 - any value
        if isinstance(value, wanted):  # JSON gives no subclasses of str or bool
            return value
        return cast("object", msgspec.convert(value, wanted))

    return decode


def _has_pydantic(hint: Any) -> bool:  # noqa: ANN401 - any annotation
    """Whether a pydantic model stands anywhere in an annotation."""
    if hasattr(hint, "__pydantic_validator__") or hasattr(hint, "__pydantic_core_schema__"):
        return True
    return any(_has_pydantic(argument) for argument in typing.get_args(hint))


def _pydantic_decoder(hint: Any) -> Decoder:  # noqa: ANN401 - any annotation
    """Through pydantic, which is there if its models are."""
    from pydantic import TypeAdapter  # noqa: PLC0415 - an optional guest

    validate = cast("Decoder", TypeAdapter(hint).validate_python)
    return lambda value: validate(copy_json(value))


def _shown(value: Any) -> str:  # noqa: ANN401 - any value
    """A value for a message, bounded."""
    text = repr(value)
    return text if len(text) <= 100 else text[:97] + "..."
