"""Reads the files that run inside the sandbox, from the host side: the folder `inside` of this package."""

from __future__ import annotations

import importlib.util
import marshal
from collections.abc import Mapping
from functools import cache
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType

from greenloop_sandbox.errors import CannotVerifyError

ROOMS = ("", "apart", "tracing")


def folder() -> Path:
    """The folder with protocol.py, supervisor.py and the others."""
    return Path(__file__).resolve().with_name("inside")


def protocol() -> ModuleType:
    """The module that host and sandbox both import; inside/protocol.py describes its functions."""
    return _load("protocol.py")


def filters() -> ModuleType:
    """The module that assembles filters of system calls, on both sides."""
    return _load("apart/apart_view.py")


def relay() -> ModuleType:
    """The module that passes connections to services on, on both sides."""
    return _load("relay.py")


@cache
def _load(path: str) -> ModuleType:
    file = folder() / path
    spec = importlib.util.spec_from_file_location(f"greenloop_sandbox_{file.stem}", file)
    if spec is None or spec.loader is None:
        raise CannotVerifyError(f"{file} cannot be loaded.")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@cache
def sources() -> Mapping[str, bytes]:
    """Every Python file of the folder and its rooms by name, as it must appear in the sandbox: all in one folder."""
    return {path.name: path.read_bytes() for path in _find_files(folder())}


@cache
def bundle(inside_folder: str, location: Path | None = None) -> bytes:
    """The same files compiled, as if in `inside_folder`; an interpreter of another version ignores the bundle.

    Compiling them inside would take a tenth of the time that a cold sandbox needs for its first result. Here Python's
    own bytecode files are used, as for every module.
    """
    files = [path for path in _find_files(location or folder()) if path.name != "supervisor.py"]
    code = {path.stem: _relocate(_compile(path), f"{inside_folder}/{path.name}") for path in files}
    return importlib.util.MAGIC_NUMBER + marshal.dumps(code)


def _find_files(location: Path) -> list[Path]:
    paths = [path for room in ROOMS for path in (location / room).glob("*.py")]
    return sorted(paths, key=lambda path: path.name)


def _compile(path: Path) -> CodeType:
    code = SourceFileLoader(path.stem, str(path)).get_code(path.stem)
    assert code is not None  # only modules without a source have none
    return code


def _relocate(code: CodeType, path: str) -> CodeType:
    """The code as if it had been compiled from this path, which its tracebacks show."""
    constants = [_relocate(each, path) if isinstance(each, CodeType) else each for each in code.co_consts]
    return code.replace(co_filename=path, co_consts=tuple(constants))


def variables(hash_seed: int) -> dict[str, str]:
    """The environment variables that tests have in every sandbox."""
    return {
        "HOME": "/tmp",  # noqa: S108 (the sandbox's own; the supervisor makes a fresh home below it for each run)
        "LANG": "C.UTF-8",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONNOUSERSITE": "1",
        "PYTHONHASHSEED": str(hash_seed % 4294967296),
        **dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS"), "1"),
    }


@cache
def borrowed_packages() -> Mapping[str, Path]:
    """Greenloop's own pytest and its dependencies, by file name, for interpreters without pytest."""
    packages: dict[str, Path] = {}
    for name in ("pytest", "_pytest", "py", "pluggy", "iniconfig", "packaging", "pygments", "exceptiongroup", "tomli"):
        if path := find_package(name):
            packages[path.name] = path
            # pluggy reads its own version, so the packages' metadata is included.
            packages.update({folder.name: folder for folder in path.parent.glob(f"{name}-*.dist-info")})
    return packages


def borrowed_files() -> dict[str, bytes]:
    """The sources and metadata of these packages, by path below a folder of packages."""
    return {
        file.relative_to(path.parent).as_posix(): file.read_bytes()
        for path in borrowed_packages().values()
        for file in ([path] if path.is_file() else path.rglob("*"))
        if file.is_file() and (file.suffix == ".py" or path.suffix == ".dist-info")
    }


def find_package(name: str) -> Path | None:
    """The file or folder of a package that is installed with greenloop."""
    spec = importlib.util.find_spec(name)
    path = Path(spec.origin) if spec is not None and spec.origin is not None else None
    return path.parent if path and path.name == "__init__.py" else path
