"""What happened, kept: SQLite (WAL) in the user's state folder, one row a run and one an attempt.

Every row is committed as it happens, so that a run killed at any moment leaves a readable history.
Writing never stops a run: what cannot be written is lost with one warning, and the run goes on.
This module must not know who shows the history.
"""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from greenloop.core.records.attempt import Attempt
from greenloop.core.records.outcome import Outcome, StopReason
from greenloop.core.records.usage import PastRun
from greenloop.core.records.verdict import CaseResult
from greenloop.core.text.json_codec import from_json, to_json
from greenloop.engine.history.provenance import Basis
from greenloop.project.settings import state_folder

FORMAT = 4
BUSY_SECONDS = 5.0
# A test may print a megabyte for each attempt; the history keeps the two ends of it.
LONGEST_OUTPUT = 8_000

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
CREATE TABLE IF NOT EXISTS discarded(
  run INTEGER PRIMARY KEY REFERENCES runs(id) ON DELETE CASCADE
);
"""


@dataclass(frozen=True, kw_only=True)
class Record:
    """One run. `started`, `finished` and `applied` are seconds since the epoch (None: not yet).

    `state` is running, finished, or interrupted (its process ended without finishing it).
    `owned`: the process that ran it, or that applied its result, is still there and may do something with it.
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
    attempts: tuple[Attempt, ...] = ()


