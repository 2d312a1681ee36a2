"""Targets as typed on the command line. Only `parse_target` reads the disk."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath, PurePosixPath, PureWindowsPath

from greenloop.core.errors import UsageError
from greenloop.core.records.spec import Target, TargetKind
from greenloop.project import sources
from greenloop.project.sources import is_test_file
from greenloop.project.syntax import definitions
from greenloop.project.syntax.definitions import unwritten_functions
from greenloop.project.targets import find_target, list_targets, nearest_names, split_params, target_at
from greenloop.project.test_naming import NamingRules, read_names

# Cases that the text of a file does not name: of unittest's `load_tests`, and the scenarios of pytest-bdd.
_MAKES_TESTS = re.compile(r"^def load_tests\(|^scenarios\(", re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class ParsedTarget:
    """A typed target that exists. `text` is the text of its file, to which its line numbers refer."""

    target: Target
    path: str
    text: str


@dataclass(frozen=True, kw_only=True)
class TypedTarget:
    """A parsed target as typed: `name` is joined by dots, `params` keeps its brackets, `line` is 1-based."""

    path: str
    name: str = ""
    params: str = ""
    line: int | None = None


def split_target(text: str) -> TypedTarget:
    """Parses `file.py`, `file.py:12`, `file.py:12:5`, `file.py::name` and pytest node ids. Pure.

    The colon of a Windows drive letter is part of the path.
    """
    text = text.strip()
    drive = text[:2] if re.match(r"[A-Za-z]:[\\/]", text) else ""
    rest = text[len(drive) :]
    path, colons, name = rest.partition("::")
    if colons:
        name, params = split_params(name)
        return TypedTarget(path=drive + path, name=name.replace("::", "."), params=params)
    if match := re.fullmatch(r"(.*?):(\d+)(?::\d+)?:?", path, re.DOTALL):
        return TypedTarget(path=drive + match[1], line=int(match[2]))
    return TypedTarget(path=drive + path)


def relative_path(path: str, root: str, *, windows: bool = os.name == "nt") -> str | None:
    """A typed path relative to the root, with `/`; None if it leaves the root. Pure."""
    path_type: type[PurePath] = PureWindowsPath if windows or re.match(r"[A-Za-z]:[\\/]", path) else PurePosixPath
    typed_path = path_type(path)
    if typed_path.is_absolute():
        try:
            typed_path = typed_path.relative_to(path_type(root))
        except ValueError:
            return None
    elif typed_path.drive or typed_path.root:
        return None
    parts: list[str] = []
    for part in typed_path.parts:
        if part != "..":
            parts.append(part)
        elif not parts:
            return None
        else:
            parts.pop()
    return "/".join(parts)


def parse_target(
    text: str,
    root: Path,
    *,
    base: Path | None = None,
    read_text: Callable[[str], str | None] | None = None,
    python_files: Sequence[str] | None = None,
) -> ParsedTarget:
    """The target that a user typed; relative paths count from `base` (the current folder) first, then from the root.

    `read_text` gives a workspace file's text; without it the disk is read.

    Raises `UsageError` if the file or the name does not exist (its remedy lists similar ones), and if only a file
    is named that is not a test file and has several functions, all of them written.
    """
    typed = split_target(text)
    if not typed.path:
        raise UsageError(
            f"'{text}' does not name a file.",
            remedy="Write tests/test_f.py::test_name, file.py::function or file.py:LINE.",
        )
    patterns = sources.file_patterns(root) if python_files is None else python_files
    names = read_names(root)
    path, content = _existing(typed.path, root, base, read_text or (lambda path: sources.read_text(root, path)))
    target: Target | None
    if not path.endswith(".py"):
        target = _text_file(content, path, typed)
    elif typed.line is not None:
        target = target_at(content, path, typed.line, python_files=patterns, names=names)
        if target is None:
            raise _no_target_at(content, path, typed.line, patterns, names)
    elif typed.name:
        target = find_target(content, path, typed.name + typed.params, python_files=patterns, names=names)
        if target is None and is_test_file(path, patterns) and _MAKES_TESTS.search(content):
            target = _all_of(content, path, typed.name, f"{path}::{text.strip().partition('::')[2]}")
        if target is None:
            raise _no_such_name(content, path, typed, patterns, names)
    else:
        target = _whole_file(content, path, patterns)
    return ParsedTarget(target=target, path=path, text=content)


def _existing(typed: str, root: Path, base: Path | None, read_text: Callable[[str], str | None]) -> tuple[str, str]:
    spellings = [typed, typed.replace("\\", "/")] if "\\" in typed else [typed]
    for spelling in spellings:
        for path in _candidate_paths(spelling, root, base):
            if (text := read_text(path)) is not None:
                return path, text
    if PurePath(typed).is_absolute() and not list(_candidate_paths(spellings[-1], root, base)):
        raise UsageError(f"'{typed}' is outside the workspace {root}.", remedy="Run greenloop in that file's project.")
    near = nearest_names(spellings[-1], sources.python_files(root))
    hint = f"Did you mean: {', '.join(near)}." if near else f"Paths are relative to {root}."
    raise UsageError(f"There is no file '{typed}'.", remedy=hint)


def _candidate_paths(typed: str, root: Path, base: Path | None) -> Iterable[str]:
    spellings = [typed] if base is None or PurePath(typed).is_absolute() else [str(base / typed), typed]
    for spelling in spellings:
        for root_path in dict.fromkeys([str(root), str(root.resolve())]):
            path = relative_path(spelling, root_path)
            if path:
                yield path
    if PurePath(typed).is_absolute():
        path = relative_path(str(Path(typed).resolve()), str(root.resolve()))
        if path:
            yield path


def _whole_file(text: str, path: str, patterns: Sequence[str]) -> Target:
    if is_test_file(path, patterns):
        return _all_of(text, path, "", path)
    targets = list_targets(text, path, python_files=patterns)
    if len(targets) == 1:
        return targets[0]
    if unwritten_functions(text, path):
        last = max(1, len(definitions.split_lines(text)))
        return Target(kind=TargetKind.FUNCTION, path=path, qualname="", selector=path, start=1, end=last, name_line=1)
    raise UsageError(
        f"'{path}' is not a test file and has {len(targets) or 'no'} functions.",
        remedy="Name one: " + ", ".join(target.selector for target in targets[:6])
        if targets
        else "Name a test or a function.",
    )


def _text_file(text: str, path: str, typed: TypedTarget) -> Target:
    """The examples of a text file, which pytest runs as one case that has the file's name (`--doctest-glob`)."""
    name = PurePath(path).name
    if typed.name not in ("", name):
        raise UsageError(f"'{path}' has no function '{typed.name}'.", remedy=f"Its examples are one test: {path}")
    if ">>>" not in text:
        raise UsageError(f"'{path}' is not a test file and has no examples.", remedy="Name a test or a function.")
    return _all_of(text, path, name, f"{path}::{name}")


