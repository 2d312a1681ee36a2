"""The failing tests of checks as diagnostics: replaced by the next check of the same tests, gone when they pass.

Where a refinement shows the same test, these give way; where it has put a fix into the text, they go.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from lsprotocol import types as lsp

from greenloop.core.diff import flat
from greenloop.core.nouns import Failure
from greenloop.core.redact import clean
from greenloop.lsp.convert import Line, old_line
from greenloop.lsp.edits import text_of
from greenloop.lsp.presenters import diagnostics, refusals
from greenloop.lsp.presenters.cases import Find, deepest, inside, range_of, short, why
from greenloop.lsp.results import example_of
from greenloop.lsp.runs import Run

if TYPE_CHECKING:
    from greenloop.checking import Report
    from greenloop.lsp.server import Server

TextOf = Callable[[str], str | None]  # a file's text by its workspace path

# Of a test that failed and raised nothing.
UNSAID = "failed without an exception, as an xfail(strict=True) that passes"

# Failing tests of one file that are shown.
MOST = 100


@dataclass(frozen=True, kw_only=True)
class Owner:
    """Who shows the failing tests of a test file on the board; `path` empty: why nothing could be tested."""

    root: Path
    path: str = ""


@dataclass(frozen=True, kw_only=True)
class Failing:
    """A test that failed, or a file that could not be collected; `texts` are those of its files as they ran."""

    id: str
    outcome: str
    path: str
    line: int
    failure: Failure | None = None
    texts: Mapping[str, str] = field(default_factory=dict)


class Checked:
    """What fails, by test file, as the last check of each test found it."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._failing: dict[Owner, dict[str, Failing]] = {}
        server.board.on_change = self._gave_way

    def take(self, root: Path, report: Report, texts: Mapping[str, str]) -> None:
        """Shows what a run of tests found; `texts` are those of the open files at its start."""
        ran = {result.id for result in report.results} | set(report.left_out)
        broken = {error.id.split("::", 1)[0] for error in report.errors}
        known = self._as_they_ran(root, texts)
        told_of = {example_of(case) for case in ran} - {""}
        for path in {case.split("::", 1)[0] for case in ran} | set(report.files) | broken:
            owner = Owner(root=root, path=path)
            whole = path in report.files or path in broken
            before = {} if whole else self._failing.get(owner, {})
            old = {id_: each for id_, each in before.items() if id_ not in ran and example_of(id_) not in told_of}
            old.pop(path, None)
            new = {each.id: each for each in _failing(report, path, known)}
            self._failing[owner] = dict(list((old | new).items())[:MOST])
            self._show(owner)
        self.forgive(root)
        self._overtake(root, {result.id: result.passed for result in report.results})

    def _as_they_ran(self, root: Path, texts: Mapping[str, str]) -> TextOf:
        """The texts at the start of a run, those of closed files from the disk: each is read once."""

        @cache
        def text(path: str) -> str | None:
            return texts[path] if path in texts else text_of(self._server, root / path)

        return text

    def forget(self, root: Path, path: str) -> None:
        """A test file is there no more."""
        owner = Owner(root=root, path=path)
        self._failing.pop(owner, None)
        self._server.board.put(owner, {})

    def passed(self, root: Path, cases: Collection[str]) -> None:
        """Somebody else ran these tests, and they passed."""
        cases = _and_files(cases)
        for owner in [owner for owner in self._failing if owner.root == root]:
            mine = self._failing[owner]
            if not mine.keys().isdisjoint(cases):
                self._failing[owner] = {id_: each for id_, each in mine.items() if id_ not in cases}
                self._show(owner)

    def clear(self, is_meant: Callable[[Path], bool]) -> None:
        """Takes back what is shown of some files, until their tests run again."""
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
        """Says at the top of the file that was saved why its tests could not be run."""
        item = refusals.diagnostic(range_of(self._server, root / path, 1), word, sentence)
        self._server.board.put(Owner(root=root), {root / path: [item]})

    def forgive(self, root: Path) -> None:
        """Tests can be run."""
        self._server.board.put(Owner(root=root), {})

    def failing(self, root: Path, path: str) -> bool:
        """Whether anything in this test file failed when it ran last."""
        return bool(self._failing.get(Owner(root=root, path=path)))

    def examples(self, root: Path, path: str) -> list[str]:
        """What of a file has examples in its docstring that failed when they ran last."""
        failing = self._failing.get(Owner(root=root, path=path), {})
        return list(dict.fromkeys(filter(None, map(example_of, failing))))

    # -- beside refinements -----------------------------------------------------------------------------------------

    def _gave_way(self, changed: Hashable) -> None:
        """What a run shows has changed: its tests are shown once, by it."""
        if not isinstance(changed, Run) or changed.started is None:
            return
        cases = _and_files(_cases(changed))
        for owner in [owner for owner in self._failing if owner.root == changed.root]:
            mine = self._failing[owner]
            if cases.isdisjoint(mine):
                continue
            if changed.applied and changed.outcome is not None and changed.outcome.solved:
                self._failing[owner] = {id_: each for id_, each in mine.items() if id_ not in cases}
            self._show(owner)

    def _overtake(self, root: Path, ran: Mapping[str, bool]) -> None:
        """What a refinement that ended unsolved shows of these tests is over: the user may have typed since.

        Nothing of it is left where all of them pass now.
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

    # -- one file's ---------------------------------------------------------------------------------------------------

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
    found = []
    for error in report.errors:
        if error.id.split("::", 1)[0] == path:
            known = _known(text, path, error.failure)
            found.append(Failing(id=error.id, outcome="error", path=path, line=1, failure=error.failure, texts=known))
    for result in report.results:
        if result.id.split("::", 1)[0] == path and result.outcome in {"failed", "error"}:
            case = report.places.get(result.id)
            found.append(
                Failing(
                    id=result.id,
                    outcome=result.outcome,
                    path=case.path if case else path,
                    line=case.line if case else 1,
                    failure=result.failure,
                    texts=_known(text, path, result.failure),
                )
            )
    return found


def _known(text: TextOf, path: str, failure: Failure | None) -> dict[str, str]:
    frames = (frame.path for frame in (failure.frames if failure else ()))
    own = (each for each in frames if not Path(each).is_absolute() and "site-packages" not in Path(each).parts)
    return {each: found for each in {path, *own} if (found := text(each)) is not None}


def _nearest(here: Find, path: str, line: int) -> int:
    """The line that is still there, or the last one before it that is."""
    return next((there for n in range(line, 0, -1) if (there := here(path, n))), 1)


def diagnostic(server: Server, root: Path, failing: Failing) -> tuple[Path, lsp.Diagnostic]:
    """The failing test at the deepest line of the user's own text, wherever that stands by now."""
    here, failure = _finder(server, root, failing), failing.failure
    path, line = deepest(root, failure, here) or (
        failing.path,
        _nearest(here, failing.path, failing.line),
    )
    found = short(failure) if failure and failure.type else failing.outcome
    name = failing.id.split("::")[-1] if "::" in failing.id else f"{failing.id} cannot be collected"
    item = lsp.Diagnostic(
        range=range_of(server, root / path, line),
        message=f"{clean(name)}: {why(failure, found) if failure else UNSAID if found == 'failed' else found}",
        severity=lsp.DiagnosticSeverity.Error,
        code=found,
        source="greenloop",
        data={"test": failing.id},
    )
    frames = [frame for frame in (failure.frames if failure else ()) if inside(root, frame)]
    if server.abilities.related_information and frames:
        item.related_information = [
            lsp.DiagnosticRelatedInformation(
                location=server.documents.location(
                    root / frame.path, range_of(server, root / frame.path, here(frame.path, frame.line) or frame.line)
                ),
                message=clean(frame.function) or "here",
            )
            for frame in frames
        ]
    return root / path, item


def _finder(server: Server, root: Path, failing: Failing) -> Find:
    lines: dict[str, Line | None] = {}

    def here(path: str, line: int) -> int:
        if path not in lines:
            then, now = failing.texts.get(path), text_of(server, root / path)
            moved = then is not None and now is not None and then != now
            lines[path] = old_line(flat(now or ""), flat(then or "")) if moved else None
        step = lines[path]
        return step(line) if step is not None else line

    return here


def _cases(run: Run) -> set[str]:
    return {case.id for case in run.started.problem.spec.cases} if run.started else set()


def _and_files(cases: Collection[str]) -> set[str]:
    """With the files that they stand in: where a test ran, its file can be collected."""
    return {*cases, *(case.split("::", 1)[0] for case in cases)}
