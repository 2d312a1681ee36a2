"""The user's project on disk: its root; trusted, secret and masked files; test files by import.

Runs nothing from the workspace. Paths inside it are relative to the root and use `/`.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Container, Mapping, Sequence
from pathlib import Path, PurePosixPath

from greenloop.core.errors import UsageError
from greenloop.project import sources
from greenloop.project.environment.environment_hints import folders_around
from greenloop.project.environment.interpreters import find_environment as find_environment  # noqa: PLC0414 - part of the interface
from greenloop.project.sources import is_trusted as is_trusted  # noqa: PLC0414
from greenloop.project.sources import module_name as module_name  # noqa: PLC0414
from greenloop.project.sources import python_files as python_files  # noqa: PLC0414
from greenloop.project.sources import read_bytes as read_bytes  # noqa: PLC0414

Import = tuple[str, tuple[str, ...], int]  # of `sources.find_imports`: module, names, line
FindImports = Callable[[str, str], Sequence[Import]]

_MARKS = ("pyproject.toml", "pytest.ini", ".pytest.ini", "setup.cfg", "tox.ini", "setup.py", "manage.py", ".git")
# Code of other members, in settings: a source of uv, or a folder outside of the project.
_OTHERS = re.compile(r"""\bworkspace\s*=\s*true\b|["'](\.\./[^"']*)["']""")


def widen(root: Path) -> Path:
    """The repository or uv workspace around a member that imports from other members, else the folder itself."""
    around = [root, *folders_around(root)][-1]
    return around if not _is_too_broad(around) and _imports_from_others(root) else root


def _imports_from_others(member: Path) -> bool:
    text = (sources.read_text(member, "pyproject.toml") or "") + repr(sources.pytest_option(member, "pythonpath"))
    return any(not each[1] or (member / each[1]).is_dir() for each in _OTHERS.finditer(text))


def find_start(root: Path, tests: PurePosixPath) -> str:
    """The folder below the root where pytest starts for these tests: a Django project's, or one that `widen` is for."""
    for each in (tests, *tests.parents):
        if any((root / each / mark).exists() for mark in _MARKS):
            is_own = (root / each / "manage.py").exists() or widen(root / each) != root / each
            return str(each) if is_own and each != PurePosixPath() else ""
    return ""


def find_root(start: Path) -> Path:
    """The nearest folder upwards with a project file (pyproject.toml, pytest.ini, .git, ...), else the start's own.

    It is that of the whole workspace where this project imports from other members.
    Raises `UsageError` if that is `/` or the home folder: tests can read everything in the workspace.
    """
    start = Path(os.path.abspath(start))  # noqa: PTH100 - links stay: the user's own spelling is shown and compared
    folder = start if start.is_dir() else start.parent
    if not folder.is_dir():
        raise UsageError(f"There is no folder {folder}.")
    for candidate in (folder, *folder.parents):
        # A marker in the home folder (dotfiles under git) does not make all of it a project.
        if not _is_too_broad(candidate) and any((candidate / mark).exists() for mark in _MARKS):
            return widen(candidate)
    return check_root(folder)


def check_root(root: Path) -> Path:
    """The root as an absolute path. Raises `UsageError` if it is not a folder, or is `/` or the home folder."""
    root = Path(os.path.abspath(root))  # noqa: PTH100 - links stay, as above
    if not root.is_dir():
        raise UsageError(f"{root} is not a folder.")
    if _is_too_broad(root):
        raise UsageError(
            f"{root} is too broad to be a workspace: tests could read everything in it.",
            remedy="Go to the project's folder, or give it a pyproject.toml.",
        )
    return root


def _is_too_broad(folder: Path) -> bool:
    real = folder.resolve()
    return real == real.parent or real == Path.home().resolve()


# -- trusted --------------------------------------------------------------------------------------------------------


def trusted_files(root: Path, patterns: Sequence[str] | None = None) -> list[str]:
    """The tests, conftests and configuration files of the workspace, sorted. `patterns` is pytest's `python_files`."""
    patterns = sources.file_patterns(root) if patterns is None else patterns
    paths = [path for path in python_files(root) if is_trusted(path, patterns)]
    paths += [name for name in sources.CONFIGURATION if (root / name).is_file()]
    return sorted(paths)


def fingerprint(
    root: Path, buffers: Mapping[str, bytes] | None = None, *, patterns: Sequence[str] | None = None
) -> str:
    """A hash over names and contents of all trusted files, unsaved texts first; a new hash makes the baseline stale."""
    patterns = sources.file_patterns(root) if patterns is None else patterns
    digest = hashlib.sha256()
    unsaved = {path for path in buffers or () if is_trusted(path, patterns)}
    for path in sorted({*trusted_files(root, patterns), *unsaved}):
        data = read_bytes(root, path, buffers) or b""
        digest.update(f"{path}\0{len(data)}\0".encode("utf-8", "surrogateescape"))
        digest.update(data)
    return digest.hexdigest()


# -- secret ---------------------------------------------------------------------------------------------------------

_SECRET_NAME = re.compile(r"(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?)$", re.IGNORECASE)
_ASSIGNMENT = re.compile(r"^[ \t]*(?:export[ \t]+)?([A-Za-z_][\w.]*)[ \t]*[=:][ \t]*(.*?)[ \t]*$", re.MULTILINE)
_SHORTEST = 6  # Shorter values occur everywhere; masking them would garble every message.
_MOST_SECRETS = 200


