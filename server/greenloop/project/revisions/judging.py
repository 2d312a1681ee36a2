"""Says which files judge a change: tests, and everything that decides with them. The base revision alone says it.

Such a file is taken from the revision, and a change of it is named. docs/verify.md has the rule.
This module must not know what is run, or what follows from a change.
"""

from __future__ import annotations

import ast
import configparser
import posixpath
import re
import sys
import tomllib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath

from greenloop.core.documentation import examples_in
from greenloop.core.python.ast_source import UNPARSABLE, parse_module_strictly
from greenloop.project import sources
from greenloop.project.environment.declared_dependencies import KNOWN
from greenloop.project.revisions import support
from greenloop.project.revisions.base_modules import BaseModules, module_word
from greenloop.project.sources import python_files

IMPORTABLE = {".py", ".so", ".pyd", ".pyc"}
TEST, FOLDER, SETUP = "a test file", "in a folder of tests", "shared setup of the tests"
CONFIGURATION, STARTUP, BUILD = "configuration of the tests", "code that Python runs first", "the build"
PLUGIN, HELPER, METADATA = "a plugin of pytest", "a helper that only tests import", "metadata of a package"
EXPECTED, LINK = "expected results", "a link to what judges"

_METADATA = (".dist-info", ".egg-info")
_STARTUP = {"sitecustomize.py", "usercustomize.py"}
_TABLES = {"pyproject.toml", "setup.cfg", "tox.ini"}  # most of what they say judges nothing
_SNAPSHOTS = {"__snapshots__", "golden", "goldens"}
_SNAPSHOT = re.compile(r"\.(?:golden|snap|ambr)$|\.approved\.\w+$")
# Tests often name such files, and hardly ever compare with them.
_NO_DATA = re.compile(r"(?i)^(?:\.|readme|changelog|licen[cs]e|requirements|dockerfile|makefile)|\.(?:md|rst|lock)$")

IsInstalled = Callable[[str, bytes], bool]


@dataclass(frozen=True, kw_only=True)
class JudgingChange:
    """A change (`edits`, `adds` or `removes`) of a file that judges; `allowed`: the user lets it judge as it is."""

    path: str
    change: str
    role: str
    allowed: bool = False

    def __str__(self) -> str:
        return f"The change {self.change} {self.path}, which judges it ({self.role})."


def role_by_name(path: str, patterns: Sequence[str]) -> str:
    """The role of a file whose name shows that it judges, by pytest's `python_files`; "" for any other."""
    pure = PurePosixPath(path)
    folders = pure.parts[:-1]
    if pure.name in _STARTUP or pure.suffix == ".pth":
        return STARTUP
    if pure.name in {*sources.CONFIGURATION, ".coveragerc", "noxfile.py"}:
        return CONFIGURATION
    if pure.name in {"conftest.py", "setup.py"}:
        return SETUP if pure.name == "conftest.py" else BUILD
    if sources.is_test_file(path, patterns):
        return TEST
    if {"test", "tests"} & {*folders}:
        return FOLDER
    return (
        EXPECTED if pure.suffix not in IMPORTABLE and (_SNAPSHOT.search(pure.name) or _SNAPSHOTS & {*folders}) else ""
    )


