"""Records of the history: made of its rows, and attempts and problems as they are stored."""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, TypeVar

from greenloop.core.compose import region_text
from greenloop.core.records.attempt import Attempt
from greenloop.core.records.model import ModelKind
from greenloop.core.records.outcome import Outcome, StopReason
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Region
from greenloop.core.text.json_codec import from_json, to_json
from greenloop.project.settings import state_folder
from greenloop_sandbox import CaseResult

T = TypeVar("T")

# A test may print a megabyte for each attempt; the history keeps only its start and end.
LONGEST_OUTPUT = 8_000

CUT_SHORT = {StopReason.CANCELLED, StopReason.ENVIRONMENT, StopReason.MODEL, StopReason.CHANGED}

SELECT_RUN = (
    "SELECT id, root, target, preset, model, sandbox, started, finished, applied, pid, born, outcome,"
    " (SELECT count(*) FROM attempts WHERE run = id AND number > 0),"
    " (SELECT kind FROM kinds WHERE run = id) FROM runs"
)
MOST_CHARACTERS = 100_000  # of the suspects' code; the regions are always kept


@dataclass(frozen=True, kw_only=True)
class StoredRun:
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
    kind: ModelKind | None = None
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


def read_record(row: Sequence[Any]) -> StoredRun:
    """The record of a row of `SELECT_RUN`, without its attempts."""
    *values, pid, born, outcome, count, kind = row
    owned, finished = _alive(pid, born), values[7]
    names = ("id", "root", "target", "preset", "model", "sandbox", "started", "finished", "applied")
    return StoredRun(
        **dict(zip(names, values, strict=True)),
        state="finished" if finished is not None else "running" if owned else "interrupted",
        owned=owned,
        count=count,
        outcome=read(Outcome, outcome),
        kind=ModelKind(kind) if kind else None,
    )


def read(kind: type[T], text: str | None) -> T | None:
    """The record in a column of JSON; None where there is none, or it cannot be read."""
    try:
        return from_json(kind, json.loads(text, object_hook=_with_data)) if text else None
    except ValueError:
        return None


def _with_data(record: dict[str, Any]) -> dict[str, Any]:
    """An object of older versions, in which the data of a feature were fields of verdicts and evidence."""
    data = {}
    if "neighbours_unchanged" in record:  # evidence
        others = {"differences": record.get("differences") or [], "doubts": record.get("unfinished") or []}
        data = {"other_inputs": others if any(others.values()) else None, "noticed": record.get("noticed")}
    data |= {"improve": record.get("gain"), **(record.get("data") or {})}
    known = {name: each for name, each in data.items() if isinstance(each, dict)}
    return {**record, "data": known} if known else record


def shorten(attempt: Attempt) -> Attempt:
    """The attempt as it is stored."""
    verdict = attempt.verdict
    cases, collateral = (tuple(map(_shorten_case, each)) for each in (verdict.cases, verdict.collateral))
    return replace(attempt, verdict=replace(verdict, output=_cut(verdict.output), cases=cases, collateral=collateral))


def _shorten_case(case: CaseResult) -> CaseResult:
    failure = case.failure and replace(case.failure, text=_cut(case.failure.text), message=_cut(case.failure.message))
    return replace(case, failure=failure)


def _cut(text: str) -> str:
    if len(text) <= LONGEST_OUTPUT:
        return text
    half = LONGEST_OUTPUT // 2
    return f"{text[:half]}\n… {len(text) - 2 * half} characters left out …\n{text[-half:]}"


@dataclass(frozen=True, kw_only=True)
class StoredProblem:
    """The instruction of the user, the goal of code that passes (else empty), and the code that may change.

    `names` are those of the regions; `code` is their text, `suspects` that of other functions, before any attempt.
    """

    instruction: str = ""
    goal: str = ""
    names: str = ""
    code: Mapping[Region, str] = field(default_factory=dict)
    suspects: Mapping[Region, str] = field(default_factory=dict)


def store_problem(problem: Problem, goal: str) -> StoredProblem:
    """Returns what is kept of a problem."""
    suspects: dict[Region, str] = {}
    room = MOST_CHARACTERS
    for region in problem.suspects:
        text = region_text(problem, region)
        room -= len(text)
        if room < 0:
            break
        suspects[region] = text
    return StoredProblem(
        instruction=problem.instruction,
        goal=goal,
        names=problem.names,
        code={region: region_text(problem, region) for region in problem.regions},
        suspects=suspects,
    )


