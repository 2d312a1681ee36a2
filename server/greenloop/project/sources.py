"""Python files of a workspace: lists, classifies and reads them. Never writes or runs them.

Paths are relative to the workspace root and use `/`.
"""

from __future__ import annotations

import ast
import codecs
import configparser
import io
import os
import re
import tokenize
import tomllib
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from fnmatch import fnmatch
from functools import lru_cache
from pathlib import Path, PurePosixPath

from greenloop.core.python.ast_source import UNPARSABLE, parse_module_strictly, statement_blocks
from greenloop_sandbox.pytest_files import CONFIGURATION as CONFIGURATION  # noqa: PLC0414

ReadText = Callable[[str], str | None]  # the text of a workspace file, if there is one

MOST_FILES = 20_000
MOST_BYTES = 5 << 20
TEST_FILES = ("test_*.py", "*_test.py")
DJANGO_TEST_FILES = ("test*.py", "*_test.py")  # `manage.py test` looks into the first, pytest-django into both

_SKIPPED = {"node_modules", "__pycache__", "build", "dist", "site-packages", "venv", "env", "virtualenv"}
_NEVER = {"setup.py", "noxfile.py", "conftest.py", "sitecustomize.py", "usercustomize.py", *CONFIGURATION}


def decode(data: bytes) -> str:
    """Decodes a Python file by its BOM and coding line (default UTF-8); undecodable bytes become U+FFFD."""
    try:
        encoding, _rows = tokenize.detect_encoding(io.BytesIO(data).readline)
    except SyntaxError:
        encoding = "utf-8-sig" if data.startswith(codecs.BOM_UTF8) else "utf-8"
    return data.decode(encoding, "replace")


def read_bytes(root: Path, path: str, buffers: Mapping[str, bytes] | None = None) -> bytes | None:
    """The bytes of a workspace file, unsaved text first; None if it is missing, outside, too large or not a file."""
    if buffers and path in buffers:
        return buffers[path]
    file = root / path
    try:
        if not file.resolve().is_relative_to(root.resolve()) or not file.is_file() or file.stat().st_size > MOST_BYTES:
            return None
        return file.read_bytes()
    except OSError:
        return None


def read_text(root: Path, path: str, buffers: Mapping[str, bytes] | None = None) -> str | None:
    """The decoded text of a workspace file, or None."""
    data = read_bytes(root, path, buffers)
    return None if data is None else decode(data)


def python_files(root: Path, *, most: int = MOST_FILES) -> list[str]:
    """Every Python file that belongs to the project, sorted; links out of the root are not followed."""
    return project_files(root, ".py", most=most)


def list_test_files(root: Path) -> list[str]:
    """The project's test files, as its pytest is configured, sorted."""
    patterns = file_patterns(root)
    return [path for path in python_files(root) if is_test_file(path, patterns)]


def project_files(root: Path, suffix: str = "", *, most: int = MOST_FILES) -> list[str]:
    """Every file with this end of its name that belongs to the project, as `python_files`."""
    return sorted(_walk(root, suffix, most))


def _walk(root: Path, suffix: str, limit: int) -> Iterator[str]:
    remaining = limit
    pending = [(root, "")]
    while pending:
        folder, prefix = pending.pop()
        try:
            entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
        except OSError:
            continue
        if prefix and any(entry.name == "pyvenv.cfg" for entry in entries):
            continue
        for entry in entries:
            if entry.name.startswith("."):
                continue
            if entry.is_dir(follow_symlinks=False):
                if entry.name not in _SKIPPED and not entry.name.endswith(".egg-info"):
                    pending.append((Path(entry.path), f"{prefix}{entry.name}/"))
            elif entry.name.endswith(suffix) and (not entry.is_symlink() or _inside(Path(entry.path), root)):
                yield prefix + entry.name
                remaining -= 1
                if remaining <= 0:
                    return


def is_project_path(root: Path, path: str) -> bool:
    """May the project have a Python file of this path? Not in an environment, a build or a hidden folder."""
    folders = PurePosixPath(path).parts[:-1]
    return not any(
        part.startswith(".") or part in _SKIPPED or part.endswith(".egg-info") for part in folders
    ) and not any((root.joinpath(*folders[: depth + 1]) / "pyvenv.cfg").exists() for depth in range(len(folders)))


def _inside(path: Path, root: Path) -> bool:
    try:
        return path.is_file() and path.resolve().is_relative_to(root.resolve())  # most paths are of no file
    except OSError:
        return False


# -- purpose of a file ----------------------------------------------------------------------------------------------


def is_test_file(path: str, patterns: Sequence[str] | None = None) -> bool:
    """Does pytest collect the file? `patterns` is pytest's `python_files` (default: `test_*.py`, `*_test.py`)."""
    pure = PurePosixPath(path)
    if pure.suffix != ".py":
        return False
    return any(matches(pure, pattern) for pattern in (TEST_FILES if patterns is None else patterns))


