"""Tests that were designed, confirmed or found as examples, written into the project's own test file.

The file is the one that tests the module already, else a new one where the project's tests are; the hand is that of
the file (`core/testfile.py`). What is written was run in the sandbox with the accepted code before it is offered.
"""

from __future__ import annotations

import ast
import asyncio
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath

from greenloop.core.errors import GreenloopError
from greenloop.core.ports import Session
from greenloop.core.python.ast_source import parse_module, plain_name
from greenloop.core.records.attempt import Attempt
from greenloop.core.records.outcome import Outcome
from greenloop.core.records.problem import Problem
from greenloop.core.records.sandbox import TestRun
from greenloop.core.records.spec import Provenance
from greenloop.core.report import case_results
from greenloop.core.testfiles.append import FileForm, append_tests, detect_style, new_tests
from greenloop.core.testfiles.imports import TargetImports, resolve_imports
from greenloop.core.testfiles.naming import class_name
from greenloop.core.testfiles.render import KINDS, render_case, without_repeated_remarks
from greenloop.core.text.diff import with_plain_ends
from greenloop.core.text.encoding import declared_encoding, why_not_encodable
from greenloop.project import sources

SECONDS = 60.0  # for the written tests together


@dataclass(frozen=True, kw_only=True)
class Addition:
    """What a test file gains. `before` None: it is new; `ids`: case id -> node id of the written test.

    `left_out` says in one sentence each what was not written.
    """

    path: str = ""
    before: str | None = None
    after: str = ""
    ids: Mapping[str, str] = field(default_factory=dict)
    left_out: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        """What was written and what was not, for the result."""
        many = f"{len(self.ids)} test{'s' * (len(self.ids) != 1)}"
        rows = [f"{many} written into {self.path}."] if self.ids else []
        return " ".join([*rows, *self.left_out])


def build_addition(
    problem: Problem,
    attempts: Sequence[Attempt],
    text_of: Callable[[str], str | None],
    *,
    hypothesis: bool,
    without: Collection[str] = (),
) -> Addition:
    """The test file with the believed cases of `problem.spec` that greenloop wrote down; `without` are case ids.

    `text_of` gives a workspace file's text. Properties need Hypothesis in the project's own environment; the inputs
    that broke earlier attempts stay with them as examples.
    """
    region = problem.regions[0]
    known = [case for case in problem.spec.cases if case.provenance in KINDS and case.id not in without]
    left: list[str] = []
    if not hypothesis and any(case.provenance is Provenance.PROPERTY for case in known):
        known = [case for case in known if case.provenance is not Provenance.PROPERTY]
        left.append("The property tests were not written: Hypothesis is not installed in the project.")
    name = plain_name(region.qualname)
    module = sources.module_name(region.path, problem.root)
    path, model = choose_file(problem, text_of)
    before = text_of(path)
    text = before or ""
    if isinstance(parse_module(with_plain_ends(text)), SyntaxError):
        return Addition(left_out=(f"No tests were written: {path} cannot be parsed.",))
    hand = detect_style(text) if before is not None else detect_style(model)
    taken = set(re.findall(r"\b\w+\b", text))
    tests = []
    for case in sorted(known, key=lambda each: list(KINDS).index(each.provenance)):
        test = render_case(case, problem.spec.files, module, name, taken, attempts)
        if test is None or why_not_encodable(test.body, declared_encoding(text)):
            left.append(f"`{case.source}` was not written: it cannot be expressed in {path}.")
            continue
        taken.add(test.name)
        tests.append(test)
    names = sorted({each for test in tests for each in test.uses})
    reached = _access(text, path, module, names, problem)
    tests = new_tests(text, hand, reached, tests)
    if not tests:
        return Addition(left_out=tuple(left))
    title = class_name(name, taken)
    prefix = path if hand.kind is FileForm.FUNCTIONS else f"{path}::{title}"
    return Addition(
        path=path,
        before=before,
        after=append_tests(text, hand, reached, without_repeated_remarks(tests), title),
        ids={test.case: f"{prefix}::{test.name}" for test in tests},
        left_out=tuple(left),
    )


