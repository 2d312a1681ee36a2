"""Converts rows of the history into records, and shortens attempts before they are stored."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from greenloop.core.records.attempt import Attempt
from greenloop.core.records.model import Kind
from greenloop.core.records.outcome import Outcome, StopReason
from greenloop.core.records.usage import PastRun
from greenloop.core.text.json_codec import from_json
from greenloop_sandbox import CaseResult

# A test may print a megabyte for each attempt; the history keeps only its start and end.
LONGEST_OUTPUT = 8_000

CUT_SHORT = {StopReason.CANCELLED, StopReason.ENVIRONMENT, StopReason.MODEL, StopReason.CHANGED}

SELECT_RUN = (
    "SELECT id, root, target, preset, model, sandbox, started, finished, applied, pid, born, outcome,"
    " (SELECT count(*) FROM attempts WHERE run = id AND number > 0),"
    " (SELECT kind FROM kinds WHERE run = id) FROM runs"
)


@dataclass(frozen=True, kw_only=True)
class Record:
    """A stored run. `started`, `finished` and `applied` are seconds since the epoch (None: not yet).

    `state` is running, finished, or interrupted (its process ended without finishing it).
    `owned`: the process that ran it, or that applied its result, is alive and may still use it.
    `kind` is that of the model (None: it was not stored).
    `outcome` is None until it is finished; its `attempts`, like `attempts` here, are filled by `History.run` only.
    """

    id: int
    root: str
    target: str
    preset: str
    model: str
    sandbox: str
    started: float
    finished: float | None
    applied: float | None
    state: Literal["running", "finished", "interrupted"]
    owned: bool
    count: int
    outcome: Outcome | None
    kind: Kind | None = None
    attempts: tuple[Attempt, ...] = ()


def process_start(pid: int) -> float | None:
    """Returns the start time of a process in seconds since the epoch; None when it does not exist."""
    import psutil  # noqa: PLC0415 - 20 ms that only readers and writers of a run pay

    try:
        return float(psutil.Process(pid).create_time())
    except psutil.Error:
        return None


def _alive(pid: int, born: float) -> bool:
    now = process_start(pid)
    # The system clock may be adjusted while a run is under way; two seconds still detect a reused pid.
    return now is not None and abs(now - born) < 2


def read_record(row: Sequence[Any]) -> Record:
    *_head, pid, born, text, count, kind = row
    outcome, owned = read_outcome(text), _alive(pid, born)
    if row[7] is not None:
        state: Literal["running", "finished", "interrupted"] = "finished"
    else:
        state = "running" if owned else "interrupted"
    return Record(
        id=row[0],
        root=row[1],
        target=row[2],
        preset=row[3],
        model=row[4],
        sandbox=row[5],
        started=row[6],
        finished=row[7],
        applied=row[8],
        state=state,
        owned=owned,
        count=count,
        outcome=outcome,
        kind=Kind(kind) if kind else None,
    )


def read_outcome(text: str | None) -> Outcome | None:
    try:
        return from_json(Outcome, json.loads(text)) if text else None
    except ValueError:
        return None


def read_past_run(prompt: int, seconds: float, outcome: Outcome | None) -> PastRun | None:
    if outcome is None or outcome.reason in CUT_SHORT or prompt <= 0:
        return None
    usage = outcome.usage
    return PastRun(prompt_tokens=prompt, tokens=usage.tokens, seconds=seconds, cost=usage.cost, solved=outcome.solved)


def read_attempt(text: str) -> Attempt | None:
    try:
        return from_json(Attempt, json.loads(text))
    except ValueError:
        return None


def shorten(attempt: Attempt) -> Attempt:
    verdict = attempt.verdict
    return replace(
        attempt,
        verdict=replace(
            verdict,
            output=_cut(verdict.output),
            cases=tuple(map(_short_case, verdict.cases)),
            collateral=tuple(map(_short_case, verdict.collateral)),
        ),
    )


def _short_case(case: CaseResult) -> CaseResult:
    if case.failure is None:
        return case
    return replace(
        case, failure=replace(case.failure, text=_cut(case.failure.text), message=_cut(case.failure.message))
    )


def _cut(text: str) -> str:
    if len(text) <= LONGEST_OUTPUT:
        return text
    half = LONGEST_OUTPUT // 2
    return f"{text[:half]}\n… {len(text) - 2 * half} characters left out …\n{text[-half:]}"