def matches(path: PurePosixPath, pattern: str) -> bool:
    """As in pytest: a pattern with a slash is matched against the whole path, any other against the name."""
    return fnmatch(str(path), f"*{pattern}") if "/" in pattern else fnmatch(path.name, pattern)


def is_shared_setup(path: str) -> bool:
    """Is it a file that pytest, an installer or Python itself runs? Tests do not specify its functions."""
    return PurePosixPath(path).name in _NEVER


def is_trusted(path: str, patterns: Sequence[str] | None = None) -> bool:
    """Is it a test, shared test code or configuration? A candidate never touches these."""
    pure = PurePosixPath(path)
    return (
        pure.name in _NEVER
        or pure.suffix == ".pth"
        or is_test_file(path, patterns)
        or any(part in {"test", "tests"} for part in pure.parts[:-1])
    )


def pytest_option(root: Path, name: str) -> list[str]:
    """A list option of the project's pytest configuration (`python_files`, `pythonpath`, ...); empty if not set."""
    for file in CONFIGURATION:
        data = read_bytes(root, file)
        if data is None:
            continue
        option = _toml_option(data, file, name) if file.endswith(".toml") else _ini_option(data, file, name)
        if option is not None:
            return list(option.get(name, ()))
    return []


# Asked again for every import of every test file; a change of the file is a change of the data.
@lru_cache(maxsize=64)
def _toml_option(data: bytes, file: str, name: str) -> dict[str, list[str]] | None:
    try:
        table = tomllib.loads(data.decode("utf-8-sig"))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError):
        return None
    section_path = ("pytest",) if "pytest" in file else ("tool", "pytest")
    for key in section_path:
        table = table.get(key, {}) if isinstance(table, dict) else {}
    if not isinstance(table, dict) or not table:
        return None
    options = table.get("ini_options", table)
    value = options.get(name) if isinstance(options, dict) else None
    return {} if value is None else {name: value.split() if isinstance(value, str) else [str(item) for item in value]}


@lru_cache(maxsize=64)
def _ini_option(data: bytes, file: str, name: str) -> dict[str, list[str]] | None:
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    try:
        parser.read_string(data.decode("utf-8-sig"))
    except (UnicodeDecodeError, configparser.Error):
        return None
    section = "tool:pytest" if file == "setup.cfg" else "pytest"
    if not parser.has_section(section):
        return {} if file.endswith("pytest.ini") else None
    return {name: parser.get(section, name).split()} if parser.has_option(section, name) else {}


def file_patterns(root: Path) -> tuple[str, ...]:
    """The file name patterns by which this project's pytest finds its tests."""
    is_django = (root / "manage.py").is_file() or any(root.glob("*/manage.py"))
    usual = DJANGO_TEST_FILES if is_django else TEST_FILES
    return tuple(pytest_option(root, "python_files")) or usual


def text_patterns(root: Path) -> tuple[str, ...]:
    """The file name patterns of texts whose examples this project's pytest runs (`--doctest-glob`)."""
    words = pytest_option(root, "addopts")
    pairs = ((word.partition("="), after) for word, after in zip(words, [*words[1:], ""], strict=False))
    found = [(option[2] or after).strip("\"'") for option, after in pairs if option[0] == "--doctest-glob"]
    return tuple(found) or ("test*.txt",)


# -- modules --------------------------------------------------------------------------------------------------------


def module_name(path: str, root: Path) -> str:
    """The dotted name by which the project imports a file (`src/pkg/m.py` is `pkg.m`)."""
    parts = list(PurePosixPath(path).with_suffix("").parts)
    if parts[-1] == "__init__":
        parts.pop()
    for base in [*pytest_option(root, "pythonpath"), "src", "lib"]:
        base_parts = PurePosixPath(base).parts
        if (
            base_parts
            and tuple(parts[: len(base_parts)]) == base_parts
            and len(parts) > len(base_parts)
            and not (root / base / "__init__.py").exists()
        ):
            return ".".join(parts[len(base_parts) :])
    return ".".join(parts)


def import_name_in_tests(path: str, root: Path) -> str:
    """The name under which a test file in the same folder imports this module.

    pytest puts the nearest enclosing folder that is not a package at the front of the import path.
    """
    parts = list(PurePosixPath(path).with_suffix("").parts)
    depth = len(parts) - 1
    while depth and (root.joinpath(*parts[:depth]) / "__init__.py").is_file():
        depth -= 1
    return ".".join(parts[depth:])


