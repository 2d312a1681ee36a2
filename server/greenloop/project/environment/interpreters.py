"""Finds the Python that runs a project's tests, mostly by reading files.

Never executes anything in the repository. A virtual environment is described completely by its pyvenv.cfg. Only an
interpreter outside the workspace that comes from the user's own settings or environment is queried (`-I -c`), once per
process.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path, PurePosixPath

from greenloop.core.errors import CannotVerifyError
from greenloop.core.text.encoding import read_or_empty
from greenloop.project.environment import editable_installs
from greenloop.project.environment.environment_hints import (
    HERE,
    environment_hints,
    environments_of_runners,
    requires_python,
)
from greenloop.project.environment.programs import safe_path
from greenloop.project.settings import Settings
from greenloop_sandbox import Environment

OLDEST = (3, 9)
_ASK = (
    "import json, sys; print(json.dumps([getattr(sys, '_base_executable', None) or sys.executable,"
    " sys.prefix, sys.base_prefix, list(sys.version_info[:2]), sys.executable]))"
)
_WINDOWS = os.name == "nt"


def find_environment(
    root: Path,
    settings: Settings,
    *,
    environ: Mapping[str, str] | None = None,
    tests: Sequence[str] = (),
    own: Path = Path(sys.prefix),
) -> Environment:
    """The environment of this project: setting `interpreter`, `.venv` or `venv` in the root, VIRTUAL_ENV, `.venv` of
    the repository around it, that of PDM, Poetry, Pipenv, pixi, direnv, conda, Hatch, tox or nox, else `python3` on
    PATH. Where all these `tests` are of one member of a workspace with an environment of its own, that is it. `own` is
    the environment of greenloop itself.

    Raises `CannotVerifyError` if there is none, if the chosen one is broken, or if it is older than Python 3.9.
    """
    chosen = _find(root, settings, os.environ if environ is None else environ, common_folder(tests), own)
    if chosen.version < OLDEST:
        raise CannotVerifyError(
            f"{chosen.executable} is Python %d.%d; greenloop runs tests with Python 3.9 or newer." % chosen.version,
            remedy="Set 'interpreter' to a newer Python, or create .venv with one.",
        )
    site_folders = site_packages(chosen.prefix, chosen.version)
    return replace(
        chosen,
        extra=editable_installs.source_folders(site_folders, visible=(root, chosen.prefix, chosen.base, Path("/usr"))),
    )


def describe_environment(environment: Environment, root: Path) -> str:
    """Returns its folder, or the program of a system's Python, and who chose it: ".tox/py311 (Python 3.11, tox)"."""
    path = environment.executable if environment.prefix == environment.base else environment.prefix
    shown = path.relative_to(root) if path.is_relative_to(root) else path
    version = ".".join(map(str, environment.version))
    chosen = "" if str(shown) == environment.source else f", {environment.source}"
    return f"{shown} (Python {version}{chosen})"


def describe_disagreement(environment: Environment, root: Path, environ: Mapping[str, str]) -> str:
    """A sentence where the project, the active or another environment has another Python or packages; else ""."""
    wanted = requires_python(root)
    version = ".".join(map(str, environment.version))
    if wanted is not None and not any(wanted.contains(f"{version}.{patch}") for patch in (0, 99)):
        return f"pyproject.toml asks for Python {wanted}, and the tests run with {version}: set 'interpreter'"
    active = Path(environ.get("VIRTUAL_ENV") or environment.prefix)
    if environment.source == "setting":
        return ""
    is_other = active.is_dir() and environment.prefix.is_dir() and not active.samefile(environment.prefix)
    if is_other and active.resolve() != Path(sys.prefix).resolve():
        return f"another environment is active, {active}: to use it, set 'interpreter'"
    others = [each for each in _of_runners(root, environ) if each.prefix != environment.prefix]
    same = [each for each in others if each.version == environment.version]
    for other in same or others[:1]:
        here, there = _packages(environment), _packages(other)
        what = [f"{name} {there[name]}, not {old}" for name, old in here.items() if there.get(name, old) != old]
        what += ["pytest"] * (other.has_pytest > environment.has_pytest)
        if what := what if same else ["another Python"]:
            return f"{describe_environment(other, root)} has {min(what)}: to use it, set 'interpreter'"
    return ""


def _packages(environment: Environment) -> dict[str, str]:
    """Versions of the packages of an environment."""
    files = (each for folder in site_packages(environment.prefix, environment.version) for each in folder.iterdir())
    return dict(each.stem.split("-", 1) for each in files if each.suffix == ".dist-info" and "-" in each.stem)


def common_folder(tests: Sequence[str]) -> PurePosixPath:
    """The folder below which all of these tests are."""
    paths = [PurePosixPath(test.partition("::")[0]) for test in tests]
    folders = [path.parent if path.suffix else path for path in paths]
    if not folders or any(folder.is_absolute() or ".." in folder.parts for folder in folders):
        return HERE
    return PurePosixPath(os.path.commonpath(folders) or ".")


