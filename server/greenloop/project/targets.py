"""Finds targets: the test, function or method at a line, or by its name.

Works on texts, also with syntax errors. Never imports or runs the user's code.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from greenloop.core.records.spec import Target, TargetKind
from greenloop.core.text.similar import similar
from greenloop.project.sources import is_test_file as is_test_file  # noqa: PLC0414 - part of this module's interface
from greenloop.project.syntax import definitions
from greenloop.project.syntax.definitions import Definition, Outline, unwritten_functions
from greenloop.project.test_naming import DEFAULT_NAMES, NamingRules, is_stray, is_test, may_be_test


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
    name, params = split_params(qualname)
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
    """The 1-based first and last line of a target, and its kind: a class of tests, or a function with examples?"""

    kind: TargetKind
    qualname: str
    selector: str
    line: int
    is_class: bool
    examples: bool
    end: int = 0


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
            is_class, first, last = item.kind == "class", item.start + rows, item.end + rows
            yield Heading(kind, item.qualname, f"{path}::{name}", first, is_class, item.examples, last)


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


def split_params(name: str) -> tuple[str, str]:
    """A name without the parameters of one case of a test, and these with their brackets."""
    head, bracket, tail = name.partition("[")
    return head, bracket + tail
