"""Suspects that are no functions: assignments of modules and classes that suspicious functions, or the test, read.

A name is looked up as Python would, as far as the text tells: in the module, in what it imports from other modules of
the workspace, for `self` and `cls` in the class, its bases and the classes derived from it. An assignment that is read
by another assignment counts as read too, and so does a class attribute whose name a function has as a text
(`vars(cls).get("tokens")`), in the classes that the test names.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from greenloop.core.python.assignments import Assignment, find_assignments
from greenloop.core.python.ast_source import (
    FUNCTIONS,
    Fragment,
    find_definitions,
    parse_fragment,
    parse_module,
    source_of,
    walk_statements,
)
from greenloop.core.python.names import free_names
from greenloop.core.records.spec import Region
from greenloop.core.text.diff import with_plain_ends
from greenloop.localize import signals
from greenloop.localize.evidence import CoverageEvidence, Reached
from greenloop.localize.regions import TextOf, may_change
from greenloop.project.sources import absolute_module, find_module, is_trusted
from greenloop.project.syntax import definitions

MOST_READERS = 12  # functions whose names are looked up, most suspicious first
MOST_QUOTING = 50  # functions whose texts may be names of class attributes
MOST = 3  # assignments that are suspects
STEPS = 3  # assignments between the one that is read and the one that is wrong
DISCOUNT = 0.5  # of a reader's suspicion for what it reads, and of that for what is read for it
FIRST_PLACE = 2  # functions that always come before

_RECEIVERS = ("self", "cls", "mcs")
_ANNOTATIONS = ("annotation", "returns")
_NEVER = {"__all__", "__slots__"}
_QUOTED = re.compile(r"""["']([^\W\d]\w*)["']""")


def find_read(
    evidence: CoverageEvidence, ranked: Sequence[Region], suspicions: Mapping[Region, float], root: Path
) -> dict[Region, float]:
    """Returns the assignments that the first functions and the failing tests read, with their suspicion, highest first.

    That is a share of the reader's, and what the tests' words say of them.
    """
    names = Names(root=root, text_of=evidence.text_of, patterns=evidence.patterns)
    paths = list(dict.fromkeys(region.path for region in ranked[:MOST_READERS]))
    found: dict[Region, float] = {}
    for region in ranked[:MOST_READERS]:
        for each, share in names.read_by(region, paths):
            found[each] = max(found.get(each, 0.0), share * suspicions.get(region, 0.0))
    highest = max(suspicions.values(), default=1.0)
    quoted = {name for region in ranked[:MOST_QUOTING] for name in names.quoted_by(region)}
    for test in _tests(evidence):
        for each, share in names.read_by(test, paths, quoted):
            found[each] = max(found.get(each, 0.0), share * highest)
    every = dict.fromkeys([*evidence.suspects, *found], Reached(depth=1, order=0))
    spoken = signals.words(replace(evidence, suspects=every)) if found else {}
    total = {each: score + DISCOUNT * spoken.get(each, 0.0) for each, score in found.items()}
    return dict(sorted(total.items(), key=lambda item: -item[1])[:MOST])


def insert(others: Sequence[Region], found: Mapping[Region, float], suspicions: Mapping[Region, float]) -> list[Region]:
    """Returns the suspects with these assignments among them, by suspicion, but after the first functions."""
    result = list(others)
    for region, score in found.items():
        before = (place for place, each in enumerate(result) if suspicions.get(each, found.get(each, 0.0)) < score)
        result.insert(max(next(before, len(result)), min(FIRST_PLACE, len(others))), region)
    return result


def _tests(evidence: CoverageEvidence) -> Iterator[Region]:
    """The failing tests, as far as their failures say where they are."""
    for failure in evidence.failing.values():
        for frame in failure.frames if failure else ():
            text = evidence.text_of(frame.path) if is_trusted(frame.path, evidence.patterns) else None
            test = definitions.enclosing_definition(text, frame.line, frame.path) if text is not None else None
            if test is not None:
                yield Region(path=frame.path, qualname=test.qualname, start=test.start, end=test.end)


@dataclass(frozen=True, kw_only=True)
class _Module:
    """Meanings of the names in one module.

    `imports` has the module and the name in it, "" for the module itself; `whole` are modules with `import *`.
    """

    path: str
    source: Fragment
    assignments: Mapping[str, Assignment]
    classes: Mapping[str, ast.ClassDef]
    imports: Mapping[str, tuple[str, str]]
    whole: Sequence[str]


@dataclass(frozen=True, kw_only=True)
class Names:
    """Looks up names in the modules of a workspace; `patterns` is pytest's `python_files`."""

    root: Path
    text_of: TextOf
    patterns: Sequence[str] | None
    modules: dict[str, _Module | None] = field(default_factory=dict)
    files: dict[tuple[str, str], str | None] = field(default_factory=dict)

    def quoted_by(self, region: Region) -> list[str]:
        """The texts of a function that may be names."""
        return _QUOTED.findall(definitions.line_span(self.text_of(region.path) or "", region.start, region.end))

    def read_by(
        self, region: Region, paths: Collection[str], quoted: Collection[str] = ()
    ) -> Iterator[tuple[Region, float]]:
        """Yields the assignments that a function reads, with its share of the suspicion.

        `paths` are the files whose classes may be derived from the function's own. `quoted` are names of attributes
        that something reads of the classes which the function names.
        """
        module = self._module(region.path)
        if module is None:
            return
        text = definitions.line_span(self.text_of(region.path) or "", region.start, region.end)
        owner = region.qualname.rpartition(".")[0]
        text = with_plain_ends(text)
        places = [*self._places(module, owner, text, paths), *self._attributes_of_named(module, text, quoted)]
        waiting = [(place, DISCOUNT) for place in places]
        seen: set[tuple[str, str]] = set()
        while waiting:
            (other, name), share = waiting.pop(0)
            node = other.assignments.get(name)
            if node is None or (other.path, name) in seen:
                continue
            seen.add((other.path, name))
            if may_change(other.path, self.patterns):
                end = node.end_lineno or node.lineno
                yield Region(path=other.path, qualname=name, start=node.lineno, end=end, assigns=True), share
            if share > DISCOUNT**STEPS and node.value is not None:
                inner = source_of(node.value, other.source.lines)
                parts = self._places(other, name.rpartition(".")[0], f"({inner})", ())
                waiting += [(place, share * DISCOUNT) for place in parts]

    def _places(self, module: _Module, owner: str, text: str, paths: Collection[str]) -> Iterator[tuple[_Module, str]]:
        """Yields the module and qualified name of everything that the code may read; `owner` is the class around it."""
        fragment = parse_fragment(text)
        if isinstance(fragment, SyntaxError):
            return
        nodes = [each for part in fragment.body for each in _without_annotations(part)]
        used = {node.id for node in nodes if isinstance(node, ast.Name)}
        for name in sorted(free_names(text) & used - _NEVER):
            yield from self._name(module, name)
        # Defaults and decorators of a method are names of its class first, as is what a class attribute is made of.
        functions = [node for node in fragment.body if isinstance(node, FUNCTIONS)]
        outer: list[ast.AST] = [part for node in functions for part in (node.args, *node.decorator_list)]
        outer += [node for node in fragment.body if isinstance(node, ast.Expr)]
        for node in (each for part in outer if owner for each in ast.walk(part)):
            if isinstance(node, ast.Name):
                yield module, f"{owner}.{node.id}"
        objects = dict(made for node in nodes if isinstance(node, ast.Assign) and (made := _made_object(node)))
        for node in nodes:
            if not isinstance(node, ast.Attribute) or not isinstance(node.ctx, ast.Load):
                continue
            receiver = _class_of(node.value, objects)
            if receiver in _RECEIVERS and owner:
                yield from self._attribute(module, owner, node.attr, paths)
            elif receiver in module.classes:
                yield from self._attribute(module, receiver, node.attr, ())
            elif receiver:
                for other, name in self._name(module, receiver):
                    if name in other.classes:
                        yield from self._attribute(other, name, node.attr, ())
                    elif not name:
                        yield other, node.attr

    def _attributes_of_named(
        self, module: _Module, text: str, attributes: Collection[str]
    ) -> Iterator[tuple[_Module, str]]:
        for name in sorted(free_names(text)) if attributes else ():
            for other, owner in self._name(module, name):
                for attribute in sorted(attributes):
                    yield from self._attribute(other, owner, attribute, ())

    def _name(self, module: _Module, name: str) -> Iterator[tuple[_Module, str]]:
        if name in module.imports:
            yield from self._find_imported(module, name)
        elif name in module.assignments or name in module.classes or not module.whole:
            yield module, name
        else:
            yield from ((other, name) for dotted in module.whole if (other := self._find_module(dotted, module.path)))

    def _attribute(
        self, module: _Module, owner: str, name: str, paths: Collection[str]
    ) -> Iterator[tuple[_Module, str]]:
        """Yields where a class, its bases, or a class of `paths` that is derived from it may have the attribute."""
        waiting, seen = [(module, owner)], set[tuple[str, str]]()
        while waiting:
            place, class_name = waiting.pop()
            if (place.path, class_name) in seen or class_name not in place.classes:
                continue
            seen.add((place.path, class_name))
            yield place, f"{class_name}.{name}"
            for base in place.classes[class_name].bases:
                if isinstance(base, ast.Name):
                    waiting += self._name(place, base.id)
        for path in paths:
            other = self._module(path)
            for class_name, node in other.classes.items() if other else ():
                if any(getattr(base, "id", "") == owner or getattr(base, "attr", "") == owner for base in node.bases):
                    yield other, f"{class_name}.{name}"  # type: ignore[misc]

    def _find_imported(self, module: _Module, name: str) -> Iterator[tuple[_Module, str]]:
        """Yields the module of the workspace that an imported name is in, and its name there; "" for a module."""
        source, original = module.imports[name]
        places = [(f"{source}.{original}", ""), (source, original)] if original else [(source, "")]
        for dotted, inner in places:
            if other := self._find_module(dotted, module.path):
                yield other, inner
                return

    def _find_module(self, dotted: str, importer: str) -> _Module | None:
        """The module of the workspace that an import means."""
        key = (dotted, importer)
        if key not in self.files:
            self.files[key] = find_module(dotted, self.root, importer)
        path = self.files[key]
        return self._module(path) if path else None

    def _module(self, path: str) -> _Module | None:
        if path not in self.modules:
            self.modules[path] = _read_module(path, self.text_of)
        return self.modules[path]


def _read_module(path: str, text_of: Callable[[str], str | None]) -> _Module | None:
    text = with_plain_ends(text_of(path) or "")
    tree = parse_module(text)
    if isinstance(tree, SyntaxError):
        return None
    source = Fragment(lines=tuple(text.split("\n")), body=tuple(tree.body))
    imports: dict[str, tuple[str, str]] = {}
    whole: list[str] = []
    for node in walk_statements(tree.body):
        if isinstance(node, ast.Import):
            imports |= {each.asname or each.name: (each.name, "") for each in node.names}
        elif isinstance(node, ast.ImportFrom):
            dotted = absolute_module(node.module or "", node.level, path)
            whole += [dotted] if node.names[0].name == "*" else []
            imports |= {each.asname or each.name: (dotted, each.name) for each in node.names}
    classes = {name: node for name, node in find_definitions(tree.body) if isinstance(node, ast.ClassDef)}
    return _Module(
        path=path,
        source=source,
        assignments=find_assignments(source),
        classes=classes,
        imports=imports,
        whole=whole,
    )


def _without_annotations(node: ast.AST) -> Iterator[ast.AST]:
    """Yields the node and what is below it, but no annotations, which compute nothing."""
    waiting = [node]
    while waiting:
        current = waiting.pop()
        yield current
        for name, value in ast.iter_fields(current):
            children = value if isinstance(value, list) else [value]
            waiting += [each for each in children if isinstance(each, ast.AST) and name not in _ANNOTATIONS]


def _made_object(node: ast.Assign) -> tuple[str, str] | None:
    """The name that `name = Class(…)` makes an object of, and the class; None for other statements."""
    target, value = node.targets[0], node.value
    if isinstance(target, ast.Name) and isinstance(value, ast.Call) and isinstance(value.func, ast.Name):
        return target.id, value.func.id
    return None


def _class_of(node: ast.expr, objects: Mapping[str, str]) -> str:
    """Returns the owner of an attribute: `self`, a class or a module, also for `type(self)` and `Class()`; or ""."""
    if isinstance(node, ast.Attribute) and node.attr == "__class__":
        node = node.value
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        is_type = node.func.id == "type" and len(node.args) == 1
        node = node.args[0] if is_type else node.func
    return objects.get(node.id, node.id) if isinstance(node, ast.Name) else ""