class History:
    """The open history. Safe to use from several threads; several processes may write at once."""

    def __init__(self, connection: sqlite3.Connection | None, *, keep: int, warn: Callable[[str], None]) -> None:
        self._connection = connection
        self._keep = keep
        self._warn = warn
        self._warned = False
        self._lock = threading.Lock()

    @classmethod
    def open(
        cls, path: Path | None = None, *, keep: int = 1000, warn: Callable[[str], None] = lambda _sentence: None
    ) -> History:
        """Opens or creates the history. `path` defaults to the state folder, `keep` is how many runs stay.

        Never raises for a history that cannot be used: `warn` gets one sentence and nothing is kept.
        A damaged file is put aside under another name and a new one begun.
        """
        history = cls(None, keep=keep, warn=warn)
        try:
            path = path or state_folder() / "history.sqlite3"
            try:
                history._connection = _connect(path)
            except sqlite3.DatabaseError as error:
                if isinstance(error, sqlite3.OperationalError):
                    raise
                aside = _move_aside(path)
                history._warn_once(
                    f"The history was damaged. It was renamed to {aside.name}, and a new one was started."
                )
                history._connection = _connect(path)
        except (OSError, sqlite3.Error) as error:
            history._warn_once(_error_sentence(error))
        return history

    def close(self) -> None:
        with self._lock:
            if self._connection is not None:
                with contextlib.suppress(sqlite3.Error):
                    self._connection.close()
                self._connection = None

    # -- writing: never raises for the disk's sake ---------------------------------------------------------------

    def start_run(
        self, root: Path, target: str, *, preset: str, model: str, sandbox: str, basis: Basis | None = None
    ) -> int | None:
        """A run begins in this process. Returns its id; None where nothing can be kept (all calls take that).

        `basis` is what its result will rest on.
        """
        rests = json.dumps(to_json(basis)) if basis is not None else None
        pid = os.getpid()
        row = (*map(_plain, (str(root), target, preset, model, sandbox)), time.time(), pid, _born(pid) or 0.0)

        def write(connection: sqlite3.Connection) -> int | None:
            columns = "root, target, preset, model, sandbox, started, pid, born"
            run = connection.execute(f"INSERT INTO runs({columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row).lastrowid  # noqa: S608 - names of columns, fixed above
            if rests is not None:
                connection.execute("INSERT INTO bases VALUES (?, ?)", (run, rests))
            connection.execute(
                "DELETE FROM runs WHERE id <= (SELECT id FROM runs ORDER BY id DESC LIMIT 1 OFFSET ?)", (self._keep,)
            )
            return run

        identity: int | None = self._write(write)
        return identity

    def set_basis(self, run: int | None, basis: Basis) -> None:
        """What the result of a run rests on, where votes or answers changed it since the run began."""
        if run is not None:
            row = (run, json.dumps(to_json(basis)))
            self._write(lambda c: c.execute("INSERT OR REPLACE INTO bases VALUES (?, ?)", row))

    def update_run(self, run: int | None, *, model: str, sandbox: str) -> None:
        """What became known after the beginning: the model and the sandbox really used."""
        self._write(
            lambda c: c.execute(
                "UPDATE runs SET model = ?, sandbox = ? WHERE id = ?", (_plain(model), _plain(sandbox), run)
            )
        )

    def save_attempt(self, run: int | None, attempt: Attempt) -> None:
        """An attempt is complete (again, if its number is known: the later one counts)."""
        if run is not None:
            row = (run, attempt.number, json.dumps(to_json(_shortened(attempt))))
            self._write(lambda c: c.execute("INSERT OR REPLACE INTO attempts VALUES (?, ?, ?)", row))

    def finish_run(self, run: int | None, outcome: Outcome) -> None:
        """The run ended; the texts before and after are kept, so that the result can be applied later."""
        if run is None:
            return
        rows = [(run, item.number, json.dumps(to_json(_shortened(item)))) for item in outcome.attempts]
        summary = json.dumps(to_json(replace(outcome, attempts=())))

        def write(connection: sqlite3.Connection) -> None:
            connection.executemany("INSERT OR REPLACE INTO attempts VALUES (?, ?, ?)", rows)
            connection.execute("UPDATE runs SET finished = ?, outcome = ? WHERE id = ?", (time.time(), summary, run))

        self._write(write)

    def save_start(self, run: int | None, *, move: str, prompt: int) -> None:
        """How the run begins: its first move, and the tokens of its first prompt. Later runs are foreseen by it."""
        if run is not None:
            self._write(lambda c: c.execute("INSERT OR REPLACE INTO beginnings VALUES (?, ?, ?)", (run, move, prompt)))

    def mark_applied(self, run: int | None) -> None:
        """The result of the run now stands in the workspace, or in a text that this process has not saved yet."""
        pid = os.getpid()
        row = (time.time(), pid, _born(pid) or 0.0, run)
        self._write(lambda c: c.execute("UPDATE runs SET applied = ?, pid = ?, born = ? WHERE id = ?", row))

    def discard(self, run: int | None) -> None:
        """The user wants to see no more of this run's result; the run itself stays."""
        if run is not None:
            self._write(lambda c: c.execute("INSERT OR IGNORE INTO discarded SELECT id FROM runs WHERE id = ?", (run,)))

    def is_writable(self) -> bool:
        """Can a run be kept now? Tries it and leaves nothing behind."""

        def trial(connection: sqlite3.Connection) -> bool:
            connection.execute("SAVEPOINT trial")
            connection.execute("INSERT INTO runs SELECT NULL, '', '', '', '', '', 0, 0, 0, NULL, NULL, NULL")
            connection.execute("ROLLBACK TO trial")
            return True

        return bool(self._write(trial))

    # -- reading -------------------------------------------------------------------------------------------------

    def runs(self, root: Path | None = None, limit: int = 50) -> list[Record]:
        """The newest runs first, of one workspace or of all, without their attempts."""
        where, values = ("WHERE root = ?", (_plain(str(root)), limit)) if root is not None else ("", (limit,))
        return [_record(row) for row in self._read(f"{_SELECT} {where} ORDER BY id DESC LIMIT ?", values)]

    def latest(self, root: Path, *, since: float, limit: int = 50) -> list[Record]:
        """The newest run of each target of a workspace, the newest first, without attempts and what was discarded.

        `since` is seconds since the epoch.
        """
        newest = "id IN (SELECT max(id) FROM runs WHERE root = ? AND started >= ? GROUP BY target)"
        query = f"{_SELECT} WHERE {newest} AND id NOT IN (SELECT run FROM discarded) ORDER BY id DESC LIMIT ?"  # noqa: S608 - words fixed above
        return [_record(row) for row in self._read(query, (_plain(str(root)), since, limit))]

    def run(self, run: int) -> Record | None:
        """One run with its attempts in order; None when there is none of that id."""
        rows = self._read(f"{_SELECT} WHERE id = ?", (run,))
        if not rows:
            return None
        stored = self._read("SELECT attempt FROM attempts WHERE run = ? ORDER BY number", (run,))
        attempts = tuple(attempt for row in stored if (attempt := _attempt(row[0])) is not None)
        record = _record(rows[0])
        outcome = replace(record.outcome, attempts=attempts) if record.outcome else None
        return replace(record, attempts=attempts, outcome=outcome)

    def similar_runs(self, model: str, preset: str, move: str, limit: int = 200) -> list[PastRun]:
        """What the newest runs came to that had this model and preset and began so, and ended by themselves."""
        rows = self._read(
            "SELECT prompt, finished - started, outcome FROM runs JOIN beginnings ON run = id"
            " WHERE model = ? AND preset = ? AND move = ? AND finished IS NOT NULL ORDER BY id DESC LIMIT ?",
            (_plain(model), _plain(preset), move, limit),
        )
        return [past for prompt, seconds, text in rows if (past := _past(prompt, seconds, _outcome(text)))]

    def basis(self, run: int) -> Basis | None:
        """What the run's result rests on; None when it was not kept (an older greenloop, a run without candidates)."""
        rows = self._read("SELECT basis FROM bases WHERE run = ?", (run,))
        try:
            return from_json(Basis, json.loads(rows[0][0])) if rows else None
        except ValueError:
            return None

    def export(self, run: int | None = None) -> Iterator[dict[str, Any]]:
        """Whole runs as JSON values, oldest first: one, or all."""
        wanted = [run] if run is not None else [row[0] for row in self._read("SELECT id FROM runs ORDER BY id", ())]
        for number in wanted:
            record = self.run(number)
            if record is not None:
                values = to_json(replace(record, outcome=None))
                outcome = to_json(replace(record.outcome, attempts=())) if record.outcome else None
                if outcome:
                    del outcome["attempts"]
                yield {**values, "outcome": outcome}

    # -- below the surface ---------------------------------------------------------------------------------------

    def _write(self, change: Callable[[sqlite3.Connection], Any]) -> Any:
        with self._lock:
            if self._connection is None:
                return None
            try:
                with self._connection:
                    self._connection.execute("BEGIN IMMEDIATE")
                    return change(self._connection)
            except sqlite3.Error as error:
                self._warn_once(_error_sentence(error))
                return None

    def _read(self, query: str, values: Sequence[Any]) -> list[Any]:
        with self._lock:
            if self._connection is None:
                return []
            try:
                return self._connection.execute(query, values).fetchall()
            except sqlite3.Error as error:
                self._warn_once(_error_sentence(error))
                return []

    def _warn_once(self, sentence: str) -> None:
        if not self._warned:
            self._warned = True
            self._warn(sentence)


_CUT_SHORT = {StopReason.CANCELLED, StopReason.ENVIRONMENT, StopReason.MODEL, StopReason.CHANGED}

_SELECT = (
    "SELECT id, root, target, preset, model, sandbox, started, finished, applied, pid, born, outcome,"
    " (SELECT count(*) FROM attempts WHERE run = id AND number > 0) FROM runs"
)


def _connect(path: Path) -> sqlite3.Connection:
    """Raises OSError or sqlite3.Error.

    SQLite waits for other processes by itself, but not where several of them turn a new file to WAL at once, and
    not where the last one is just closing it: it says that the file is locked, and may be asked again.
    """
    deadline = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            return _connect_once(path)
        except sqlite3.OperationalError as error:
            # An extended code keeps the plain one in its lowest byte. Our own error (a newer format) has none.
            if getattr(error, "sqlite_errorcode", 0) & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.01)


