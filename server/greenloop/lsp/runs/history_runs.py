"""Restores runs of earlier servers from the history: unapplied results, and interrupted runs.

Everything here is slow (disk, parser) and belongs in a thread; it takes texts and returns runs.
It must not know how they are shown.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from greenloop import api
from greenloop.api.settings import Settings, state_folder
from greenloop.api.state import SessionState
from greenloop.core.events import Started
from greenloop.core.records.attempt import Attempt
from greenloop.core.records.outcome import Outcome, StopReason, Verified
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Region, Spec, Target
from greenloop.core.text.diff import contains, merge, with_plain_ends
from greenloop.core.text.encoding import decode
from greenloop.lsp.documents.disk import bytes_of, encode_as_saved, is_same_text
from greenloop.lsp.runs.runs import KEPT
from greenloop.lsp.state.run import Phase, Run, RunRequest, RunResult

if TYPE_CHECKING:
    from greenloop.api.history import Basis, StoredRun

# Seconds. Results older than a week are not restored.
OLDEST = 7 * 24 * 3600.0
UNFINISHED = "The server stopped before this run finished."

_SILENT = {StopReason.CANCELLED, StopReason.ALREADY_GREEN}


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


def read(root: Path) -> list[EarlierRun]:
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


def restore_run(
    earlier: EarlierRun, target: Target, uri: str, texts: Mapping[str, str | None], settings: Settings
) -> Run | None:
    """The ended run as its server would show it now, with its attempts and its result.

    None where it is of no use any more: its result is in the text already, or does not fit it.
    """
    record = earlier.record
    outcome = record.outcome if earlier.finished else _interrupted_outcome(earlier, texts)
    if outcome is None or (earlier.finished and not _is_applicable(outcome, texts, applied=record.applied is not None)):
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


def _is_applicable(outcome: Outcome, texts: Mapping[str, str | None], *, applied: bool) -> bool:
    """Whether there is a result that fits the text and is not in it.

    A result that was applied before fits only the exact text it was made for: it was never saved, or undone.
    """
    is_in_text, fits = [], []
    for path, after in outcome.after.items():
        before, current_text = outcome.before.get(path), texts.get(path)
        if before == after:
            continue
        old, new, current = with_plain_ends(before or ""), with_plain_ends(after), with_plain_ends(current_text or "")
        is_in_text.append(current_text is not None and contains(old, new, current))
        exact = (current_text is None) == (before is None) and current == old
        mergeable = (
            (current_text is not None or before is None) and not applied and merge(old, new, current) is not None
        )
        fits.append(is_in_text[-1] or exact or mergeable)
    return bool(is_in_text) and all(fits) and not all(is_in_text)


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
    """Whether a file that the run used but its result does not change, such as its tests, has changed."""
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
