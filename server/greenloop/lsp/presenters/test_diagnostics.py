"""Diagnostics of failing tests that were run on their own, replaced when the same tests run again.

They are hidden while a refinement shows the same test, and removed once its fix is in the text.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from lsprotocol import types as lsp

from greenloop.core.records.verdict import Failure
from greenloop.core.text.diff import with_plain_ends
from greenloop.core.text.redact import clean_for_display
from greenloop.lsp.connection.convert import Line, old_line
from greenloop.lsp.presenters import diagnostics, refusals
from greenloop.lsp.presenters.case_diagnostics import Find, deepest, inside, range_of, short, why
from greenloop.lsp.runs.apply_edit import text_of
from greenloop.lsp.runs.runs import Run
from greenloop.lsp.testing.results import example_of

if TYPE_CHECKING:
    from greenloop.engine.run_tests import Report
    from greenloop.lsp.server import Server

TextOf = Callable[[str], str | None]  # a file's text by its workspace path

# For a test that failed without an exception.
UNSAID = "failed without an exception, as an xfail(strict=True) that passes"

# Maximum failing tests shown for one file.
MOST = 100


@dataclass(frozen=True, kw_only=True)
class Owner:
    """Owner of a test file's diagnostics; with an empty `path`, of the reason why no tests could be run."""

    root: Path
    path: str = ""


@dataclass(frozen=True, kw_only=True)
class Failing:
    """A test that failed, or a file that could not be collected; `texts` are its files' texts during the run."""

    id: str
    outcome: str
    path: str
    line: int
    failure: Failure | None = None
    texts: Mapping[str, str] = field(default_factory=dict)


class Checked:
    """The failing tests by test file, from the last run of each test."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._failing: dict[Owner, dict[str, Failing]] = {}
        server.board.on_change = self._gave_way

    def take(self, root: Path, report: Report, texts: Mapping[str, str]) -> None:
        """Shows the results of a test run; `texts` are those of the open files at its start."""
        ran = {result.id for result in report.results} | set(report.left_out)
        broken = {error.id.split("::", 1)[0] for error in report.errors}
        text_of_path = self._as_they_ran(root, texts)
        example_functions = {example_of(case) for case in ran} - {""}
        for path in {case.split("::", 1)[0] for case in ran} | set(report.files) | broken:
            owner = Owner(root=root, path=path)
            is_complete = path in report.files or path in broken
            earlier = {} if is_complete else self._failing.get(owner, {})
            kept = {
                id_: each
                for id_, each in earlier.items()
                if id_ not in ran and example_of(id_) not in example_functions
            }
            kept.pop(path, None)
            new = {each.id: each for each in _failing(report, path, text_of_path)}
            self._failing[owner] = dict(list((kept | new).items())[:MOST])
            self._show(owner)
        self.forgive(root)
        self._overtake(root, {result.id: result.passed for result in report.results})

    def _as_they_ran(self, root: Path, texts: Mapping[str, str]) -> TextOf:
        """Returns a cached lookup of texts at the start of a run; closed files are read from disk."""

        @cache
        def text(path: str) -> str | None:
            return texts[path] if path in texts else text_of(self._server, root / path)

        return text

    def forget(self, root: Path, path: str) -> None:
        """Removes the diagnostics of a test file that no longer exists."""
        owner = Owner(root=root, path=path)
        self._failing.pop(owner, None)
        self._server.board.put(owner, {})

    def passed(self, root: Path, cases: Collection[str]) -> None:
        """Removes the diagnostics of tests that passed in a refinement's baseline."""
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
        self._server.board.drop(
            lambda owner: (
                isinstance(owner, Owner)
                and not owner.path
                and any(is_meant(path) for path in self._server.board.paths(owner))
            )
        )

    def refuse(self, root: Path, path: str, word: str, sentence: str) -> None:
        """Shows at the top of the saved file why its tests could not be run."""
        item = refusals.diagnostic(range_of(self._server, root / path, 1), word, sentence)
        self._server.board.put(Owner(root=root), {root / path: [item]})

    def forgive(self, root: Path) -> None:
        """Removes that reason, once tests can be run."""
        self._server.board.put(Owner(root=root), {})

    def failing(self, root: Path, path: str) -> bool:
        """Whether any test of this file failed in its last run."""
        return bool(self._failing.get(Owner(root=root, path=path)))

    def examples(self, root: Path, path: str) -> list[str]:
        """The functions of a file whose docstring examples failed in their last run."""
        failing = self._failing.get(Owner(root=root, path=path), {})
        return list(dict.fromkeys(filter(None, map(example_of, failing))))

    # -- with refinements -------------------------------------------------------------------------------------------

    def _gave_way(self, changed: Hashable) -> None:
        """Hides the tests that a changed run shows, so that each test is shown once."""
        if not isinstance(changed, Run) or changed.started is None:
            return
        cases = _and_files(_cases(changed))
        for owner in [owner for owner in self._failing if owner.root == changed.root]:
            failing = self._failing[owner]
            if cases.isdisjoint(failing):
                continue
            if changed.applied and changed.outcome is not None and changed.outcome.solved:
                self._failing[owner] = {id_: each for id_, each in failing.items() if id_ not in cases}
            self._show(owner)

    def _overtake(self, root: Path, ran: Mapping[str, bool]) -> None:
        """Removes newly run tests from the diagnostics of ended refinements: the user may have typed since.

        Removes all diagnostics of a refinement whose tests all pass now.
        """
        for run in [run for run in self._server.runs if run.root == root and not run.running]:
            cases = _cases(run)
            if cases and all(ran.get(case) for case in cases):
                self._server.board.put(run, {})
            elif not cases.isdisjoint(ran) and self._server.board.shows(run):
                run.overtaken |= cases & ran.keys()
                diagnostics.publish(self._server, run)

    def _hidden(self, root: Path) -> set[str]:
        runs = [run for run in self._server.runs if run.root == root and self._server.board.shows(run)]
        return _and_files({case for run in runs for case in run.told})

    # -- one file -----------------------------------------------------------------------------------------------------

    def _show(self, owner: Owner) -> None:
        hidden, by_path = self._hidden(owner.root), dict[Path, list[lsp.Diagnostic]]()
        for each in self._failing[owner].values():
            if each.id not in hidden:
                path, item = diagnostic(self._server, owner.root, each)
                by_path.setdefault(path, []).append(item)
        if not self._failing[owner]:
            del self._failing[owner]
        self._server.board.put(owner, by_path)