def import_roots(root: Path, from_path: str = "") -> list[str]:
    """Folders from which the project's tests import, in pytest's order; the root is the empty string."""
    folders: list[str] = []
    if from_path:
        folder = PurePosixPath(from_path).parent
        while str(folder) != "." and (root / folder / "__init__.py").exists():
            folder = folder.parent
        folders.append("" if str(folder) == "." else str(folder))
    folders.extend(
        "" if base in {".", "./"} else base.strip("/").removeprefix("./") for base in pytest_option(root, "pythonpath")
    )
    folders.extend(
        base for base in ("src", "lib") if (root / base).is_dir() and not (root / base / "__init__.py").exists()
    )
    folders.append("")
    return list(dict.fromkeys(folders))


def find_module(name: str, root: Path, from_path: str = "", *, unsaved: Container[str] = ()) -> str | None:
    """The workspace file that `import name` means in `from_path`; None if the workspace has none.

    `unsaved` are files that need not exist on disk.
    """
    relative_path = name.replace(".", "/")
    for base in import_roots(root, from_path):
        prefix = f"{base}/" if base else ""
        for candidate in (f"{prefix}{relative_path}/__init__.py", f"{prefix}{relative_path}.py"):
            if candidate in unsaved or _inside(root / candidate, root):
                return candidate
    return None


def find_off_path(name: str, root: Path, from_path: str = "") -> str | None:
    """The folder of a top-level module or package that exists where the tests of `from_path` do not import from.

    Such are the sources of a project that is not installed. The nearest one to `from_path` is returned.
    """
    folders = {folder for path in python_files(root) if (folder := _folder_of(name, path)) is not None}
    on_path = set(import_roots(root, from_path)) - ({"src", "lib"} - set(pytest_option(root, "pythonpath")))
    here = PurePosixPath(from_path).parts
    off_path = [
        folder
        for folder in folders - on_path
        if not (root / folder / "__init__.py").exists() and not is_trusted(f"{folder}/{name}.py")
    ]
    return min(off_path, key=lambda each: (-_common(PurePosixPath(each).parts, here), len(each), each), default=None)


def _folder_of(name: str, path: str) -> str | None:
    """The folder from which `import name` finds this file or its package."""
    parts = PurePosixPath(path).parts
    if parts[-1] == f"{name}.py":
        return "/".join(parts[:-1])
    if parts[-2:] == (name, "__init__.py"):
        return "/".join(parts[:-2])
    packages = (place for place in range(1, len(parts) - 1) if parts[place - 1 : place + 1] == ("src", name))
    return next(("/".join(parts[:place]) for place in packages), None)


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    return next((place for place, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), len(one))


def project_folder(root: Path, path: str) -> str | None:
    """The nearest folder around a path that can be installed, "." for the root; None without one."""
    for folder in (PurePosixPath(path), *PurePosixPath(path).parents):
        if any((root / folder / name).is_file() for name in ("pyproject.toml", "setup.py", "setup.cfg")):
            return str(folder)
    return None


def find_imports(source: str, path: str = "") -> list[tuple[str, tuple[str, ...], int]]:
    """Each import as (absolute module, names, line), in order; `import a.b` has no names.

    Relative imports are made absolute by the path. Files with syntax errors are read line by line.
    """
    try:
        tree = parse_module_strictly(source)
    except UNPARSABLE:
        return _imported_by_line(source, path)
    imports: list[tuple[str, tuple[str, ...], int]] = []
    for node in _statements(tree):
        if isinstance(node, ast.Import):
            imports.extend((alias.name, (), node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = absolute_module(node.module or "", node.level, path)
            imports.append((module, tuple(alias.name for alias in node.names), node.lineno))
    return sorted(imports, key=lambda item: item[2])


def _statements(node: ast.AST) -> Iterator[ast.stmt]:
    """Every statement in the node, at any depth; expressions, the larger part of a file, hold no imports."""
    for block in statement_blocks(node):
        for statement in block:
            yield statement
            yield from _statements(statement)


_FROM = re.compile(r"^[ \t]*from[ \t]+(\.*)([\w.]*)[ \t]+import[ \t]+\(?([^)\n#]*)", re.MULTILINE)
_IMPORT = re.compile(r"^[ \t]*import[ \t]+([^\n#;]+)", re.MULTILINE)


def _imported_by_line(source: str, path: str) -> list[tuple[str, tuple[str, ...], int]]:
    imports = []
    for match in _FROM.finditer(source):
        names = tuple(part.split()[0] for part in match[3].split(",") if part.split())
        imports.append(
            (absolute_module(match[2], len(match[1]), path), names, source.count("\n", 0, match.start()) + 1)
        )
    for match in _IMPORT.finditer(source):
        line = source.count("\n", 0, match.start()) + 1
        imports.extend((part.split()[0], (), line) for part in match[1].split(",") if part.split())
    return sorted(imports, key=lambda item: item[2])


def absolute_module(module: str, level: int, path: str) -> str:
    """The absolute module of a relative import, by the folders of the importing file."""
    if not level:
        return module
    parts = list(PurePosixPath(path).parent.parts)
    parts = parts[: len(parts) - level + 1] if level > 1 else parts
    return ".".join([*parts, *([module] if module else [])])
