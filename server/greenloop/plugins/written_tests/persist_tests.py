"""Writes generated, confirmed and example tests into the project's own test file.

The file is the one that already tests the module, else a new one among the project's tests; the tests are plain
functions, which the project's own formatter lays out. Tests are offered only after they passed in the sandbox with the
accepted code.
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
from greenloop.core.python.ast_source import parse_module, plain_name
from greenloop.core.records.outcome import Outcome
from greenloop.core.records.problem import Problem
from greenloop.core.text.diff import with_plain_ends
from greenloop.core.text.encoding import declared_encoding, why_not_encodable
from greenloop.plugins.written_tests.append import REMARKS, append_tests, is_unittest, render_tests
from greenloop.plugins.written_tests.formatting import format_code
from greenloop.plugins.written_tests.settings import WrittenTestSettings
from greenloop.project import sources
from greenloop.project.settings import Settings
from greenloop.wording.notes import list_some
from greenloop_sandbox import Session, TestRun, case_results

SECONDS = 60.0  # wall time for all written tests together


@dataclass(frozen=True, kw_only=True)
class Addition:
    """Tests added to a test file. `before` None: the file is new; `ids`: case id -> node id of the written test.

    `left_out` has one sentence for each test that was not written.
    """

    path: str = ""
    before: str | None = None
    after: str = ""
    ids: Mapping[str, str] = field(default_factory=dict)
    left_out: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        """Sentence for the user about the tests that were written and those that were not."""
        count = "1 test was" if len(self.ids) == 1 else f"{len(self.ids)} tests were"
        rows = [f"{count} written into {self.path}."] if self.ids else []
        return " ".join([*rows, *self.left_out])


def build_addition(
    problem: Problem,
    text_of: Callable[[str], str | None],
    without: Collection[str] = (),
) -> Addition:
    """Adds the trusted cases of `problem.spec` that greenloop wrote to the test file, except the case ids `without`.

    `text_of` returns a workspace file's text. Tests of properties are not written: only the laboratory makes them.
    """
    region = problem.regions[0]
    cases = [case for case in problem.spec.cases if case.provenance in REMARKS and case.id not in without]
    left_out: list[str] = []
    module = sources.module_name(region.path, problem.root)
    path = choose_file(problem, text_of)
    before = text_of(path)
    text = before or ""
    if isinstance(parse_module(with_plain_ends(text)), SyntaxError):
        return Addition(left_out=(f"No tests were written: {path} cannot be parsed.",))

    def is_target(spelling: str) -> bool:
        level = len(spelling) - len(spelling.lstrip("."))
        absolute = sources.absolute_module(spelling.lstrip("."), level, path)
        return spelling == module or sources.find_module(absolute, problem.root, path) == region.path

    order = list(REMARKS)
    tests = []
    for case, test in render_tests(
        sorted(cases, key=lambda each: order.index(each.provenance)),
        problem.spec.files,
        text,
        module=module,
        function=plain_name(region.qualname),
        is_target=is_target,
    ):
        if test is None or why_not_encodable(test.code, declared_encoding(text)):
            left_out.append(f"`{case.source}` was not written: it cannot be expressed in {path}.")
        else:
            tests.append(test)
    if not tests:
        return Addition(left_out=tuple(left_out))
    code = format_code("\n\n\n".join(test.code for test in tests) + "\n", problem.root, path)
    imports = dict.fromkeys(each for test in tests for each in test.imports)
    return Addition(
        path=path,
        before=before,
        after=append_tests(text, code, [*imports]),
        ids={test.case: f"{path}::{test.name}" for test in tests},
        left_out=tuple(left_out),
    )


@dataclass(frozen=True, kw_only=True)
class PersistedTests:
    """The tests of a problem that are written into its project.

    `files` are the accepted texts, over which the tests are proved in fresh sandboxes; `encode` encodes a file's text.
    """

    settings: Settings
    problem: Problem
    text_of: Callable[[str], str | None]
    open_session: Callable[[], Awaitable[Session]]
    files: Mapping[str, bytes]
    encode: Callable[[str, str], bytes]

    async def add_to(self, outcome: Outcome) -> Outcome:
        """Adds the tests to the outcome's edit and message, if the settings ask for it.

        A failure to write them never spoils the outcome.
        """
        if not self.settings.of(WrittenTestSettings).write:
            return outcome
        try:
            addition = await self._build_proved()
        except GreenloopError as error:
            return replace(outcome, message=f"{outcome.message} No tests were written: {error}")
        message = f"{outcome.message} {addition.sentence}" if addition.sentence else outcome.message
        if not addition.ids:
            return replace(outcome, message=message)
        before = {**outcome.before, addition.path: addition.before}
        return replace(outcome, message=message, before=before, after={**outcome.after, addition.path: addition.after})

    async def _build_proved(self) -> Addition:
        """Builds the addition with the tests that pass in their new file; the others are named in `left_out`."""

        async def build() -> Addition:
            return await asyncio.to_thread(build_addition, self.problem, self._readable, dropped)

        dropped: set[str] = set()
        proposed = addition = await build()
        for _round in range(2):
            if not addition.ids:
                break
            failing = await self._failing(addition)
            if not failing:
                return replace(addition, left_out=(*addition.left_out, *self._unproved(proposed, dropped)))
            dropped |= failing
            addition = await build()
        return Addition(left_out=(*proposed.left_out, *self._unproved(proposed, dropped or set(proposed.ids))))

    def _readable(self, path: str) -> str | None:
        try:
            return self.text_of(path)
        except GreenloopError:
            return None

    async def _failing(self, addition: Addition) -> set[str]:
        """The cases whose written tests do not pass in a fresh sandbox, in the file that they will be written to."""
        session = await self.open_session()
        try:
            overlay = {**self.files, addition.path: self.encode(addition.path, addition.after)}
            run = TestRun(selectors=tuple(addition.ids.values()), files=overlay, seconds=SECONDS)
            execution = await session.run(run)
        finally:
            await session.close()
        passed = {result.id for result in case_results(execution) if result.passed}
        return {case for case, test in addition.ids.items() if test not in passed}

    def _unproved(self, proposed: Addition, ids: Collection[str]) -> list[str]:
        labels = [f"`{case.source}`" for case in self.problem.spec.cases if case.id in ids]
        return [f"Not written into {proposed.path} because it does not pass there: {list_some(labels)}."] if ids else []


# -- the file ---------------------------------------------------------------------------------------------------------


def choose_file(problem: Problem, text_of: Callable[[str], str | None]) -> str:
    """The test file that imports the module and names the function most, else a new one among the project's tests.

    A file of `unittest` classes is left alone.
    """
    root, target = problem.root, problem.regions[0].path
    name = plain_name(problem.regions[0].qualname).partition(".")[0]
    patterns = sources.file_patterns(root)
    stem = PurePosixPath(target).stem
    paths = [path for path in {*sources.python_files(root), *problem.buffers} if sources.is_test_file(path, patterns)]
    texts = {path: text for path in sorted(paths) if (text := text_of(path)) is not None and path != target}
    tests = {path: text for path, text in texts.items() if isinstance(parse_module(with_plain_ends(text)), ast.Module)}
    importing = {path: text for path, text in tests.items() if not is_unittest(text) and _imports(problem, path, text)}
    if importing:
        own = {path for path in importing if stem in PurePosixPath(path).stem.replace("test", "").strip("_").split(".")}

        def rank(path: str) -> tuple[bool, int, int]:
            return path in own, len(re.findall(rf"\b{re.escape(name)}\b", importing[path])), -len(path)

        return max(sorted(importing), key=rank)
    folder = _folder(tests=tests, target=target, test_paths=sources.pytest_option(root, "testpaths"))
    return _new_file_name(folder, problem, patterns, tests)


def _imports(problem: Problem, path: str, text: str) -> bool:
    for module, names, _line in sources.find_imports(with_plain_ends(text), path):
        for each in (module, *(f"{module}.{name}" for name in names)):
            if each and sources.find_module(each, problem.root, path) == problem.regions[0].path:
                return True
    return False


def _folder(tests: Collection[str], target: str, test_paths: Sequence[str]) -> str:
    """Returns the folder with most test files, preferring the target's own among equals; without tests the target's."""
    own_folder = str(PurePosixPath(target).parent)
    counts = Counter(str(PurePosixPath(path).parent) for path in tests)
    if not counts:
        return test_paths[0].rstrip("/") if test_paths else own_folder
    return max(sorted(counts), key=lambda folder: (counts[folder], folder == own_folder))


def _new_file_name(folder: str, problem: Problem, patterns: Sequence[str], tests: Collection[str]) -> str:
    """Returns a name that pytest collects and no other test file in any folder has: pytest imports files by name."""
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
