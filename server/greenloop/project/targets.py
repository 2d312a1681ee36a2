"""Finds targets: the test, function or method at a line, or as typed on the command line.

Works on texts, also with syntax errors; only `parse_target` reads the disk. Never imports or runs the user's code.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePath, PurePosixPath, PureWindowsPath
from typing import NamedTuple

from greenloop.core.errors import UsageError
from greenloop.core.records.spec import Target, TargetKind
from greenloop.core.text.similar import similar
from greenloop.project import sources
from greenloop.project.sources import is_test_file as is_test_file  # noqa: PLC0414 - part of this module's interface
from greenloop.project.syntax import definitions
from greenloop.project.syntax.definitions import Definition, Outline
from greenloop.project.syntax.unwritten import unwritten_functions
from greenloop.project.test_naming import DEFAULT_NAMES, NamingRules, is_stray, is_test, may_be_test, read_names


@dataclass(frozen=True, kw_only=True)
class ParsedTarget:
    """A typed target that exists. `text` is the text of its file, to which its line numbers refer."""

    target: Target
    path: str
    text: str


def target_at(
    text: str, path: str, line: int, *, python_files: Sequence[str] | None = None, names: NamingRules = DEFAULT_NAMES
) -> Target | None:
    """The test (in a test file) or the function or method (elsewhere) at a line; None if there is nothing to refine.

    A test class is the target on its own lines, outside its methods, but not on blank lines and comments between
    them. Outside test files a class is a target only if its docstring has examples, or some of its methods are still to
    be written, and the line is in its header or docstring; an overload stands for the function itself; a unittest test
    is not a target.
    `naming` are the project's rules for naming tests.
    """
    outline = definitions.cached_outline(text, path)
    definition = outline.definition_at(line)
    row = outline.line(line).lstrip()
    is_idle = not row or row.startswith("#")
    if definition is None or (definition.kind == "class" and line > _top(definition) and is_idle):
        return None
    if is_test_file(path, python_files):
        return _target(definition, path, TargetKind.TEST) if is_test(definition, outline, names) else None
    if definition.kind == "function":
        if is_stray(definition, outline):
            return None
        if definitions.is_overload(definition):
            definition = definitions.find_by_qualname(outline.definitions, definition.qualname) or definition
        return _target(definition, path, TargetKind.FUNCTION)
    if line > _top(definition) or is_test(definition, outline, names):
        return None
    is_target = definition.examples or unwritten_functions(text, path, owner=definition.qualname)
    return _target(definition, path, TargetKind.FUNCTION) if is_target else None


def _top(item: Definition) -> int:
    """The last line of the header and docstring."""
    return item.docstring[1] if item.docstring else item.header_end


def find_target(
    text: str,
    path: str,
    qualname: str,
    *,
    python_files: Sequence[str] | None = None,
    names: NamingRules = DEFAULT_NAMES,
) -> Target | None:
    """The target of that name: `f`, `Class.method`, `Class::method`, `test_a[x-1]` (one parametrised case of a test).

    In a test file, finds tests only. A name says more than a position: a unittest test is one in any file, and a class
    that inherits from elsewhere may have tests, as a plugin of the project may say so.
    """
    name, params = _split_params(qualname)
    outline = definitions.cached_outline(text, path)
    definition = definitions.find_by_qualname(outline.definitions, name.replace("::", "."))
    if definition is None:
        return None
    if not is_test_file(path, python_files):
        if not is_stray(definition, outline):
            return _target(definition, path, TargetKind.FUNCTION)
    elif not (is_test(definition, outline, names) or may_be_test(definition, outline, names)):
        return None
    if params and definition.kind == "class":
        return None
    target = _target(definition, path, TargetKind.TEST)
    return replace(target, selector=target.selector + params)


def list_targets(
    text: str, path: str, *, python_files: Sequence[str] | None = None, names: NamingRules = DEFAULT_NAMES
) -> list[Target]:
    """All tests (classes and methods) of a test file, all functions and methods of another, in file order."""
    outline = definitions.cached_outline(text, path)
    if is_test_file(path, python_files):
        return [_target(item, path, TargetKind.TEST) for item in outline.definitions if is_test(item, outline, names)]
    return [_target(item, path, TargetKind.FUNCTION) for item in outline.definitions if _is_target(item, outline)]


def _is_target(item: Definition, outline: Outline) -> bool:
    """Is the definition a target outside test files?"""
    if item.kind == "class":
        return item.examples
    return not (definitions.is_overload(item) or is_stray(item, outline))


class Heading(NamedTuple):
    """The 1-based first line of a target, and its kind: is it a class of tests, or a function with examples?"""

    kind: TargetKind
    qualname: str
    selector: str
    line: int
    is_class: bool
    examples: bool


def list_headings(
    text: str, path: str, *, python_files: Sequence[str] | None = None, names: NamingRules = DEFAULT_NAMES
) -> Iterator[Heading]:
    """As `list_targets`, but cheap enough for every keystroke."""
    outline = definitions.cached_outline(text, path)
    is_tests = is_test_file(path, python_files)
    kind = TargetKind.TEST if is_tests else TargetKind.FUNCTION
    for item, rows in outline.placed():
        if is_test(item, outline, names) if is_tests else _is_target(item, outline):
            name = item.qualname.replace(".", "::") if is_tests else item.qualname
            yield Heading(
                kind, item.qualname, f"{path}::{name}", item.start + rows, item.kind == "class", item.examples
            )


def nearest_names(name: str, candidates: Iterable[str], *, limit: int = 3) -> list[str]:
    """The candidates most similar to the name, best first; those that end in it count as similar."""
    unique = list(dict.fromkeys(candidates))
    last = re.split(r"::|[./]", name)[-1].lower()
    same_ending = [item for item in unique if re.split(r"::|[./]", item)[-1].lower() == last]
    return list(dict.fromkeys([*same_ending, *similar(name, unique, most=limit)]))[:limit]


def _target(item: Definition, path: str, kind: TargetKind) -> Target:
    node_path = item.qualname.replace(".", "::") if kind is TargetKind.TEST else item.qualname
    return Target(
        kind=kind,
        path=path,
        qualname=item.qualname,
        selector=f"{path}::{node_path}",
        start=item.start,
        end=item.end,
        name_line=item.name_line,
    )


# -- as typed -------------------------------------------------------------------------------------------------------


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
        name, params = _split_params(name)
        return TypedTarget(path=drive + path, name=name.replace("::", "."), params=params)
    if match := re.fullmatch(r"(.*?):(\d+)(?::\d+)?:?", path, re.DOTALL):
        return TypedTarget(path=drive + match[1], line=int(match[2]))
    return TypedTarget(path=drive + path)


def _split_params(name: str) -> tuple[str, str]:
    head, bracket, tail = name.partition("[")
    return head, bracket + tail


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
        last = max(1, len(definitions.split_lines(text)))
        return Target(kind=TargetKind.TEST, path=path, qualname="", selector=path, start=1, end=last, name_line=1)
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
    last, selector = max(1, len(definitions.split_lines(text))), f"{path}::{name}"
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
