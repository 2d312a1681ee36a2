"""Diagnostics of failing tests that were run on their own, replaced when the same tests run again.

They are hidden while a refinement shows the same test, and removed once its fix is in the text.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from lsprotocol import types as lsp

from greenloop.core.text.diff import with_plain_ends
from greenloop.core.text.redact import clean_for_display
from greenloop.lsp.connection.convert import LineMap, old_line
from greenloop.lsp.connection.messages import TEST_RESULTS
from greenloop.lsp.editor import Editor
from greenloop.lsp.presenters import case_diagnostics
from greenloop.lsp.presenters.diagnostics import RunDiagnostics, refusal_diagnostic
from greenloop.lsp.presenters.diagnostics_store import DiagnosticsStore
from greenloop.lsp.state.results import example_of
from greenloop.lsp.state.run import Run
from greenloop_sandbox import Failure

if TYPE_CHECKING:
    from greenloop.api.testing import SuiteReport

FindText = Callable[[str], str | None]  # a file's text by its workspace path

# For a test that failed without an exception.
NO_EXCEPTION = "failed without an exception, for example an xfail(strict=True) test that passes"

# Maximum failing tests shown for one file, and characters of a failure's text for a test explorer.
MOST = 100
LONGEST = 20_000


@dataclass(frozen=True, kw_only=True)
class TestFile:
    """TestFile of a test file's diagnostics; with an empty `path`, of the reason why no tests could be run."""

    root: Path
    path: str = ""


@dataclass(frozen=True, kw_only=True)
class FailingTest:
    """A test that failed, or a file that could not be collected; `texts` are its files' texts during the run."""

    id: str
    outcome: str
    path: str
    line: int
    failure: Failure | None = None
    texts: Mapping[str, str] = field(default_factory=dict)