def _connect_once(path: Path) -> sqlite3.Connection:
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    if os.name == "posix":
        if path.parent.stat().st_mode & 0o077 and path.parent == state_folder():
            path.parent.chmod(0o700)
        # SQLite gives its -wal and -shm files the mode of the main one.
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600))
        if path.stat().st_mode & 0o077:
            path.chmod(0o600)
    connection = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
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


def _move_aside(path: Path) -> Path:
    """Renames a damaged history with its side files; the name says when."""
    aside = path.with_name(f"{path.stem}.damaged-{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}{path.suffix}")
    path.replace(aside)
    for side in ("-wal", "-shm"):
        with contextlib.suppress(FileNotFoundError):
            path.with_name(path.name + side).replace(aside.with_name(aside.name + side))
    return aside


def _error_sentence(error: Exception) -> str:
    return f"The history cannot be written ({error}); the run continues without it."


def _born(pid: int) -> float | None:
    """When that process began, in seconds since the epoch; None when there is no such process."""
    import psutil  # noqa: PLC0415 - 20 ms that only readers and writers of a run pay

    try:
        return float(psutil.Process(pid).create_time())
    except psutil.Error:
        return None


def _alive(pid: int, born: float) -> bool:
    now = _born(pid)
    # The system's clock may be set while a run is under way: two seconds tell a reused pid well enough.
    return now is not None and abs(now - born) < 2


def _record(row: Sequence[Any]) -> Record:
    *_head, pid, born, text, count = row
    outcome, owned = _outcome(text), _alive(pid, born)
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
    )


def _outcome(text: str | None) -> Outcome | None:
    try:
        return from_json(Outcome, json.loads(text)) if text else None
    except ValueError:
        return None


def _past(prompt: int, seconds: float, outcome: Outcome | None) -> PastRun | None:
    if outcome is None or outcome.reason in _CUT_SHORT or prompt <= 0:
        return None
    usage = outcome.usage
    return PastRun(prompt_tokens=prompt, tokens=usage.tokens, seconds=seconds, cost=usage.cost, solved=outcome.solved)


def _attempt(text: str) -> Attempt | None:
    try:
        return from_json(Attempt, json.loads(text))
    except ValueError:
        return None


def _shortened(attempt: Attempt) -> Attempt:
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


def _plain(text: str) -> str:
    """Text that SQLite takes: a path that is no UTF-8 comes with lone surrogates."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _cut(text: str) -> str:
    if len(text) <= LONGEST_OUTPUT:
        return text
    half = LONGEST_OUTPUT // 2
    return f"{text[:half]}\n… {len(text) - 2 * half} characters left out …\n{text[-half:]}"
