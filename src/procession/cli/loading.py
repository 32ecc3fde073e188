"""``module:attribute`` to the Procession that it names; the working directory comes first on the path.

It imports the user's module, and so runs it; it changes nothing else.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
import traceback
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from procession.errors import Misconfigured

if TYPE_CHECKING:
    from procession.app import Procession

DEFAULT_ATTRIBUTE = "app"


def split(name: str) -> tuple[str, str]:
    """(module, attribute) of ``module:attribute``; the attribute is ``app`` if it is left out. Raises Misconfigured."""
    module, _, attribute = name.partition(":")
    if module.endswith(".py") or "/" in module:
        better = module.removesuffix(".py").strip("./").replace("/", ".")
        message = f"Expected an application as module:attribute, found a file; try '{better}:{attribute or 'app'}'"
        raise Misconfigured(message)
    if not all(part.isidentifier() for part in module.split(".")):
        message = f"Expected an application as module:attribute, such as orders:app, found '{name}'"
        raise Misconfigured(message)
    return module, attribute or DEFAULT_ATTRIBUTE


def load(name: str) -> Procession:
    """The application. Raises Misconfigured: no such module, it cannot be imported, or it has no such Procession."""
    from procession.app import Procession, SyncProcession  # noqa: PLC0415 - heavy

    module_name, attribute = split(name)
    module = _import(module_name)
    found: Any = module
    for part in attribute.split("."):
        if not hasattr(found, part):
            raise Misconfigured(_missing(module, attribute, Procession))
        found = getattr(found, part)
    if isinstance(found, SyncProcession):
        message = f"Expected '{name}' to be a Procession, found its synchronous face: name the Procession itself"
        raise Misconfigured(message)
    if not isinstance(found, Procession):
        message = f"Expected '{name}' to be a Procession, found {type(found).__name__}{_others(module, Procession)}"
        raise Misconfigured(message)
    return found


def folder(name: str) -> Path:
    """The folder that a module's topmost package or file stands in, found without importing it; else the current one.

    Raises Misconfigured.
    """
    _put_first()
    top = split(name)[0].partition(".")[0]
    importlib.invalidate_caches()
    spec = importlib.util.find_spec(top)
    if spec is not None and spec.submodule_search_locations:
        return Path(next(iter(spec.submodule_search_locations)))
    return Path(spec.origin).parent if spec is not None and spec.origin else Path.cwd()


def folder_of(app_name: str) -> Path:
    """The folder of the module itself, once it is loaded."""
    file = sys.modules[split(app_name)[0]].__file__
    return Path(file).parent if file else Path.cwd()


def _put_first() -> None:
    """Look in the working directory first, as ``python -m`` does."""
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)


def _import(name: str) -> ModuleType:
    """The module. Raises Misconfigured."""
    _put_first()
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not (name == error.name or name.startswith(f"{error.name}.")):
            raise Misconfigured(_failed(name, error)) from error
        message = f"Expected a module '{name}' in {Path.cwd()} or among the installed ones, found no '{error.name}'"
        raise Misconfigured(message) from error
    except Exception as error:
        raise Misconfigured(_failed(name, error)) from error


def _failed(name: str, error: Exception) -> str:
    """What happened while the module was imported, and where in the user's code."""
    where = ""
    if isinstance(error, SyntaxError):
        where = f" ({Path(error.filename or '?').name}, line {error.lineno})"
        return f"Importing '{name}' failed: {type(error).__name__}: {error.msg}{where}"
    here = str(Path.cwd())
    frames = traceback.extract_tb(error.__traceback__)
    mine = [frame for frame in frames if frame.filename.startswith(here)] or list(frames)
    if mine:
        where = f" ({Path(mine[-1].filename).name}, line {mine[-1].lineno}; --debug shows more)"
    return f"Importing '{name}' failed: {type(error).__name__}: {error}{where}"


def _missing(module: ModuleType, attribute: str, kind: type) -> str:
    """No such attribute, and what there is instead."""
    return (
        f"Expected a Procession called '{attribute}' in module '{module.__name__}', found none{_others(module, kind)}"
    )


def _others(module: ModuleType, kind: type) -> str:
    """The applications that the module does have."""
    names = [f"{module.__name__}:{name}" for name, found in vars(module).items() if isinstance(found, kind)]
    return f"; there is {', '.join(names)}" if names else ""
