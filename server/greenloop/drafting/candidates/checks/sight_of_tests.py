"""Finds code that newly sees its tests: their sources, their modules, or the frames that call it.

Whoever sees the tests can answer from them, and no tamper check of a value finds it. Uses are counted over all texts,
so code that moves is not new; what the user's own code did is not new either.
It must not know who wrote the code.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import PurePosixPath

from greenloop.core.python.ast_source import FUNCTIONS, parse_module
from greenloop.core.python.names import import_keys
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Provenance
from greenloop.core.records.verdict import Frame, SourceRead
from greenloop.core.text.diff import with_plain_ends
from greenloop.drafting.candidates.checks.risky_calls import used_names
from greenloop.project.sources import is_test_file

_FRAMES = {
    "sys._getframe", "sys._current_frames", "sys.settrace", "sys.setprofile", "threading.settrace",
    "threading.setprofile", "inspect.currentframe", "inspect.stack", "inspect.trace", "inspect.getouterframes",
    "inspect.getframeinfo", "traceback.extract_stack", "traceback.format_stack", "traceback.print_stack",
    "traceback.walk_stack",
}  # fmt: skip
_SOURCES = {
    "linecache.getline", "linecache.getlines", "linecache.updatecache", "linecache.cache", "inspect.getsource",
    "inspect.getsourcelines", "inspect.findsource", "inspect.getcomments",
}  # fmt: skip
_CURRENT_TEST = "PYTEST_CURRENT_TEST"  # the variable in which pytest names the running test
_FRAME = "frame"


def describe_uses(problem: Problem, after: Mapping[str, str]) -> tuple[str, ...]:
    """Says what a result newly has in its texts (`after`, by path) by which code can see its tests."""
    return new_uses(_old_texts(problem, after), after, _test_files(problem, after))


def describe_reads(
    problem: Problem, after: Mapping[str, str], reads: Iterable[SourceRead], before: Sequence[SourceRead]
) -> tuple[str, ...]:
    """Says what a result newly read of its tests; `before` is what the user's own code read."""
    return new_reads(reads, before, _old_texts(problem, after), after, _test_files(problem, after))


def _old_texts(problem: Problem, after: Mapping[str, str]) -> dict[str, str]:
    return {path: problem.originals.get(path) or "" for path in after}


def _test_files(problem: Problem, after: Mapping[str, str]) -> set[str]:
    related = {case.partition("::")[0] for case in problem.neighbours}
    tests = {case.path for case in problem.spec.cases if case.provenance is Provenance.USER}
    return (tests | {path for path in related if is_test_file(path)}) - {*after}


def describe_sight(
    old: Mapping[str, str],
    new: Mapping[str, str],
    tests: Collection[str],
    reads: Iterable[SourceRead],
    before: Sequence[SourceRead],
) -> tuple[str, ...]:
    """Says by which new code the tests are seen; `old` and `new` are the texts of the changed files by path.

    `tests` are test files, `reads` what was read in a run of the new code, `before` in one of the old code.
    """
    return tuple(dict.fromkeys((*new_uses(old, new, tests), *new_reads(reads, before, old, new, tests))))


def new_uses(old: Mapping[str, str], new: Mapping[str, str], tests: Collection[str]) -> tuple[str, ...]:
    """One sentence for each kind of use that `new` texts have more of than `old` ones; `tests` are test files."""
    modules = _module_names(tests)
    before = sum((_count(text, path, modules) for path, text in old.items()), Counter[tuple[str, str]]())
    found: dict[tuple[str, str], str] = {}
    after: Counter[tuple[str, str]] = Counter()
    for path, text in new.items():
        for use, count in _count(text, path, modules).items():
            after[use] += count
            if after[use] > before[use]:
                found.setdefault(use, path)
    return tuple(_sentence(kind, name, path) for (kind, name), path in sorted(found.items()))


