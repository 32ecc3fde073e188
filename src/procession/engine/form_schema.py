"""What is wrong with the components of a form, as far as whoever shows it would refuse the whole of it.

The rules are those of form-js' importer: the types that it knows, ids and places of values that two components share.
How a component looks, and what its expressions say, is not judged here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, cast

KEYED: Final = frozenset(
    (
        *("checkbox", "checklist", "datetime", "expression", "filepicker", "number", "radio", "select", "taglist"),
        *("textarea", "textfield"),
    )
)
PLACES: Final = frozenset({"group", "dynamiclist"})  # which hold components, below a path of their own
SHOWN: Final = frozenset(
    ("button", "documentPreview", "html", "iframe", "image", "separator", "spacer", "table", "text")
)
TYPES: Final = KEYED | PLACES | SHOWN
DEPTH_MAX: Final = 50  # of components within components
PROBLEMS_MAX: Final = 20

Path = tuple[str, ...]


def problems_of(components: list[object]) -> list[str]:
    """What is wrong, at most PROBLEMS_MAX of it; empty where nothing is."""
    found: list[str] = []
    ids: dict[str, str] = {}
    taken: dict[Path, str] = {}  # where components keep their values
    within: dict[Path, str] = {}  # above these places
    for problem in _walk(components, "components", (), 1):
        if isinstance(problem, str):
            found.append(problem)
        else:
            place, component, path = problem
            found += _shared_id(place, component, ids)
            found += _shared_path(place, component, path, taken, within)
        if len(found) >= PROBLEMS_MAX:
            break
    return found[:PROBLEMS_MAX]


def _walk(
    components: list[object], place: str, above: Path, depth: int
) -> Iterator[str | tuple[str, dict[str, Any], Path]]:
    """Every component with its place in the file and the path above it, or what is wrong where it should stand."""
    for index, each in enumerate(components):
        here = f"{place}[{index}]"
        if not isinstance(each, dict):
            yield f"expected {here} to be a component, found {type(each).__name__}"
            continue
        component = cast("dict[str, Any]", each)
        kind = component.get("type")
        if kind not in TYPES:
            yield f"expected {here}{_named(component)} to have a type that forms know, found {kind!r}"
            continue
        yield here, component, above
        inner = component.get("components")
        if kind not in PLACES or inner is None:
            continue
        if not isinstance(inner, list):
            yield f"expected the components of {here} to be a list, found {type(inner).__name__}"
        elif depth >= DEPTH_MAX:
            yield f"expected components at most {DEPTH_MAX} deep, found more in {here}"
        else:
            below = (*above, *_segments(component.get("path")))
            yield from _walk(cast("list[object]", inner), f"{here}.components", below, depth + 1)


def _shared_id(place: str, component: dict[str, Any], ids: dict[str, str]) -> list[str]:
    """An id that another component has."""
    own = component.get("id")
    if not isinstance(own, str) or not own:
        return []
    other = ids.setdefault(own, place)
    return [] if other == place else [f"expected ids to differ, found '{own}' at {other} and at {place}"]


def _shared_path(
    place: str, component: dict[str, Any], above: Path, taken: dict[Path, str], within: dict[Path, str]
) -> list[str]:
    """A value that is kept where another one is, or within it."""
    segments = _segments(component.get("key"))
    if component["type"] not in KEYED or not segments:
        return []
    path = (*above, *segments)
    parts = [path[:length] for length in range(1, len(path) + 1)]
    other = next((taken[part] for part in parts if part in taken), None) or within.get(path)
    taken.setdefault(path, place)
    for part in parts[:-1]:
        within.setdefault(part, place)
    if other is None:
        return []
    return [f"expected components to keep their values apart, found '{'.'.join(path)}' at {other} and at {place}"]


def _segments(key: object) -> Path:
    return tuple(key.split(".")) if isinstance(key, str) and key else ()


def _named(component: dict[str, Any]) -> str:
    name = component.get("key") or component.get("id") or component.get("label")
    return f" ('{str(name)[:60]}')" if name else ""