@dataclass(frozen=True, kw_only=True)
class Judges:
    """Finds the files that judge, by the files of the base revision.

    `patterns` are those of test files, `texts` those of texts whose examples pytest runs; `paths` are all files,
    `targets` those that trusted links lead to, `configuration` the contents of files that may name plugins.
    `is_installed` says whether the environment has a top-level module of this name, other than one with this content.
    """

    modules: BaseModules
    patterns: Sequence[str]
    texts: Sequence[str]
    paths: Collection[str]
    targets: Collection[str] = ()
    configuration: Mapping[str, bytes] = field(default_factory=dict)
    is_installed: IsInstalled = lambda _name, _data: False
    _roles: dict[str, str] = field(default_factory=dict)
    _state: dict[str, frozenset[str]] = field(default_factory=dict)

    # -- files of the revision --------------------------------------------------------------------------------------

    def role(self, path: str) -> str:
        """The role of a file of the revision, or of a new one by its name; "" for code."""
        if path not in self._roles:
            self._roles[path] = ""  # also where modules import each other
            self._roles[path] = self._find_role(path)
        return self._roles[path]

    def _find_role(self, path: str) -> str:
        if role := self.plain_role(path):
            return role
        if path not in self.paths:
            return ""
        if any(part.endswith(_METADATA) for part in PurePosixPath(path).parts[:-1]):
            return METADATA
        if path in self._plugins:
            return PLUGIN
        if path in self.modules.texts:
            return HELPER if support.is_helper(path, self.modules, self._is_support, self._tests) else ""
        return self._data_role(path)

    def plain_role(self, path: str) -> str:
        """The role that the name shows, or a link of the revision that judges."""
        if role := role_by_name(path, self.patterns):
            return role
        if not path.endswith(".py") and any(sources.matches(PurePosixPath(path), each) for each in self.texts):
            return TEST
        return LINK if any(path == each or path.startswith(f"{each}/") for each in self.targets) else ""

    def _is_support(self, path: str) -> bool:
        return bool(self.role(path))

    @property
    def _tests(self) -> frozenset[str]:
        """The Python files that judge by their names."""
        return self._once("tests", lambda: (path for path in self.modules.texts if self.plain_role(path)))

    @property
    def _plugins(self) -> frozenset[str]:
        return self._once("plugins", lambda: support.plugin_modules(self.modules, self._tests, self.configuration))

    @property
    def _roots(self) -> frozenset[str]:
        """The folders from which tests import."""
        return self._once("roots", lambda: (each for test in ("", *self._tests) for each in self.modules.roots(test)))

    def _once(self, name: str, find: Callable[[], Iterable[str]]) -> frozenset[str]:
        if name not in self._state:
            self._state[name] = frozenset(find())
        return self._state[name]

    def _data_role(self, path: str) -> str:
        """Data belongs to the tests if they name it, or the nearest folder that anything names, and no code does."""
        pure = PurePosixPath(path)
        if pure.suffix in IMPORTABLE or _NO_DATA.search(pure.name):
            return ""
        if any(posixpath.join(*pure.parts[:depth]) + ".py" in self._tests for depth in range(1, len(pure.parts))):
            return EXPECTED  # the folder of a test file's own data
        for part in reversed(pure.parts):
            naming = [each for each in self.modules.mentioning(part) if part in self._named_parts(each)]
            if naming:
                return "" if {*naming} - self._tests else f"data that {naming[0]} reads"
        return ""

    def _named_parts(self, path: str) -> frozenset[str]:
        """The names of files and folders in the strings of a module."""

        def find() -> Iterable[str]:
            try:
                tree = parse_module_strictly(self.modules.texts[path])
            except UNPARSABLE:
                return re.findall(r"[\w.-]+", self.modules.texts[path])
            texts = (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant))
            return (part for text in texts if isinstance(text, str) for part in re.split(r"[/\\]", text))

        return self._once(f"strings of {path}", find)

    def doubts(self, changed: Iterable[str]) -> list[str]:
        """Sentences about changed code that may be a helper of tests."""
        return [
            f"Only tests import {path}, which the change edits; it counts as code."
            for path in changed
            if path in self.modules.texts
            and not self.role(path)
            and support.may_be_helper(path, self.modules, self._is_support, self._tests)
        ]

    # -- new files --------------------------------------------------------------------------------------------------

    def roles_of_new(self, new: Mapping[str, Callable[[], bytes]]) -> tuple[dict[str, str], dict[str, str]]:
        """The roles of new files (path to content) that judge, and those of them that the revision's tests depend on.

        A new test, with what only new tests use, is honest work; one that decides over the revision's tests is not.
        """
        roles = {path: role for path in new if (role := self.role(path))}
        roles.update({path: PLUGIN for path, read in new.items() if _declares_plugins(path, read)})
        shadows = {path: role for path in new if (role := self._shadow(path, new[path]))}
        shadows.update(self._taken_names({*new}, roles))
        roles.update(shadows)
        return roles, {
            path: role for path, role in roles.items() if path in shadows or self._decides(path, role, new[path])
        }

    def _decides(self, path: str, role: str, read: Callable[[], bytes]) -> bool:
        if role in {STARTUP, PLUGIN}:
            return True
        if role not in {SETUP, CONFIGURATION} or (PurePosixPath(path).name in _TABLES and not _tables(path, read())):
            return False
        folder = posixpath.join(posixpath.dirname(path), "")
        return any(sources.is_test_file(each, self.patterns) for each in self._tests if each.startswith(folder))

    def _shadow(self, path: str, read: Callable[[], bytes]) -> str:
        """Returns why a new file takes the place of a module of the standard library, or of somebody else's package."""
        for root in self._roots:
            first, _slash, rest = path.removeprefix(f"{root}/" if root else "").partition("/")
            if (root and not path.startswith(f"{root}/")) or (rest and rest.partition(".")[0] != "__init__"):
                continue
            name, _dot, suffix = first.partition(".")
            is_own = name in sys.stdlib_module_names
            if not (rest or not suffix or PurePosixPath(first).suffix in IMPORTABLE):
                continue
            # A well-known package need not be installed: what imports it would get the new file.
            if not (is_own or name in KNOWN or self.is_installed(name, read())):
                continue
            if not any(self.modules.find(name, each) for each in ("", *self._tests)):
                owner = "the standard library's" if is_own else "the package"
                return f"it takes the place of {owner} {name}"
        return ""

    def _taken_names(self, new: Collection[str], roles: Mapping[str, str]) -> dict[str, str]:
        """New files that tests of the revision would import, in place of what judges or as something that judges."""
        found: dict[str, str] = {}
        words = {module_word(path) for path in new}
        for test in self._tests:
            if words.isdisjoint(self.modules.import_words(test)):
                continue
            for name in self.modules.imports(test):
                path, before = self.modules.find(name, test, new), self.modules.find(name, test)
                if path is None or path == before or path not in new:
                    continue
                if before is not None and self.role(before):
                    found[path] = f"it takes the place of {before}"
                elif path in roles:
                    found[path] = f"{test} imports it"
        return found