class FailingTests:
    """The failing tests by test file, from the last run of each test."""

    def __init__(
        self, editor: Editor, store: DiagnosticsStore, runs: Iterable[Run], run_diagnostics: RunDiagnostics
    ) -> None:
        self._client, self._documents = editor.client, editor.documents
        self._store, self._runs, self._run_diagnostics = store, runs, run_diagnostics
        self._failing: dict[TestFile, dict[str, FailingTest]] = {}
        store.on_change = self._hide_duplicates

    def update(self, root: Path, report: SuiteReport, texts: Mapping[str, str]) -> None:
        """Shows the results of a test run; `texts` are those of the open files at its start."""
        ran = {result.id for result in report.results} | set(report.left_out)
        broken = {error.id.split("::", 1)[0] for error in report.errors}
        find_text, failing = self._texts_at_start(root, texts), dict[str, FailingTest]()
        example_functions = {example_of(case) for case in ran} - {""}
        for path in {case.split("::", 1)[0] for case in ran} | set(report.files) | broken:
            owner = TestFile(root=root, path=path)
            is_complete = path in report.files or path in broken
            earlier = {} if is_complete else self._failing.get(owner, {})
            kept = {
                id_: each
                for id_, each in earlier.items()
                if id_ not in ran and example_of(id_) not in example_functions
            }
            kept.pop(path, None)
            new = {each.id: each for each in _failing_tests(report, path, find_text)}
            self._failing[owner] = dict(list((kept | new).items())[:MOST])
            failing |= new
            self._show(owner)
        if self._client.capabilities.tests:
            self._publish(root, report, failing)
        self.clear_refusal(root)
        self._supersede(root, {result.id: result.passed for result in report.results})

    def _publish(self, root: Path, report: SuiteReport, failing: Mapping[str, FailingTest]) -> None:
        """Sends every result to a client with a test explorer."""
        ended = {result.id: (result.outcome, result.seconds) for result in report.results}
        rows = []
        for id_, (outcome, seconds) in (ended | {error.id: ("error", 0.0) for error in report.errors}).items():
            uri = self._documents.uri_of(root / id_.split("::", 1)[0])
            row = {"uri": uri, "test": id_, "outcome": outcome, "seconds": round(seconds, 3)}
            if (test := failing.get(id_)) is not None:
                path, item = self._diagnostic(root, test)
                at = {"uri": self._documents.uri_of(path), "line": item.range.start.line}
                row |= {"message": item.message.partition(": ")[2], "at": at}
                if (failure := test.failure) is not None:
                    texts = {"text": failure.text, "expected": failure.expected, "observed": failure.observed}
                    row |= {key: clean_for_display(text)[:LONGEST] for key, text in texts.items() if text is not None}
            rows.append(row)
        self._client.notify(TEST_RESULTS, {"results": rows})

    def _texts_at_start(self, root: Path, texts: Mapping[str, str]) -> FindText:
        """Returns a cached lookup of texts at the start of a run; closed files are read from disk."""

        @cache
        def text(path: str) -> str | None:
            return texts[path] if path in texts else self._documents.text(root / path)

        return text

    def forget(self, root: Path, path: str) -> None:
        """Removes the diagnostics of a test file that no longer exists."""
        owner = TestFile(root=root, path=path)
        self._failing.pop(owner, None)
        self._store.put(owner, {})

    def remove_passed(self, root: Path, cases: Collection[str]) -> None:
        """Removes the diagnostics of tests that passed in a refinement's baseline, or pass with its result."""
        cases = _and_files(cases)
        for owner in [owner for owner in self._failing if owner.root == root]:
            failing = self._failing[owner]
            if not failing.keys().isdisjoint(cases):
                self._failing[owner] = {id_: each for id_, each in failing.items() if id_ not in cases}
                self._show(owner)

    def clear(self, is_meant: Callable[[Path], bool]) -> None:
        """Removes the diagnostics of the matching files, until their tests run again."""
        for owner in [owner for owner in self._failing if is_meant(owner.root / owner.path)]:
            self.forget(owner.root, owner.path)
        self._store.remove_owners(
            lambda owner: (
                isinstance(owner, TestFile)
                and not owner.path
                and any(is_meant(path) for path in self._store.paths(owner))
            )
        )

    def show_refusal(self, root: Path, path: str, code: str, message: str) -> None:
        """Shows at the top of the saved file why its tests could not be run."""
        item = refusal_diagnostic(case_diagnostics.current_range(self._documents, root / path, 1), code, message)
        self._store.put(TestFile(root=root), {root / path: [item]})

    def clear_refusal(self, root: Path) -> None:
        """Removes that reason, once tests can be run."""
        self._store.put(TestFile(root=root), {})

    def has_failing(self, root: Path, path: str) -> bool:
        """True if any test of this file failed in its last run."""
        return bool(self._failing.get(TestFile(root=root, path=path)))

    def failing_examples(self, root: Path, path: str) -> list[str]:
        """The functions of a file whose docstring examples failed in their last run."""
        failing = self._failing.get(TestFile(root=root, path=path), {})
        return list(dict.fromkeys(filter(None, map(example_of, failing))))

    # -- with refinements -------------------------------------------------------------------------------------------

    def _hide_duplicates(self, changed: Hashable) -> None:
        """Hides the tests that a changed run shows, so that each test is shown once.

        Those that an applied result fixed are removed, also where other runs show them.
        """
        if not isinstance(changed, Run) or changed.started is None:
            return
        cases = _cases(changed)
        if changed.result.applied and changed.outcome is not None and changed.outcome.solved:
            also_fixed = changed.outcome.evidence.also_fixed
            self.remove_passed(changed.root, {*cases, *also_fixed})
            self._supersede(changed.root, dict.fromkeys(also_fixed, True))
            return
        for owner in [owner for owner in self._failing if owner.root == changed.root]:
            if not _and_files(cases).isdisjoint(self._failing[owner]):
                self._show(owner)

    def _supersede(self, root: Path, ran: Mapping[str, bool]) -> None:
        """Removes newly run tests from the diagnostics of ended refinements: the user may have typed since.

        Removes all diagnostics of a refinement whose tests all pass now.
        """
        for run in [run for run in self._runs if run.root == root and not run.running]:
            cases = _cases(run)
            if not self._store.shows(run):
                continue
            if all(ran.get(case) for case in cases):
                self._store.put(run, {})
            elif superseded := (cases & ran.keys()) - run.view.superseded_cases:
                run.view.superseded_cases |= superseded
                self._run_diagnostics.publish(run)

    def _hidden(self, root: Path) -> set[str]:
        runs = [run for run in self._runs if run.root == root and self._store.shows(run)]
        return _and_files({case for run in runs for case in run.shown_cases})

    # -- one file -----------------------------------------------------------------------------------------------------

    def _show(self, owner: TestFile) -> None:
        hidden, by_path = self._hidden(owner.root), dict[Path, list[lsp.Diagnostic]]()
        for each in self._failing[owner].values():
            if each.id not in hidden:
                path, item = self._diagnostic(owner.root, each)
                by_path.setdefault(path, []).append(item)
        if not self._failing[owner]:
            del self._failing[owner]
        self._store.put(owner, by_path)

    def _diagnostic(self, root: Path, test: FailingTest) -> tuple[Path, lsp.Diagnostic]:
        """A failing test's diagnostic, at the current position of its deepest line in the user's own text."""
        find_line, failure = self._line_finder(root, test), test.failure
        path, line = case_diagnostics.deepest_line(root, failure, find_line) or (
            test.path,
            _nearest_line(find_line, test.path, test.line),
        )
        code = case_diagnostics.error_name(failure) if failure and failure.type else test.outcome
        name = test.id.split("::")[-1] if "::" in test.id else f"{test.id} cannot be collected"
        text = (
            case_diagnostics.describe_failure(failure, code) if failure else NO_EXCEPTION if code == "failed" else code
        )
        item = lsp.Diagnostic(
            range=case_diagnostics.current_range(self._documents, root / path, line),
            message=f"{clean_for_display(name)}: {text}",
            severity=lsp.DiagnosticSeverity.Error,
            code=code,
            source="greenloop",
            data={"test": test.id},
        )
        frames = [frame for frame in (failure.frames if failure else ()) if case_diagnostics.is_own_frame(root, frame)]
        if self._client.capabilities.related_information and frames:
            item.related_information = [
                case_diagnostics.related(
                    self._documents,
                    root / frame.path,
                    find_line(frame.path, frame.line) or frame.line,
                    clean_for_display(frame.function) or "here",
                )
                for frame in frames
            ]
        return root / path, item

    def _line_finder(self, root: Path, test: FailingTest) -> case_diagnostics.FindLine:
        """Maps lines of the texts that the test ran with to current lines."""
        line_maps: dict[str, LineMap | None] = {}

        def find_line(path: str, line: int) -> int:
            if path not in line_maps:
                ran_text, current = test.texts.get(path), self._documents.text(root / path)
                has_changed = ran_text is not None and current is not None and ran_text != current
                line_maps[path] = (
                    old_line(with_plain_ends(current or ""), with_plain_ends(ran_text or "")) if has_changed else None
                )
            line_map = line_maps[path]
            return line_map(line) if line_map is not None else line

        return find_line