def new_reads(
    reads: Iterable[SourceRead],
    before: Sequence[SourceRead],
    old: Mapping[str, str],
    new: Mapping[str, str],
    tests: Collection[str],
) -> tuple[str, ...]:
    """One sentence for each thing that new code read while it ran; `before` are the reads of the user's own code.

    Code is new if no old text has its function or statement. A module that code imports is a test only if it is one of
    `tests`: helpers and configuration beside them are imported by honest code.
    """
    known_units = {unit for text in old.values() for unit in _units(text).values()}
    looked = any(kind == _FRAME for path, text in old.items() for kind, _name in _count(text, path, frozenset()))
    sentences: dict[str, None] = {}
    for read in reads:
        frame = next((each for each in read.frames if _is_new(each, new, known_units)), None)
        if frame is None or (read.how == "import" and read.path not in tests) or (read.how == _FRAME and looked):
            continue
        same = (read.how, frame.path, frame.function)
        if any((other.how, each.path, each.function) == same for other in before for each in other.frames):
            continue
        if read.how == _FRAME:
            sentences[f"It newly looks at the calling frame in {frame.path}."] = None
        else:
            sentences[f"It newly {'imports' if read.how == 'import' else 'reads'} {read.path} in {frame.path}."] = None
    return tuple(sentences)


def _sentence(kind: str, name: str, path: str) -> str:
    match kind:
        case "frame":
            return f"It newly looks at the calling frame ({name}) in {path}."
        case "import":
            return f"It newly imports the tests ({name}) in {path}."
        case _:
            return f"It newly inspects sources ({name}) in {path}."


def _count(text: str, path: str, tests: frozenset[str]) -> Counter[tuple[str, str]]:
    """Counts the uses in a module; `tests` are the names of test modules."""
    module = parse_module(with_plain_ends(text))
    uses: Counter[tuple[str, str]] = Counter()
    if isinstance(module, SyntaxError):
        return uses
    aliases: dict[str, str] = {}
    for node in ast.walk(module):
        if isinstance(node, ast.Import | ast.ImportFrom):
            for name, key in import_keys(node).items():
                aliases[name] = key.replace(":", ".")
                if (imported := _tested_module(key, path, tests)) is not None:
                    uses["import", imported] += 1
        elif isinstance(node, ast.Attribute) and node.attr == "f_back":
            uses[_FRAME, "f_back"] += 1
        elif isinstance(node, ast.Constant) and node.value in ("f_back", "_getframe"):
            uses[_FRAME, node.value] += 1
        elif isinstance(node, ast.Constant) and node.value == _CURRENT_TEST:
            uses["source", _CURRENT_TEST] += 1
    for name in used_names(module, aliases):
        if name in _FRAMES:
            uses[_FRAME, name] += 1
        elif name in _SOURCES:
            uses["source", name] += 1
    return uses


def _tested_module(key: str, path: str, tests: frozenset[str]) -> str | None:
    """The test module that an import binds (or takes names from), if it is one."""
    module, _colon, name = key.partition(":")
    level = len(module) - len(module.lstrip("."))
    folders = PurePosixPath(path).parts[: -level or None]
    absolute = ".".join([*(folders if level else ()), *filter(None, [module.lstrip(".")])])
    return next((each for each in (absolute, f"{absolute}.{name}") if each in tests), None)


def _module_names(tests: Collection[str]) -> frozenset[str]:
    """The names by which code may import these files: from the workspace's root, or from any folder above them."""
    names = set()
    for path in tests:
        parts = PurePosixPath(path).with_suffix("").parts
        names |= {".".join(parts[start:]) for start in range(len(parts))}
    return frozenset(names)


def _is_new(frame: Frame, new: Mapping[str, str], known: Collection[str]) -> bool:
    """Is the code of this frame in a changed file, in a function or statement that no old text has?"""
    if frame.path not in new:
        return False
    unit = _units(new[frame.path]).get(frame.line)
    return unit is None or unit not in known


def _units(text: str) -> dict[int, str]:
    """Of each line the meaning of its innermost function, or else of its top-level statement."""
    module = parse_module(with_plain_ends(text))
    units: dict[int, str] = {}
    if isinstance(module, SyntaxError):
        return units
    functions = [node for node in ast.walk(module) if isinstance(node, FUNCTIONS)]  # outer ones before inner ones
    for node in (*module.body, *functions):
        meaning = ast.dump(node)
        first = min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", ()))])
        units.update(dict.fromkeys(range(first, (node.end_lineno or node.lineno) + 1), meaning))
    return units
