"""Modules that serve tests without being some: plugins of pytest, and helpers that only tests import.

A project's own code may be imported by its tests alone as well, so that says too little: a helper must also look like
one. This module must not know what is done with them.
"""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Callable, Collection, Iterator, Mapping
from itertools import zip_longest
from pathlib import PurePosixPath

from greenloop.core.python.ast_source import UNPARSABLE, parse_module_strictly
from greenloop.project import sources
from greenloop.project.revisions.base_modules import BaseModules, module_word

_WORDS = re.compile(
    r"(?:^|[_-])(?:tests?|testing|testlib|testutils?|testcases?|testkit|helpers?|fixtures?|factories|fakes?|mocks?"
    r"|stubs?|expected|golden|oracle)(?:$|[_-])"
)
_FRAMEWORK = re.compile(r"^\s*(?:import|from)\s+(?:_?pytest|unittest|hypothesis|nose|doctest)\b", re.MULTILINE)
_ASSERTS = re.compile(
    r"^\s*(?:(?:async )?def (?:assert|expect)|class \w*TestCase\b)|^(?:def )?expected\w*", re.MULTILINE | re.IGNORECASE
)
_SECTION = re.compile(r"pytest11\W*?[\]:=](.*?)(?=\n\s*\[|\]|\Z)", re.DOTALL)
_ENTRY = re.compile(r"[\w.-]+\s*=\s*([\w.]+)")


def is_helper(path: str, modules: BaseModules, is_support: Callable[[str], bool], tests: Collection[str]) -> bool:
    """Is it imported, and only by `tests` and what supports them (`is_support`), and does it look like a helper?"""
    importers = _importers(path, modules, is_support)
    text, pure = modules.texts[path], PurePosixPath(path)
    parts = [*pure.parent.parts, pure.stem]
    if not importers:
        return False
    if any(_WORDS.search(part) for part in parts) or _FRAMEWORK.search(text) or _ASSERTS.search(text):
        return True
    return not _is_named_by_a_test(pure, tests) and any(
        _is_given_results(modules.texts[importer], path, importer, modules) for importer in importers
    )


def may_be_helper(path: str, modules: BaseModules, is_support: Callable[[str], bool], tests: Collection[str]) -> bool:
    """Is it imported only by tests that also import other code, and does no test file have its name?"""
    if _is_named_by_a_test(PurePosixPath(path), tests):
        return False
    importers = _importers(path, modules, is_support)

    def others(importer: str) -> Iterator[str]:
        found = (modules.find(name, importer) for name in modules.imports(importer))
        return (each for each in found if each and each != path and not is_support(each))

    return bool(importers) and all(any(others(importer)) for importer in importers)


def _importers(path: str, modules: BaseModules, is_support: Callable[[str], bool]) -> list[str]:
    """The files that import a module; empty if one of them supports no tests."""
    found = []
    for importer in modules.importers(path):
        if not is_support(importer):
            return []
        found.append(importer)
    return found


def _is_named_by_a_test(path: PurePosixPath, tests: Collection[str]) -> bool:
    name = module_word(str(path))
    stems = (PurePosixPath(test).stem for test in tests)
    return any(stem.removeprefix("test_").removesuffix("_test") == name for stem in stems)


def _is_given_results(text: str, path: str, importer: str, modules: BaseModules) -> bool:
    """Does the test assert no more than what a function of the module says of a call's result: `same(f(x), 3)`?"""
    names = set()
    try:
        tree = parse_module_strictly(text)
    except UNPARSABLE:
        return False
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom | ast.Import):
            prefix = f"{node.module}." if isinstance(node, ast.ImportFrom) and not node.level else ""
            for each in node.names:
                target = (
                    prefix.rstrip(".") if prefix and modules.find(prefix + each.name, importer) != path else each.name
                )
                if modules.find(target, importer) == path:
                    names.add((each.asname or each.name).partition(".")[0])
    for node in ast.walk(tree):
        call = node.value if isinstance(node, ast.Expr) else node.test if isinstance(node, ast.Assert) else None
        if (
            isinstance(call, ast.Call)
            and _root_name(call.func) in names
            and any(isinstance(inner, ast.Call) for each in call.args for inner in ast.walk(each))
        ):
            return True
    return False


def _root_name(node: ast.expr) -> str:
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def plugin_modules(modules: BaseModules, tests: Collection[str], configuration: Mapping[str, bytes]) -> set[str]:
    """The modules that pytest loads as plugins because the tests (paths), or these files (contents), name them."""
    named = {name for path in tests for name in _pytest_plugins(modules.texts[path])}
    words = sources.pytest_option(modules.layout, "addopts")
    for flag, word in zip_longest(words, words[1:], fillvalue=""):
        named.add(word if flag == "-p" else flag.removeprefix("-p") if flag.startswith("-p") else "")
    for path, data in configuration.items():
        named |= entry_points(path, data)
    found = {modules.find(name, test) for name in named - {""} for test in ["", *tests]}
    return {path for path in found if path}


def _pytest_plugins(text: str) -> Iterator[str]:
    if "pytest_plugins" not in text:
        return
    try:
        body = parse_module_strictly(text).body
    except UNPARSABLE:
        return
    for node in body:
        targets = (
            node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        )
        if any(isinstance(each, ast.Name) and each.id == "pytest_plugins" for each in targets):
            yield from (
                each.value for each in ast.walk(node) if isinstance(each, ast.Constant) and isinstance(each.value, str)
            )


def entry_points(path: str, data: bytes) -> set[str]:
    """The modules that a file of a project's metadata declares as plugins of pytest."""
    text = data.decode("utf-8", "replace")
    if "pytest11" not in text:
        return set()
    if path.endswith(".toml"):
        try:
            table = tomllib.loads(text)
        except tomllib.TOMLDecodeError:
            return set()
        found: list[object] = []
        for keys in (("project", "entry-points"), ("tool", "poetry", "plugins")):
            level: object = table
            for key in (*keys, "pytest11"):
                level = level.get(key, {}) if isinstance(level, dict) else {}
            found += level.values() if isinstance(level, dict) else ()
        return {str(each).partition(":")[0] for each in found}
    return {module for section in _SECTION.findall(text) for module in _ENTRY.findall(section)}