def _find(root: Path, settings: Settings, environ: Mapping[str, str], member: PurePosixPath, own: Path) -> Environment:
    if settings.interpreter:
        return _find_named(settings.interpreter, root, environ)
    hinted = (
        _read_folder(_without_dots(folder), source, root)
        for folder, source in environment_hints(root, environ, member)
        if not (source == "VIRTUAL_ENV" and _is_hook_environment(folder, own))
    )
    found = next(filter(None, hinted), None) or next(_of_runners(root, environ), None)
    return found or _find_system(root, environ, own)


def _of_runners(root: Path, environ: Mapping[str, str]) -> Iterator[Environment]:
    """The whole environments with pytest that runners of tests have made."""
    for folder, source in environments_of_runners(root, environ):
        try:
            found = _read_folder(folder, source, root)
        except CannotVerifyError:
            continue
        if found is not None and found.has_pytest and found.version >= OLDEST:
            yield found


def _read_folder(folder: Path, source: str, root: Path) -> Environment | None:
    """The virtual or conda environment in a folder."""
    if (folder / "pyvenv.cfg").is_file():
        return _read_virtual(folder, source, root)
    return _read_conda(folder, source) if (folder / "conda-meta").is_dir() else None


def _find_named(name: str, root: Path, environ: Mapping[str, str]) -> Environment:
    path = Path(name).expanduser()
    if len(path.parts) == 1 and not (root / path).exists():
        program = shutil.which(name, path=safe_path(root, environ))
        if program is None:
            raise CannotVerifyError(f"The setting 'interpreter' is '{name}', which is not on PATH.")
        path = Path(program)
    path = _without_dots(root / path)
    folder = path if path.is_dir() else path.parent.parent
    if not path.exists():
        raise CannotVerifyError(
            f"The setting 'interpreter' is {path}, which does not exist.",
            remedy="Set it to a Python executable or the folder of a virtual environment.",
        )
    return _read_folder(folder, "setting", root) or _query_environment(path, "setting", root)


def _without_dots(path: Path) -> Path:
    """The absolute path without `..`, which a sandbox that shows only some folders could not follow.

    Links stay: the Python of a virtual environment is one, and knows by its own place what is installed.
    """
    plain = Path(os.path.abspath(path))  # noqa: PTH100 - `resolve` would follow links
    if ".." not in path.parts or (path.exists() and plain.exists() and plain.samefile(path)):
        return plain
    return path.parent.resolve() / path.name  # the `..` is that of a link's target


# -- read, never run ------------------------------------------------------------------------------------------------


def _read_virtual(folder: Path, source: str, root: Path) -> Environment:
    pairs = (row.partition("=") for row in read_or_empty(folder / "pyvenv.cfg").splitlines() if "=" in row)
    config = {key.strip().lower(): value.strip() for key, _equals, value in pairs}
    names = ("Scripts/python.exe",) if _WINDOWS else ("bin/python", "bin/python3")
    executable = next((folder / name for name in names if (folder / name).exists()), None)
    version = re.match(r"(\d+)\.(\d+)", config.get("version_info") or config.get("version") or "")
    remedy = f"Recreate it: rm -r {folder}; python3 -m venv {folder}; then install the project's packages."
    if executable is None or version is None or not config.get("home"):
        raise CannotVerifyError(f"The virtual environment {folder} is incomplete.", remedy=remedy)
    version_numbers = (int(version[1]), int(version[2]))
    base = _base(Path(config["home"]), version_numbers)
    if base is None or base == base.parent or base == Path.home():
        raise CannotVerifyError(
            f"The Python {config['home']} of the environment {folder} does not exist any more.", remedy=remedy
        )
    environment = _describe(
        executable, folder if folder.is_absolute() else root / folder, base, version_numbers, source
    )
    if config.get("include-system-site-packages", "").lower() == "true" and not environment.has_pytest:
        environment = replace(environment, has_pytest=has_package(base, version_numbers, "pytest"))
    return environment


def _base(home: Path, version: tuple[int, int]) -> Path | None:
    """The prefix of the installation whose executables are in `home`: the folder with the standard library."""
    candidates = [home if _WINDOWS else home.parent]
    own = f"python{version[0]}.{version[1]}"
    names = (own, "python3", "python")
    candidates += [(home / name).resolve().parent.parent for name in names if (home / name).exists()]
    libraries = (f"lib/{own}", f"lib64/{own}", "Lib")
    return next((each for each in candidates if any((each / lib / "os.py").is_file() for lib in libraries)), None)


