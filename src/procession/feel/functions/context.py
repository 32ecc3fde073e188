"""Built-in functions on contexts. They make new contexts; none is changed."""

from collections.abc import Mapping

from procession.feel.functions.registry import builtin
from procession.feel.problems import Invalid
from procession.feel.values import feel, is_context, kind_of

Context = Mapping[str, object]


@builtin("get value(m: context, key: string)")
def get_value(context: Context, key: str) -> object:
    if key not in context:
        raise Invalid(f"the context has no member {key!r}", "no-member")
    return feel(context[key])


@builtin("get entries(m: context)")
def get_entries(context: Context) -> list[dict[str, object]]:
    return [{"key": key, "value": value} for key, value in context.items()]


@builtin("context(entries: list)")
def context_of_entries(entries: list[object]) -> dict[str, object]:
    result: dict[str, object] = {}
    for entry in map(feel, entries):
        key, value = _key_and_value(entry)
        if key in result:
            raise Invalid(f"the key {key!r} stands twice")
        result[key] = value
    return result


def _key_and_value(entry: object) -> tuple[str, object]:
    if not is_context(entry):
        raise Invalid(f"every entry must be a context with key and value, found a {kind_of(entry)}")
    members: Context = entry
    key = members.get("key")
    if not isinstance(key, str) or "value" not in members:
        raise Invalid("every entry must have a key that is a string, and a value")
    return key, members["value"]


@builtin("context put(context: context, key: string, value: any)")
def context_put(context: Context, key: str, value: object) -> dict[str, object]:
    return {**context, key: value}


@builtin("context put(context: context, keys: list, value: any)")
def context_put_deep(context: Context, keys: list[object], value: object) -> dict[str, object]:
    """Set a value in a context inside the context; contexts on the way there that do not exist are made."""
    if not keys or not isinstance(keys[0], str):
        raise Invalid("the keys must be a list of at least one string")
    first = keys[0]
    if len(keys) == 1:
        return {**context, first: value}
    inner: object = feel(context[first]) if first in context else dict[str, object]()
    if not is_context(inner):
        raise Invalid(f"the member {first!r} must be a context, found a {kind_of(inner)}")
    return {**context, first: context_put_deep(inner, keys[1:], value)}


@builtin("context merge(contexts: list)")
def context_merge(contexts: list[object]) -> dict[str, object]:
    """Of equal keys the last one wins."""
    result: dict[str, object] = {}
    for context in map(feel, contexts):
        if not is_context(context):
            raise Invalid(f"all items must be contexts, found a {kind_of(context)}")
        result.update(context)
    return result