def find_secrets(root: Path, environ: Mapping[str, str]) -> list[str]:
    """Secret values, longest first: from `.env*` files and from variables named like secrets.

    They are redacted from everything that is sent to a model.
    """
    values = {value for name, value in environ.items() if _SECRET_NAME.search(name)}
    for file in sorted(root.glob(".env*"))[:20]:
        data = read_bytes(root, file.name) if file.is_file() else None
        for name, value in _ASSIGNMENT.findall((data or b"").decode("utf-8", "replace")):
            value = _unquote(value)  # noqa: PLW2901
            if _SECRET_NAME.search(name) or _looks_random(value):
                values.add(value)
    return sorted((value for value in values if len(value) >= _SHORTEST), key=len, reverse=True)[:_MOST_SECRETS]


def _unquote(value: str) -> str:
    if len(value) >= 2 and value[0] == value[-1] and value[0] in "'\"":
        return value[1:-1]
    return re.split(r"\s#", value)[0].strip()


def _looks_random(value: str) -> bool:
    """Does it mix letters and digits, or contain a login? Host names and switches in .env files are not secrets."""
    mixed = any(char.isdigit() for char in value) and any(char.isalpha() for char in value)
    return (len(value) >= 8 and mixed) or bool(re.search(r"://[^/\s]+:[^/\s]+@", value))


# -- imports --------------------------------------------------------------------------------------------------------


def resolve_module(name: str, root: Path, from_path: str) -> str:
    """The file that `import name` means in `from_path`, or the one to create so that the import finds it.

    A new module goes into its package's folder; a top-level one goes to the folder of the modules that this test
    already imports, else to the test's own folder if it has modules, else to `src/`, else to the root.
    """
    existing = sources.find_module(name, root, from_path)
    if existing is not None:
        return existing
    parent, _dot, last = name.rpartition(".")
    if parent:
        package = sources.find_module(parent, root, from_path)
        if package is not None and package.endswith("/__init__.py"):
            return f"{package.removesuffix('__init__.py')}{last}.py"
        for base in sources.import_roots(root, from_path):
            folder = f"{base}/{parent.replace('.', '/')}" if base else parent.replace(".", "/")
            if (root / folder).is_dir():
                return f"{folder}/{last}.py"
        installed_from = sources.find_off_path(name.partition(".")[0], root, from_path)
        if installed_from is not None:
            return f"{installed_from}/{name.replace('.', '/')}.py"
    base = _base_for_new(root, from_path)
    return f"{base}/{name.replace('.', '/')}.py" if base else f"{name.replace('.', '/')}.py"


def _base_for_new(root: Path, from_path: str) -> str:
    for option in sources.pytest_option(root, "pythonpath"):
        return "" if option in {".", "./"} else option.strip("/").removeprefix("./")
    text = sources.read_text(root, from_path) or ""
    for module, _names, _line in sources.find_imports(text, from_path):
        module_path = sources.find_module(module.partition(".")[0], root, from_path)
        if module_path is not None and not is_trusted(module_path):
            parent = PurePosixPath(module_path).parent
            parent = parent.parent if module_path.endswith("__init__.py") else parent
            return "" if str(parent) == "." else str(parent)
    folder = PurePosixPath(from_path).parent
    if str(folder) == ".":
        return ""
    siblings = [file.name for file in sorted((root / folder).glob("*.py"))]
    if not is_trusted(f"{folder}/module.py") or any(
        not is_trusted(name) and name != "__init__.py" for name in siblings
    ):
        return str(folder)
    return "src" if (root / "src").is_dir() else ""


def importing_tests(
    root: Path,
    module_path: str,
    patterns: Sequence[str] | None = None,
    *,
    buffers: Mapping[str, bytes] | None = None,
    find_imports: FindImports = sources.find_imports,
) -> list[str]:
    """The test files that import the module by name, from its package, or through a package that re-exports it.

    Unsaved texts override the disk, and unsaved new files count too. Who asks for several modules may keep what
    `find_imports` found. Blocking.
    """
    patterns = sources.file_patterns(root) if patterns is None else patterns
    unsaved = buffers or {}
    importable = {module_path, *_reexporting_files(root, module_path)}
    module_words = {PurePosixPath(path).stem for path in importable} | {
        PurePosixPath(path).parent.name for path in importable
    }
    mention = re.compile(
        "|".join(rf"\b{re.escape(word)}\b" for word in sorted(module_words - {"", "__init__"})) or r"$^"
    )
    test_files = []
    for path in sorted({*python_files(root), *unsaved}):
        if not sources.is_test_file(path, patterns):
            continue
        text = sources.read_text(root, path, unsaved) or ""
        if not mention.search(text):
            continue
        # The last part of a module's name is that of its file or folder.
        found = find_imports(text, path)
        imports = [each for each in found if not module_words.isdisjoint({each[0].rpartition(".")[2], *each[1]})]
        if _imports_any(imports, path, root, importable, unsaved):
            test_files.append(path)
    return test_files


def _reexporting_files(root: Path, module_path: str) -> set[str]:
    """`__init__` files of enclosing packages that name the module."""
    init_files = set()
    module = PurePosixPath(module_path)
    name = module.parent.name if module.name == "__init__.py" else module.stem
    for folder in module.parents:
        init = f"{folder}/__init__.py"
        if init == module_path or str(folder) == ".":
            continue
        text = sources.read_text(root, init)
        if text is None:
            break
        if re.search(rf"\b{re.escape(name)}\b", text):
            init_files.add(init)
    return init_files


def _imports_any(
    imports: Sequence[Import], path: str, root: Path, importable: set[str], unsaved: Container[str]
) -> bool:
    for module, names, _line in imports:
        if sources.find_module(module, root, path, unsaved=unsaved) in importable:
            return True
        submodules = [f"{module}.{name}" for name in names if module]
        if any(sources.find_module(submodule, root, path, unsaved=unsaved) in importable for submodule in submodules):
            return True
    return False