def _all_of(text: str, path: str, name: str, selector: str) -> Target:
    last = max(1, len(definitions.split_lines(text)))
    return Target(kind=TargetKind.TEST, path=path, qualname=name, selector=selector, start=1, end=last, name_line=1)


def _no_target_at(text: str, path: str, line: int, patterns: Sequence[str], names: NamingRules) -> UsageError:
    total = len(definitions.split_lines(text))
    if line > total:
        return UsageError(f"'{path}' has {total} lines, not {line}.")
    kind = "test" if is_test_file(path, patterns) else "function"
    targets = list_targets(text, path, python_files=patterns, names=names)
    closest = sorted(targets, key=lambda item: abs(item.name_line - line))[:3]
    hint = (
        f"Did you mean: {', '.join(f'{item.selector} (line {item.name_line})' for item in closest)}." if closest else ""
    )
    return UsageError(f"There is no {kind} at {path}:{line}.", remedy=hint)


def _no_such_name(text: str, path: str, typed: TypedTarget, patterns: Sequence[str], names: NamingRules) -> UsageError:
    targets = list_targets(text, path, python_files=patterns, names=names)
    selectors = {target.qualname: target.selector for target in targets}
    near = nearest_names(typed.name, selectors) or list(selectors)[:3]
    kind = "test" if is_test_file(path, patterns) else "function"
    hint = f"Did you mean: {', '.join(selectors[name] for name in near)}." if near else f"The file has no {kind}."
    return UsageError(f"'{path}' has no {kind} '{typed.name}{typed.params}'.", remedy=hint)