async def prove_addition(
    open_session: Callable[[], Awaitable[Session]],
    addition: Addition,
    files: Mapping[str, bytes],
    encode: Callable[[str, str], bytes],
) -> dict[str, str]:
    """Of the written tests those that do not pass over `files` (the accepted texts): case id -> what they did.

    Runs in a fresh sandbox, in the place where they will stand.
    """
    session = await open_session()
    try:
        selectors = tuple(addition.ids.values())
        laid = {**files, addition.path: encode(addition.path, addition.after)}
        execution = await session.run(TestRun(selectors=selectors, files=laid, seconds=SECONDS))
    finally:
        await session.close()
    found = {result.id: result for result in case_results(execution)}
    outcomes = {case: found[test].outcome if test in found else "missing" for case, test in addition.ids.items()}
    return {case: outcome for case, outcome in outcomes.items() if outcome != "passed"}


async def add_to_outcome(
    outcome: Outcome,
    problem: Problem,
    text_of: Callable[[str], str | None],
    open_session: Callable[[], Awaitable[Session]],
    files: Mapping[str, bytes],
    encode: Callable[[str, str], bytes],
    *,
    hypothesis: bool,
) -> Outcome:
    """The outcome whose edit also writes the tests; what it says tells of them. It never becomes worse for that."""

    def readable(path: str) -> str | None:
        try:
            return text_of(path)
        except GreenloopError:
            return None

    attempts = outcome.attempts
    try:
        addition = await apply_addition(problem, attempts, readable, open_session, files, encode, hypothesis=hypothesis)
    except GreenloopError as error:
        return replace(outcome, message=f"{outcome.message}; no tests were written: {error}")
    said = f"{outcome.message}; {addition.sentence}" if addition.sentence else outcome.message
    if not addition.ids:
        return replace(outcome, message=said)
    before = {**outcome.before, addition.path: addition.before}
    return replace(outcome, message=said, before=before, after={**outcome.after, addition.path: addition.after})


async def apply_addition(
    problem: Problem,
    attempts: Sequence[Attempt],
    text_of: Callable[[str], str | None],
    open_session: Callable[[], Awaitable[Session]],
    files: Mapping[str, bytes],
    encode: Callable[[str, str], bytes],
    *,
    hypothesis: bool,
) -> Addition:
    """What may be offered: the written tests that pass where they will stand; the others are named in `left_out`."""
    first = addition = await asyncio.to_thread(build_addition, problem, attempts, text_of, hypothesis=hypothesis)
    dropped: set[str] = set()
    for _round in range(2):
        if not addition.ids:
            break
        worse = await prove_addition(open_session, addition, files, encode)
        if not worse:
            return replace(addition, left_out=(*addition.left_out, *_unproved_tests(problem, first, dropped)))
        dropped |= set(worse)
        addition = build_addition(problem, attempts, text_of, hypothesis=hypothesis, without=dropped)
    return Addition(left_out=(*first.left_out, *_unproved_tests(problem, first, dropped or set(first.ids))))


def _unproved_tests(problem: Problem, first: Addition, ids: Collection[str]) -> list[str]:
    if not ids:
        return []
    named = [f"`{case.source}`" for case in problem.spec.cases if case.id in ids]
    listed = ", ".join(named[:3]) + (f" and {len(named) - 3} more" if len(named) > 3 else "")
    return [f"Not written into {first.path} because it does not pass there: {listed}."]


# -- where ----------------------------------------------------------------------------------------------------------


