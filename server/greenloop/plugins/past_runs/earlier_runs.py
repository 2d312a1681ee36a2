"""Runs of earlier servers: offered again with their unapplied results, or as they were interrupted.

What is slow (disk, parser) is done in threads.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from pygls.lsp.server import LanguageServer

from greenloop import api
from greenloop.api.result_files import plan_texts
from greenloop.api.settings import Settings, state_folder
from greenloop.api.state import SessionState
from greenloop.core.errors import WorkspaceError
from greenloop.core.events import Started
from greenloop.core.records.attempt import Attempt
from greenloop.core.records.outcome import Outcome, StopReason, Verified
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Region, Spec, Target
from greenloop.core.text.encoding import decode
from greenloop.lsp.documents import locations
from greenloop.lsp.documents.composite import CompositeFile
from greenloop.lsp.documents.disk import bytes_of, encode_as_saved, is_same_text
from greenloop.lsp.editor import Editor
from greenloop.lsp.parts import Parts
from greenloop.lsp.presenters.diagnostics_store import DiagnosticsStore
from greenloop.lsp.runs.edit_plan import as_saved, with_plain_ends
from greenloop.lsp.runs.runs import KEPT, Runs
from greenloop.lsp.state.run import Phase, Run, RunRequest, RunResult

if TYPE_CHECKING:
    from greenloop.api.history import Basis, StoredRun

# Seconds. Results older than a week are not restored.
OLDEST = 7 * 24 * 3600.0
UNFINISHED = "The server stopped before this run finished."

_SILENT = {StopReason.CANCELLED, StopReason.ALREADY_GREEN}


def register(_server: LanguageServer, parts: Parts) -> None:
    restorer, documents = RunRestorer(parts.editor, parts.runs, parts.store), parts.documents

    def restore_opened(uri: str) -> None:
        located = documents.file_of(uri)
        if located is not None and documents.root_of(located[0]) is None:
            parts.tasks.spawn(restorer.restore_outside(uri))

    parts.events.on_begin.append(restorer.restore)
    parts.events.on_open.append(restore_opened)


class RunRestorer:
    """Brings runs of earlier servers back into the list of runs."""

    def __init__(self, editor: Editor, runs: Runs, store: DiagnosticsStore) -> None:
        self._client, self._documents, self._settings = editor.client, editor.documents, editor.settings
        self._runs, self._store = runs, store
        # Projects outside the workspace folders whose runs were restored already.
        self._outside: set[Path] = set()

    async def restore(self, roots: Sequence[Path], files: Collection[Path] | None = None) -> None:
        """Restores the runs of these folders, or of some files in them; runs of this server are never changed."""
        for root in roots:
            if earlier_runs := await asyncio.to_thread(read_history, root):
                settings = self._settings.load(root)
                for earlier in earlier_runs:
                    if files is None or root / earlier.file in files:
                        await self._restore_run(root, earlier, settings)

    async def restore_outside(self, uri: str) -> None:
        """The same for the project of a file outside every workspace folder, once for each project."""
        file = locations.locate_for_display(self._documents, uri)
        if file is not None and file.root not in self._outside:
            self._outside.add(file.root)
            await self.restore([file.root])

    async def _restore_run(self, root: Path, earlier: EarlierRun, settings: Settings) -> None:
        documents = self._documents
        composite = documents.composite(root / earlier.file, root)
        if composite is not None:
            earlier = await asyncio.to_thread(_in_editor, composite, earlier)
        texts = {each: documents.text(root / each) for each in earlier.paths}
        target = await asyncio.to_thread(_find_target, root, earlier, texts.get(earlier.file), composite)
        uri = locations.document_uri(documents, root, target) if target else ""
        run = await asyncio.to_thread(make_run, earlier, target, uri, texts, settings) if target else None
        if not earlier.finished and composite is None:
            # Some editors keep the diagnostics of a server that crashed.
            for each in earlier.paths:
                self._store.clear_leftovers(root / each)
        if run is not None and (root in self._outside or documents.root_of(root) is not None):
            self._runs.restore(run)
            self._client.log(f"Restored the earlier run of {run.target.selector}.")


def _find_target(root: Path, earlier: EarlierRun, text: str | None, composite: CompositeFile | None) -> Target | None:
    path, _, name = earlier.record.target.partition("::")
    if composite is not None:
        return composite.find_target(path, name)
    return locations.target_named(root, text, path, name) if text is not None and name else None


def _in_editor(composite: CompositeFile, earlier: EarlierRun) -> EarlierRun:
    """The run with the editor's current texts; without its result where they have changed."""
    outcome = earlier.record.outcome
    adapted = composite.in_editor(outcome) if outcome else None
    return replace(earlier, record=replace(earlier.record, outcome=adapted))


@dataclass(frozen=True, kw_only=True)
class EarlierRun:
    """The newest run of its target by a process that has ended; `is_finished` is False for an interrupted run."""

    record: StoredRun
    basis: Basis | None

    @property
    def finished(self) -> bool:
        return self.record.state == "finished"

    @property
    def file(self) -> str:
        """The workspace path of its target."""
        return self.record.target.partition("::")[0]

    @property
    def paths(self) -> set[str]:
        """The files that the run concerns."""
        outcome, basis = self.record.outcome, self.basis
        all_paths = {self.file, *(outcome.after if outcome else ())}
        all_paths |= {region.path for attempt in self.record.attempts for region in _regions(attempt)}
        return all_paths | {case.path for case in (basis.spec.cases if basis else ())}