def _declares_plugins(path: str, read: Callable[[], bytes]) -> bool:
    pure = PurePosixPath(path)
    return pure.name == "entry_points.txt" and pure.parent.name.endswith(_METADATA) and b"pytest11" in read()


def is_allowed(path: str, allow: Sequence[str]) -> bool:
    """Is the path one of these, below one of these folders, or matched by one of these globs?"""
    return any(path == each or path.startswith(f"{each.rstrip('/')}/") or fnmatch(path, each) for each in allow)


def is_harmless_edit(path: str, role: str, before: bytes, after: bytes | None) -> bool:
    """Does the edit leave alone how tests are judged: a build, other tables than those of the tests, a text's prose?"""
    if role == BUILD:
        return True
    if after is not None and role == TEST and not path.endswith(".py"):
        return examples_in(sources.decode(before)) == examples_in(sources.decode(after))
    return after is not None and PurePosixPath(path).name in _TABLES and _tables(path, before) == _tables(path, after)


def _tables(path: str, data: bytes) -> object:
    """Returns the configuration of pytest, its plugins and coverage in a file; its whole text if it cannot be read."""
    text = data.decode("utf-8-sig", "replace")
    if path.endswith(".toml"):
        try:
            tool = tomllib.loads(text).get("tool", {})
        except tomllib.TOMLDecodeError:
            return text
        tables = {name: tool[name] for name in ("pytest", "coverage") if name in tool}
    else:
        parser = configparser.ConfigParser(interpolation=None, strict=False)
        try:
            parser.read_string(text)
        except configparser.Error:
            return text
        names = [name for name in parser.sections() if re.match(r"(?:tool:)?pytest$|coverage:", name)]
        tables = {name: dict(parser[name]) for name in names}
    if plugins := support.entry_points(path, data):
        tables["pytest11"] = plugins
    return tables


def find_role(path: str, root: Path, text_of: Callable[[str], str | None], patterns: Sequence[str]) -> str:
    """Returns the role in which a data file judges ("expected results"); "" for data that the code reads. Blocking."""
    texts = {each: text for each in python_files(root) if (text := text_of(each)) is not None}
    modules = BaseModules(layout=root, texts=texts)
    judges = Judges(modules=modules, patterns=patterns, texts=sources.text_patterns(root), paths={path, *texts})
    return judges.role(path)