def choose_file(problem: Problem, text_of: Callable[[str], str | None]) -> tuple[str, str]:
    """(the test file's path, the text of a file whose hand a new one takes).

    The test file that imports the module and names the function most; else a new one among the project's tests.
    """
    root, target = problem.root, problem.regions[0].path
    name = plain_name(problem.regions[0].qualname).partition(".")[0]
    patterns = sources.file_patterns(root)
    stem = PurePosixPath(target).stem
    found = [path for path in {*sources.python_files(root), *problem.buffers} if sources.is_test_file(path, patterns)]
    tests = {path: text for path in sorted(found) if (text := text_of(path)) is not None and path != target}
    tests = {
        path: text for path, text in tests.items() if not isinstance(parse_module(with_plain_ends(text)), SyntaxError)
    }
    importing = {path: text for path, text in tests.items() if _imports(problem, path, text)}
    if importing:
        own = {path for path in importing if stem in PurePosixPath(path).stem.replace("test", "").strip("_").split(".")}

        def rank(path: str) -> tuple[bool, int, int]:
            return path in own, len(re.findall(rf"\b{re.escape(name)}\b", importing[path])), -len(path)

        best = max(sorted(importing), key=rank)
        return best, importing[best]
    folder = _folder(root_tests=tests, target=target, top=sources.pytest_option(root, "testpaths"))
    new = _new_file_name(folder, problem, patterns, tests)
    return new, next((tests[path] for path in tests if str(PurePosixPath(path).parent) == folder), "")


def _imports(problem: Problem, path: str, text: str) -> bool:
    for module, names, _line in sources.find_imports(with_plain_ends(text), path):
        for each in (module, *(f"{module}.{name}" for name in names)):
            if each and sources.find_module(each, problem.root, path) == problem.regions[0].path:
                return True
    return False


def _folder(root_tests: Collection[str], target: str, top: Sequence[str]) -> str:
    """Where most of the project's test files are, the nearest to the target among equals; else beside the target."""
    beside = str(PurePosixPath(target).parent)
    counted = Counter(str(PurePosixPath(path).parent) for path in root_tests)
    if not counted:
        return top[0].rstrip("/") if top else beside
    return max(sorted(counted), key=lambda folder: (counted[folder], folder == beside))


def _new_file_name(folder: str, problem: Problem, patterns: Sequence[str], tests: Collection[str]) -> str:
    """A name that pytest collects and that no other test file has, in whatever folder: modules are known by it."""
    target = PurePosixPath(problem.regions[0].path)
    after = sum(PurePosixPath(path).stem.endswith("_test") for path in tests) > len(tests) / 2
    pattern = next((each for each in patterns if sources.is_test_file("test_x.py", [each])), patterns[0])
    pattern = next((each for each in patterns if each == "*_test.py"), pattern) if after else pattern
    used = {PurePosixPath(path).name for path in tests}
    plain = target.stem if target.stem != "__init__" else target.parent.name or "package"
    function = problem.regions[0].qualname.replace(".", "_").lower()
    for stem in (plain, f"{target.parent.name}_{plain}", f"{plain}_{function}", f"{plain}_greenloop"):
        name = PurePosixPath(pattern.replace("*", stem.strip("_"), 1).replace("*", "")).name
        if name not in used and not (problem.root / folder / name).exists():
            break
    return name if folder == "." else f"{folder}/{name}"


def _access(text: str, path: str, module: str, names: Sequence[str], problem: Problem) -> TargetImports:
    """All ways in which the file spells the module: as it imports it already, else as the project does."""
    own, seen = [module], {module}
    for node in ast.walk(parse_module(with_plain_ends(text))):  # type: ignore[arg-type]
        spelled: list[str] = []
        if isinstance(node, ast.ImportFrom):
            whole = "." * node.level + (node.module or "")
            dot = "" if whole.endswith(".") else "."
            spelled = [whole, *(f"{whole}{dot}{each.name}" for each in node.names)]
        elif isinstance(node, ast.Import):
            spelled = [each.name for each in node.names]
        for each in spelled:
            level = len(each) - len(each.lstrip("."))
            absolute = sources.absolute_module(each.lstrip("."), level, path)
            if each not in seen and sources.find_module(absolute, problem.root, path) == problem.regions[0].path:
                own.append(each)
            seen.add(each)
    return resolve_imports(text, module, own, names)