def read_history(root: Path) -> list[EarlierRun]:
    """The runs of a folder in the history, without those of processes that still run."""
    if not (state_folder() / "history.sqlite3").exists():
        return []
    with api.history.History.open() as history:
        earlier_runs = []
        for record in history.latest(root, since=time.time() - OLDEST, limit=KEPT):
            if record.owned or not record.count or (record.outcome and record.outcome.reason in _SILENT):
                continue
            full_record = history.run(record.id)
            if full_record is not None and full_record.attempts:
                earlier_runs.append(EarlierRun(record=full_record, basis=history.basis(record.id)))
        return earlier_runs


def make_run(
    earlier: EarlierRun, target: Target, uri: str, texts: Mapping[str, str | None], settings: Settings
) -> Run | None:
    """The ended run as its server would show it now, with its attempts and its result.

    None where it is of no use any more: its result is in the text already, or does not fit it.
    """
    record = earlier.record
    outcome = record.outcome if earlier.finished else _interrupted_outcome(earlier, texts)
    if outcome is None or (earlier.finished and not _is_applicable(earlier, texts)):
        return None
    root, now = Path(record.root), time.monotonic()
    started = Started(
        problem=_problem(earlier, outcome, texts),
        baseline=record.attempts[0],
        model=record.model,
        preset=record.preset,
        sandbox=record.sandbox,
        attempts=record.count,
        kind=record.kind,
        run=record.id,
    )
    run = Run(
        RunRequest(root=root, target=target, uri=uri, settings=settings, began_at=now),
        progress=SessionState(started=started, attempts=[*record.attempts], outcome=replace(outcome, run=record.id)),
        result=RunResult(tests_changed=_others_changed(earlier, outcome, texts)),
        phase=Phase.OVER,
        ended_at=now,
    )
    run.is_over.set()
    return run


def _is_applicable(earlier: EarlierRun, texts: Mapping[str, str | None]) -> bool:
    """True if there is a result that fits the text and is not in it.

    A result that was applied before fits only the exact text it was made for: it was never saved, or undone.
    """
    record = earlier.record
    assert record.outcome is not None
    try:
        planned = plan_texts(with_plain_ends(record.outcome), as_saved(Path(record.root), texts))
    except WorkspaceError:
        return False
    remaining = [change for change in planned if change.new != change.old]
    return bool(remaining) and (record.applied is None or not any(change.is_merged for change in remaining))


def _interrupted_outcome(earlier: EarlierRun, texts: Mapping[str, str | None]) -> Outcome:
    """The outcome of an interrupted run: its best attempt, if the texts are still those it began with."""
    from greenloop.core.compose import before_after  # noqa: PLC0415
    from greenloop.core.election import best_attempt  # noqa: PLC0415 - only runs need it, not the start

    record = earlier.record
    best = best_attempt(record.attempts)
    outcome = Outcome(
        solved=False,
        verified=Verified.UNVERIFIED,
        reason=StopReason.INTERRUPTED,
        message=UNFINISHED,
        attempts=record.attempts,
        best=best.number if best else None,
    )
    if best is None or best.candidate is None or any(region.created for region in _regions(best)):
        return outcome
    earlier_texts = {
        path: _text_as_run(earlier, path, texts.get(path)) for path in {region.path for region in _regions(best)}
    }
    before = {path: text for path, text in earlier_texts.items() if text is not None}
    if len(before) < len(earlier_texts):
        return outcome
    problem = Problem(root=Path(record.root), spec=Spec(), regions=_regions(best), originals=before, files=before)
    old, new = before_after(problem, best.candidate)
    return replace(outcome, before=old, after=new)


def _others_changed(earlier: EarlierRun, outcome: Outcome, texts: Mapping[str, str | None]) -> bool:
    """True if a file that the run used but its result does not change, such as its tests, has changed."""
    digests = {**earlier.basis.files, **earlier.basis.code} if earlier.basis is not None else {}
    other_paths = (path for path in earlier.paths if path in digests and path not in outcome.after)
    return any(_text_as_run(earlier, path, texts.get(path)) is None for path in other_paths)


def _text_as_run(earlier: EarlierRun, path: str, text: str | None) -> str | None:
    """The text as the run had it, if it differs from the current text in line ends at most; else None."""
    if text is None or earlier.basis is None:
        return None
    digest = {**earlier.basis.files, **earlier.basis.code}.get(path)
    file = Path(earlier.record.root) / path
    versions = [encode_as_saved(text, file)]
    if (data := bytes_of(file)) is not None and is_same_text(data, text):
        versions.append(data)
    matching = next((data for data in versions if hashlib.sha256(data).hexdigest()[:16] == digest), None)
    return decode(matching)[0] if matching is not None else None


def _problem(earlier: EarlierRun, outcome: Outcome, texts: Mapping[str, str | None]) -> Problem:
    """The problem as far as the history has it: enough to show the attempts and to verify a merge."""
    basis, attempts = earlier.basis, earlier.record.attempts
    best = attempts[outcome.best] if outcome.best is not None and outcome.best < len(attempts) else None
    regions = _regions(best) or next((changed for each in attempts if (changed := _regions(each))), ())
    originals = {path: texts.get(path) for path in earlier.paths} | dict(outcome.before)
    return Problem(
        root=Path(earlier.record.root),
        spec=basis.spec if basis else Spec(),
        regions=regions,
        originals=originals,
        files={path: text for path, text in originals.items() if text is not None},
        neighbours=basis.neighbours if basis else (),
    )


def _regions(attempt: Attempt | None) -> tuple[Region, ...]:
    return tuple(attempt.candidate.texts) if attempt is not None and attempt.candidate is not None else ()
