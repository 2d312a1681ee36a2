"""The files that live inside the wall (`sandbox/` of the repository), found from the host side.

In a wheel they lie in `greenloop/_sandbox`; an editable install and a checkout have them beside `server/`.
"""

from __future__ import annotations

import importlib.util
import marshal
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import ModuleType

from greenloop.core.errors import CannotVerify

_PACKAGE = Path(__file__).resolve().parent


def folder(package: Path = _PACKAGE) -> Path:
    """The folder with protocol.py, runner.py and their neighbours. Raises `CannotVerify` when it was not installed."""
    for place in (package / "_sandbox", package.parent.parent / "sandbox"):
        if (place / "protocol.py").is_file() and (place / "runner.py").is_file():
            return place
    raise CannotVerify(
        f"greenloop's own sandbox files are missing beside {package}.", remedy="Install greenloop again from its wheel."
    )


@cache
def protocol() -> ModuleType:
    """The module that both sides of the wall import; its functions are described in sandbox/protocol.py."""
    spec = importlib.util.spec_from_file_location("greenloop_sandbox_protocol", folder() / "protocol.py")
    if spec is None or spec.loader is None:
        raise CannotVerify(f"{folder() / 'protocol.py'} cannot be loaded.")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@cache
def sources() -> Mapping[str, bytes]:
    """Every Python file of the folder by name, as it must appear inside the wall."""
    return {path.name: path.read_bytes() for path in sorted(folder().glob("*.py"))}


@cache
def bundle(at: str) -> bytes:
    """The same files compiled, as they would be in the folder `at`: an interpreter of another version leaves it alone.

    Compiling them takes a cold sandbox a tenth of the time to its first result.
    """
    code = {
        name.removesuffix(".py"): compile(text, f"{at}/{name}", "exec", dont_inherit=True)
        for name, text in sources().items()
        if name != "runner.py"
    }
    return importlib.util.MAGIC_NUMBER + marshal.dumps(code)


@cache
def borrowed_packages() -> Mapping[str, Path]:
    """Greenloop's own pytest and what it needs, by file name: for interpreters that have no pytest."""
    found: dict[str, Path] = {}
    for name in ("pytest", "_pytest", "py", "pluggy", "iniconfig", "packaging", "pygments", "exceptiongroup", "tomli"):
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.origin is not None:
            path = Path(spec.origin)
            path = path.parent if path.name == "__init__.py" else path
            found[path.name] = path
            # pluggy asks for its own version, so the packages' metadata comes along.
            found.update({folder.name: folder for folder in path.parent.glob(f"{name}-*.dist-info")})
    return found