def _failing(report: Report, path: str, text: TextOf) -> list[Failing]:
    failing = []
    for error in report.errors:
        if error.id.split("::", 1)[0] == path:
            texts = _known(text, path, error.failure)
            failing.append(Failing(id=error.id, outcome="error", path=path, line=1, failure=error.failure, texts=texts))
    for result in report.results:
        if result.id.split("::", 1)[0] == path and result.outcome in {"failed", "error"}:
            case = report.places.get(result.id)
            failing.append(
                Failing(
                    id=result.id,
                    outcome=result.outcome,
                    path=case.path if case else path,
                    line=case.line if case else 1,
                    failure=result.failure,
                    texts=_known(text, path, result.failure),
                )
            )
    return failing


def _known(text: TextOf, path: str, failure: Failure | None) -> dict[str, str]:
    frames = (frame.path for frame in (failure.frames if failure else ()))
    own_paths = (file for file in frames if not Path(file).is_absolute() and "site-packages" not in Path(file).parts)
    return {file: content for file in {path, *own_paths} if (content := text(file)) is not None}


def _nearest(here: Find, path: str, line: int) -> int:
    """The line, or the last one before it, that still exists."""
    return next((current for n in range(line, 0, -1) if (current := here(path, n))), 1)


def diagnostic(server: Server, root: Path, failing: Failing) -> tuple[Path, lsp.Diagnostic]:
    """A failing test's diagnostic, at the current position of its deepest line in the user's own text."""
    find_line, failure = _finder(server, root, failing), failing.failure
    path, line = deepest(root, failure, find_line) or (
        failing.path,
        _nearest(find_line, failing.path, failing.line),
    )
    code = short(failure) if failure and failure.type else failing.outcome
    name = failing.id.split("::")[-1] if "::" in failing.id else f"{failing.id} cannot be collected"
    text = why(failure, code) if failure else UNSAID if code == "failed" else code
    item = lsp.Diagnostic(
        range=range_of(server, root / path, line),
        message=f"{clean_for_display(name)}: {text}",
        severity=lsp.DiagnosticSeverity.Error,
        code=code,
        source="greenloop",
        data={"test": failing.id},
    )
    frames = [frame for frame in (failure.frames if failure else ()) if inside(root, frame)]
    if server.abilities.related_information and frames:
        item.related_information = [
            lsp.DiagnosticRelatedInformation(
                location=server.documents.location(
                    root / frame.path,
                    range_of(server, root / frame.path, find_line(frame.path, frame.line) or frame.line),
                ),
                message=clean_for_display(frame.function) or "here",
            )
            for frame in frames
        ]
    return root / path, item


def _finder(server: Server, root: Path, failing: Failing) -> Find:
    lines: dict[str, Line | None] = {}

    def find_line(path: str, line: int) -> int:
        if path not in lines:
            ran_text, current = failing.texts.get(path), text_of(server, root / path)
            has_changed = ran_text is not None and current is not None and ran_text != current
            lines[path] = (
                old_line(with_plain_ends(current or ""), with_plain_ends(ran_text or "")) if has_changed else None
            )
        line_map = lines[path]
        return line_map(line) if line_map is not None else line

    return find_line


def _cases(run: Run) -> set[str]:
    return {case.id for case in run.started.problem.spec.cases} if run.started else set()


def _and_files(cases: Collection[str]) -> set[str]:
    """The cases and their files: a test that ran shows that its file can be collected."""
    return {*cases, *(case.split("::", 1)[0] for case in cases)}