def _failing_tests(report: SuiteReport, path: str, find_text: FindText) -> list[FailingTest]:
    failing = []
    for error in report.errors:
        if error.id.split("::", 1)[0] == path:
            texts = _texts_of(find_text, path, error.failure)
            failing.append(
                FailingTest(id=error.id, outcome="error", path=path, line=1, failure=error.failure, texts=texts)
            )
    for result in report.results:
        if result.id.split("::", 1)[0] == path and result.outcome in {"failed", "error"}:
            case = report.places.get(result.id)
            failing.append(
                FailingTest(
                    id=result.id,
                    outcome=result.outcome,
                    path=case.path if case else path,
                    line=case.line if case else 1,
                    failure=result.failure,
                    texts=_texts_of(find_text, path, result.failure),
                )
            )
    return failing


def _texts_of(find_text: FindText, path: str, failure: Failure | None) -> dict[str, str]:
    frames = (frame.path for frame in (failure.frames if failure else ()))
    own_paths = (file for file in frames if not Path(file).is_absolute() and "site-packages" not in Path(file).parts)
    return {file: content for file in {path, *own_paths} if (content := find_text(file)) is not None}


def _nearest_line(find_line: case_diagnostics.FindLine, path: str, line: int) -> int:
    """The line, or the last one before it, that still exists."""
    return next((current for n in range(line, 0, -1) if (current := find_line(path, n))), 1)


def _cases(run: Run) -> set[str]:
    return {case.id for case in run.started.problem.spec.cases} if run.started else set()


def _and_files(cases: Collection[str]) -> set[str]:
    """The cases and their files: a test that ran shows that its file can be collected."""
    return {*cases, *(case.split("::", 1)[0] for case in cases)}