def _read_conda(prefix: Path, source: str) -> Environment | None:
    matches = [
        re.fullmatch(r"python-(\d+)\.(\d+)\..*\.json", record_file.name)
        for record_file in (prefix / "conda-meta").glob("python-*.json")
    ]
    match = next((record for record in matches if record), None)
    executable = prefix / ("python.exe" if _WINDOWS else "bin/python")
    if match is None or not executable.exists():
        return None
    return _describe(executable, prefix, prefix, (int(match[1]), int(match[2])), source)


def _describe(executable: Path, prefix: Path, base: Path, version: tuple[int, int], source: str) -> Environment:
    return Environment(
        executable=executable,
        prefix=prefix,
        base=base,
        version=version,
        source=source,
        has_pytest=has_package(prefix, version, "pytest"),
    )


def site_packages(prefix: Path, version: tuple[int, int]) -> list[Path]:
    """The existing folders below a prefix where packages are installed."""
    name = f"python{version[0]}.{version[1]}"
    subfolders = [f"lib/{name}/site-packages", f"lib64/{name}/site-packages", "Lib/site-packages"]
    if prefix == Path("/usr"):
        subfolders += [
            f"local/lib/{name}/dist-packages",
            "lib/python3/dist-packages",
            f"local/lib/{name}/site-packages",
        ]
    return [prefix / folder for folder in subfolders if (prefix / folder).is_dir()]


def has_package(prefix: Path, version: tuple[int, int], name: str) -> bool:
    """Is a package installed below this prefix?"""
    return any((folder / name / "__init__.py").is_file() for folder in site_packages(prefix, version))


def has_other_module(environment: Environment, name: str, data: bytes) -> bool:
    """Is a module or package of this name installed, other than one with this content?

    A project that is installed from the workspace itself has the same content there.
    """
    for folder in site_packages(environment.prefix, environment.version):
        for file in (folder / name / "__init__.py", folder / f"{name}.py"):
            if file.is_file():
                return file.read_bytes() != data
        if any(folder.glob(f"{name}.*.so")) or any(folder.glob(f"{name}.*.pyd")):
            return True
    return False


# -- the system's, queried ------------------------------------------------------------------------------------------


def _find_system(root: Path, environ: Mapping[str, str], own: Path) -> Environment:
    path = safe_path(root, environ)
    for name in ("python3", "python"):
        for folder in path.split(os.pathsep):
            found = shutil.which(name, path=folder)
            program = _without_dots(Path(found)) if found else None
            if program is None or _is_tool_environment(program, own):
                continue
            prefix = program.parent.parent
            if (prefix / "pyvenv.cfg").is_file():
                return _read_virtual(prefix, "PATH", root)
            return _query_environment(program, "PATH", root)
    raise CannotVerifyError(
        "No Python was found that could run this project's tests.",
        remedy=f"Create one: python3 -m venv {root / '.venv'}, or set 'interpreter' to one.",
    )


def _is_tool_environment(executable: Path, own: Path) -> bool:
    """Is it the private environment that pipx, uvx or pre-commit made for greenloop (the latter two put it on PATH)?"""
    prefix = executable.parent.parent
    if _is_hook_environment(prefix, own):
        return True
    is_private = {"pipx", "uv"} & set(prefix.parts) or (prefix / "uv-receipt.toml").exists()
    return bool(is_private) and prefix.resolve() == own.resolve()


def _is_hook_environment(prefix: Path, own: Path) -> bool:
    """Did pre-commit make it for greenloop? It is the active one while the hook runs, though nobody activated it."""
    return prefix.name.startswith("py_env-") and prefix.resolve() == own.resolve()


def _query_environment(executable: Path, source: str, root: Path) -> Environment:
    if executable.resolve().is_relative_to(root.resolve()) or executable.is_relative_to(root):
        raise CannotVerifyError(
            f"{executable} is inside the workspace but not in a virtual environment, so greenloop does not run it.",
            remedy="Set 'interpreter' to a Python outside the workspace or to a virtual environment.",
        )
    answer = _query_interpreter(str(executable))
    if answer is None:
        raise CannotVerifyError(
            f"{executable} does not run as a Python interpreter.",
            remedy="Set 'interpreter' to another Python.",
        )
    own_executable, prefix, base, version = answer
    return _describe(Path(own_executable), Path(prefix), Path(base), version, source)


@cache
def _query_interpreter(executable: str) -> tuple[str, str, str, tuple[int, int]] | None:
    """Queries an interpreter: (executable behind shims, prefix, base prefix, version); None if it does not run."""
    try:
        completed = subprocess.run(
            [executable, "-I", "-c", _ASK],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=20,
            cwd=tempfile.gettempdir(),
            check=True,
        )
        base_executable, prefix, base, version, own_executable = json.loads(completed.stdout)
    except (OSError, subprocess.SubprocessError, ValueError):
        return None
    return (own_executable if prefix != base else base_executable), prefix, base, (int(version[0]), int(version[1]))