def this_process() -> tuple[int, float]:
    """The columns `pid` and `born` of a run of this process."""
    return os.getpid(), process_start(os.getpid()) or 0.0


def to_text(record: Any) -> str:
    """A record as a column holds it; `read` reads it back."""
    return json.dumps(to_json(record))


# -- tables -----------------------------------------------------------------------------------------------------------


FORMAT = 6
BUSY_SECONDS = 5.0

_SCHEMA = """
CREATE TABLE IF NOT EXISTS runs(
  id INTEGER PRIMARY KEY AUTOINCREMENT, root TEXT NOT NULL, target TEXT NOT NULL, preset TEXT NOT NULL,
  model TEXT NOT NULL, sandbox TEXT NOT NULL, started REAL NOT NULL, pid INTEGER NOT NULL, born REAL NOT NULL,
  finished REAL, outcome TEXT, applied REAL
);
CREATE INDEX IF NOT EXISTS runs_of_root ON runs(root, id);
CREATE TABLE IF NOT EXISTS attempts(
  run INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE, number INTEGER NOT NULL, attempt TEXT NOT NULL,
  PRIMARY KEY(run, number)
);
CREATE TABLE IF NOT EXISTS bases(
  run INTEGER PRIMARY KEY REFERENCES runs(id) ON DELETE CASCADE, basis TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS beginnings(
  run INTEGER PRIMARY KEY REFERENCES runs(id) ON DELETE CASCADE, move TEXT NOT NULL, prompt INTEGER NOT NULL
);
CREATE TABLE IF NOT EXISTS problems(
  run INTEGER PRIMARY KEY REFERENCES runs(id) ON DELETE CASCADE, problem TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS kinds(
  run INTEGER PRIMARY KEY REFERENCES runs(id) ON DELETE CASCADE, kind TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS discarded(
  run INTEGER PRIMARY KEY REFERENCES runs(id) ON DELETE CASCADE
);
"""


def connect(path: Path, seconds: float = BUSY_SECONDS) -> sqlite3.Connection:
    """Opens the database and creates its tables. Raises OSError or sqlite3.Error.

    SQLite waits for other processes automatically, except when several of them switch a new file to WAL at once or the
    last one is just closing it: then it reports that the file is locked, and the call has to be repeated.
    """
    deadline = time.monotonic() + seconds
    while True:
        try:
            return _connect_once(path, seconds)
        except sqlite3.OperationalError as error:
            # An extended code keeps the plain one in its lowest byte. Our own error (a newer format) has none.
            if getattr(error, "sqlite_errorcode", 0) & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.01)


def _connect_once(path: Path, seconds: float) -> sqlite3.Connection:
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    if os.name == "posix":
        if path.parent.stat().st_mode & 0o077 and path.parent == state_folder():
            path.parent.chmod(0o700)
        # SQLite gives its -wal and -shm files the mode of the main one.
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600))
        if path.stat().st_mode & 0o077:
            path.chmod(0o600)
    connection = sqlite3.connect(path, timeout=seconds, isolation_level=None, check_same_thread=False)
    try:
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        if version > FORMAT:
            raise sqlite3.OperationalError("it was written by a newer greenloop")
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=NORMAL")
        connection.execute("PRAGMA foreign_keys=ON")
        if version < FORMAT:
            connection.executescript(f"BEGIN IMMEDIATE;{_SCHEMA}PRAGMA user_version={FORMAT};COMMIT;")
        connection.execute("SELECT id, applied FROM runs ORDER BY id DESC LIMIT 1").fetchall()
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def move_aside(path: Path) -> Path:
    """Renames a damaged history with its side files; the new name contains the time."""
    aside = path.with_name(f"{path.stem}.damaged-{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}{path.suffix}")
    path.replace(aside)
    for side in ("-wal", "-shm"):
        with contextlib.suppress(FileNotFoundError):
            path.with_name(path.name + side).replace(aside.with_name(aside.name + side))
    return aside


def sql_text(text: str) -> str:
    """Returns text that SQLite accepts: a path that is not UTF-8 contains lone surrogates."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def describe(error: Exception) -> str:
    """A sentence about a history that cannot be written."""
    reason = f"{error.filename}: {error.strerror}" if isinstance(error, OSError) and error.strerror else error
    return f"The history cannot be written ({reason}); the run continues without it."
