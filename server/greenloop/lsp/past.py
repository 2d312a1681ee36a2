"""Runs of earlier servers, from the history: which results still wait to be applied, and which ended in the middle.

Everything here is slow (disk, parser) and belongs into a thread; texts come in, runs come out.
It must not know who looks at them.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from greenloop.core.diff import flat, merge
from greenloop.core.encoding import decode
from greenloop.core.errors import GreenloopError
from greenloop.core.events import Started
from greenloop.core.nouns import Attempt, Outcome, Problem, Region, Spec, StopReason, Target, Verified
from greenloop.lsp.buffers import encoded
from greenloop.lsp.convert import contains
from greenloop.lsp.runs import KEPT, Phase, Run
from greenloop.settings import Settings, state_folder

if TYPE_CHECKING:
    from greenloop.basis import Basis
    from greenloop.history import Record

# Results older than a week are history only.
OLDEST = 7 * 24 * 3600.0
UNFINISHED = "Its server ended in the middle of it."

_SILENT = {StopReason.CANCELLED, StopReason.ALREADY_GREEN}


@dataclass(frozen=True, kw_only=True)
class Earlier:
    """A run of a process that is gone, the newest of its target; `finished` False: it ended in the middle."""

    record: Record
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
        """The files that it is about."""
        outcome, basis = self.record.outcome, self.basis
        found = {self.file, *(outcome.after if outcome else ())}
        found |= {region.path for attempt in self.record.attempts for region in _regions(attempt)}
        return found | {case.path for case in (basis.spec.cases if basis else ())}


def read(root: Path) -> list[Earlier]:
    """What the history has of a folder; nothing of processes that still live."""
    from greenloop.history import History  # noqa: PLC0415 - only where there is a history

    if not (state_folder() / "history.sqlite3").exists():
        return []
    history = History.open()
    try:
        found = []
        for record in history.latest(root, since=time.time() - OLDEST, limit=KEPT):
            if record.owned or not record.count or (record.outcome and record.outcome.reason in _SILENT):
                continue
            whole = history.run(record.id)
            if whole is not None and whole.attempts:
                found.append(Earlier(record=whole, basis=history.basis(record.id)))
        return found
    finally:
        history.close()


def applied(number: int) -> None:
    """The result of that run is in the user's text now."""
    _noted("applied", number)


def discarded(number: int) -> None:
    """The user wants to see no more of that run."""
    _noted("discard", number)


def _noted(what: str, number: int) -> None:
    from greenloop.history import History  # noqa: PLC0415 - as above

    history = History.open()
    try:
        getattr(history, what)(number)
    finally:
        history.close()


def revived(
    earlier: Earlier, target: Target, uri: str, texts: Mapping[str, str | None], settings: Settings
) -> Run | None:
    """The run as it would stand if its server lived: over, with its attempts and what it has to offer.

    None where nothing of it is of use any more: its result is in the text, or does not fit it.
    """
    record = earlier.record
    outcome = record.outcome if earlier.finished else _interrupted(earlier, texts)
    if outcome is None or (earlier.finished and not _waits(outcome, texts, applied=record.applied is not None)):
        return None
    root, now = Path(record.root), time.monotonic()
    started = Started(
        problem=_problem(earlier, outcome, texts),
        baseline=record.attempts[0],
        model=record.model,
        preset=record.preset,
        sandbox=record.sandbox,
        attempts=record.count,
    )
    run = Run(root=root, target=target, uri=uri, settings=settings, began=now, ended=now, phase=Phase.OVER)
    run.started, run.attempts = started, [*record.attempts]
    run.outcome = replace(outcome, run=record.id)
    run.doubted = _others_changed(earlier, outcome, texts)
    run.over.set()
    return run


def _waits(outcome: Outcome, texts: Mapping[str, str | None], *, applied: bool) -> bool:
    """Is there a result that is not in the text and fits it?

    One that was applied before waits only where the very text stands that it was made for: it was never saved, or
    taken back.
    """
    there, fits = [], []
    for path, after in outcome.after.items():
        before, now = outcome.before.get(path), texts.get(path)
        if before == after:
            continue
        old, new, current = flat(before or ""), flat(after), flat(now or "")
        there.append(now is not None and contains(old, new, current))
        exact = (now is None) == (before is None) and current == old
        mergeable = (now is not None or before is None) and not applied and merge(old, new, current) is not None
        fits.append(there[-1] or exact or mergeable)
    return bool(there) and all(fits) and not all(there)


def _interrupted(earlier: Earlier, texts: Mapping[str, str | None]) -> Outcome:
    """What a run that nobody finished came to: its best attempt, over texts that are still those it began with."""
    from greenloop.core import loop  # noqa: PLC0415 - only runs need it, not the start
    from greenloop.core.compose import before_after  # noqa: PLC0415

    record = earlier.record
    best = loop.best(record.attempts)
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
    known = {path: _same(earlier, path, texts.get(path)) for path in {region.path for region in _regions(best)}}
    before = {path: text for path, text in known.items() if text is not None}
    if len(before) < len(known):
        return outcome
    whole = Problem(root=Path(record.root), spec=Spec(), regions=_regions(best), originals=before, files=before)
    old, new = before_after(whole, best.candidate)
    return replace(outcome, before=old, after=new)


def _others_changed(earlier: Earlier, outcome: Outcome, texts: Mapping[str, str | None]) -> bool:
    """Whether a file that the run was about and that its result does not change, such as its tests, is another now."""
    known = {**earlier.basis.files, **earlier.basis.code} if earlier.basis is not None else {}
    others = (path for path in earlier.paths if path in known and path not in outcome.after)
    return any(_same(earlier, path, texts.get(path)) is None for path in others)


def _same(earlier: Earlier, path: str, text: str | None) -> str | None:
    """The text as the run knew it, where nothing but line ends differ from what is there now; None where more does."""
    if text is None or earlier.basis is None:
        return None
    wanted = {**earlier.basis.files, **earlier.basis.code}.get(path)
    file = Path(earlier.record.root) / path
    kept = [encoded(text, file)]
    try:
        disk = file.read_bytes()
        if flat(decode(disk)[0]) == flat(text.removeprefix("\ufeff")):
            kept.append(disk)
    except (OSError, GreenloopError):
        pass
    found = next((data for data in kept if hashlib.sha256(data).hexdigest()[:16] == wanted), None)
    return decode(found)[0] if found is not None else None


def _problem(earlier: Earlier, outcome: Outcome, texts: Mapping[str, str | None]) -> Problem:
    """As much of the problem as the history has: enough to show the attempts, and to verify a merge."""
    basis, attempts = earlier.basis, earlier.record.attempts
    best = attempts[outcome.best] if outcome.best is not None and outcome.best < len(attempts) else None
    regions = _regions(best) or next((found for each in attempts if (found := _regions(each))), ())
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
