"""History of runs: SQLite (WAL) in the user's state folder, one row per run and one per attempt.

Every row is committed as it happens, so that a run killed at any moment leaves a readable history.
Writing never stops a run: data that cannot be written is lost with one warning, and the run goes on.
This module must not know who shows the history.
"""

from __future__ import annotations

import contextlib
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

from greenloop.core.records.attempt import Attempt
from greenloop.core.records.model import ModelKind, PastRun
from greenloop.core.records.outcome import Outcome, Verified
from greenloop.core.text.json_codec import to_json
from greenloop.engine.history.provenance import Basis
from greenloop.engine.history.rows import (
    CUT_SHORT,
    SELECT_RUN,
    StoredProblem,
    StoredRun,
    connect,
    describe,
    move_aside,
    read,
    read_record,
    shorten,
    sql_text,
    this_process,
    to_text,
)
from greenloop.project.settings import state_folder

_CUT_SHORT = ", ".join(f"'{reason.value}'" for reason in sorted(CUT_SHORT))


class History:
    """The open history. Safe to use from several threads; several processes may write at once.

    Without a connection there is no usable database: nothing is stored, and nothing is found.
    """

    def __init__(self, connection: sqlite3.Connection | None, *, keep: int, warn: Callable[[str], None]) -> None:
        self._connection, self._keep, self._warn = connection, keep, warn
        self._warned = False
        self._lock = threading.Lock()

    @classmethod
    def open(
        cls, path: Path | None = None, *, keep: int = 1000, warn: Callable[[str], None] = lambda _sentence: None
    ) -> History:
        """Opens or creates the history. `path` defaults to the state folder; `keep` is the number of runs to keep.

        Never raises for an unusable history: `warn` gets one sentence and nothing is stored.
        A damaged file is renamed and a new one is started.
        """
        history = cls(None, keep=keep, warn=warn)
        try:
            path = path or state_folder() / "history.sqlite3"
            try:
                history._connection = connect(path)
            except sqlite3.DatabaseError as error:
                if isinstance(error, sqlite3.OperationalError):
                    raise
                aside = move_aside(path)
                history._warn_once(
                    f"The history was damaged. It was renamed to {aside.name}, and a new one was started."
                )
                history._connection = connect(path)
        except (OSError, sqlite3.Error) as error:
            history._warn_once(describe(error))
        return history

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_details: object) -> None:
        self.close()

    def close(self) -> None:
        with self._lock:
            if self._connection is not None:
                with contextlib.suppress(sqlite3.Error):
                    self._connection.close()
                self._connection = None

    # -- writing: never raises for a disk error -------------------------------------------------------------------

    def start_run(
        self,
        root: Path,
        target: str,
        *,
        preset: str,
        model: str,
        sandbox: str,
        basis: Basis | None = None,
        kind: ModelKind | None = None,
    ) -> int | None:
        """Stores the start of a run in this process. Returns its id, or None, which all methods accept, on failure.

        `basis` is the provenance of its result, `kind` that of its model.
        """
        columns = "root, target, preset, model, sandbox, started, pid, born"
        names = map(sql_text, (str(root), target, preset, model, sandbox))
        row = (*names, time.time(), *this_process())

        def write(connection: sqlite3.Connection) -> int | None:
            run = connection.execute(f"INSERT INTO runs({columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row).lastrowid  # noqa: S608 - names of columns, fixed above
            if basis is not None:
                connection.execute("INSERT INTO bases VALUES (?, ?)", (run, to_text(basis)))
            if kind is not None:
                connection.execute("INSERT INTO kinds VALUES (?, ?)", (run, kind.value))
            connection.execute(
                "DELETE FROM runs WHERE id <= (SELECT id FROM runs ORDER BY id DESC LIMIT 1 OFFSET ?)", (self._keep,)
            )
            return run

        identity: int | None = self._write(write)
        return identity

    def set_basis(self, run: int | None, basis: Basis) -> None:
        """Stores the provenance of a result again, where votes or answers changed it since the start."""
        self._put("bases", run, to_text(basis))

    def save_attempt(self, run: int | None, attempt: Attempt) -> None:
        """Stores a complete attempt; replaces an earlier one of the same number."""
        self._put("attempts", run, attempt.number, to_text(shorten(attempt)))

    def finish_run(self, run: int | None, outcome: Outcome) -> None:
        """Stores the end of a run, with the texts before and after, so that the result can be applied later."""
        if run is None:
            return
        rows = [(run, item.number, to_text(shorten(item))) for item in outcome.attempts]
        summary = to_text(replace(outcome, attempts=()))

        def write(connection: sqlite3.Connection) -> None:
            connection.executemany("INSERT OR REPLACE INTO attempts VALUES (?, ?, ?)", rows)
            connection.execute("UPDATE runs SET finished = ?, outcome = ? WHERE id = ?", (time.time(), summary, run))

        self._write(write)

    def save_problem(self, run: int | None, problem: StoredProblem) -> None:
        """Stores what a run is to change."""
        self._put("problems", run, to_text(problem))

    def save_start(self, run: int | None, *, move: str, prompt: int) -> None:
        """Stores the run's first move and the tokens of its first prompt, from which later runs are estimated."""
        self._put("beginnings", run, move, prompt)

    def mark_applied(self, run: int | None) -> None:
        """Records that the result is now in the workspace, or in an unsaved text of this process."""
        row = (time.time(), *this_process(), run)
        self._write(lambda c: c.execute("UPDATE runs SET applied = ?, pid = ?, born = ? WHERE id = ?", row))

    def mark_undone(self, run: int) -> None:
        """Records that the result is no longer in the workspace."""
        self._write(lambda c: c.execute("UPDATE runs SET applied = NULL WHERE id = ?", (run,)))

    def discard(self, run: int | None) -> None:
        """Hides the result of a run from the user; the run itself stays."""
        if run is not None:
            self._write(lambda c: c.execute("INSERT OR IGNORE INTO discarded SELECT id FROM runs WHERE id = ?", (run,)))

    def is_writable(self) -> bool:
        """Can a run be stored now? Tries it and leaves nothing behind."""

        def trial(connection: sqlite3.Connection) -> bool:
            connection.execute("SAVEPOINT trial")
            connection.execute("INSERT INTO runs SELECT NULL, '', '', '', '', '', 0, 0, 0, NULL, NULL, NULL")
            connection.execute("ROLLBACK TO trial")
            return True

        return bool(self._write(trial))

    # -- reading -------------------------------------------------------------------------------------------------

    def runs(self, root: Path | None = None, limit: int = 50) -> list[StoredRun]:
        """Returns the runs of one workspace or of all, newest first, without their attempts."""
        condition, values = ("WHERE root = ?", (sql_text(str(root)), limit)) if root is not None else ("", (limit,))
        return [read_record(row) for row in self._read(f"{SELECT_RUN} {condition} ORDER BY id DESC LIMIT ?", values)]

    def latest(self, root: Path, *, since: float, limit: int = 50) -> list[StoredRun]:
        """Returns the newest run of each target of a workspace, newest first, without attempts and discarded runs.

        `since` is seconds since the epoch.
        """
        newest = "id IN (SELECT max(id) FROM runs WHERE root = ? AND started >= ? GROUP BY target)"
        query = f"{SELECT_RUN} WHERE {newest} AND id NOT IN (SELECT run FROM discarded) ORDER BY id DESC LIMIT ?"  # noqa: S608 - words fixed above
        return [read_record(row) for row in self._read(query, (sql_text(str(root)), since, limit))]

    def run(self, run: int) -> StoredRun | None:
        """Returns a run with its attempts in order; None when there is no run with that id."""
        rows = self._read(f"{SELECT_RUN} WHERE id = ?", (run,))
        if not rows:
            return None
        stored = self._read("SELECT attempt FROM attempts WHERE run = ? ORDER BY number", (run,))
        attempts = tuple(attempt for row in stored if (attempt := read(Attempt, row[0])) is not None)
        record = read_record(rows[0])
        outcome = replace(record.outcome, attempts=attempts) if record.outcome else None
        return replace(record, attempts=attempts, outcome=outcome)

    def similar_runs(self, model: str, preset: str, move: str, limit: int = 200) -> list[PastRun]:
        """Returns the newest completed runs with the same model, preset and first move."""
        rows = self._read(
            "SELECT prompt, finished - started, outcome FROM runs JOIN beginnings ON run = id"
            " WHERE model = ? AND preset = ? AND move = ? AND finished IS NOT NULL ORDER BY id DESC LIMIT ?",
            (sql_text(model), sql_text(preset), move, limit),
        )
        return [
            PastRun(
                prompt_tokens=prompt,
                tokens=outcome.usage.tokens,
                seconds=seconds,
                cost=outcome.usage.cost,
                solved=outcome.solved,
            )
            for prompt, seconds, text in rows
            if prompt > 0 and (outcome := read(Outcome, text)) is not None and outcome.reason not in CUT_SHORT
        ]

    def solved_by_model(self) -> list[tuple[str, int, int]]:
        """Returns for each model, by name, how many runs it ended and how many of these it solved, verified."""
        query = (
            "SELECT model, count(*), sum(json_extract(outcome, '$.solved') AND json_extract(outcome, '$.verified') = ?)"  # noqa: S608 - words fixed in the code
            f" FROM runs WHERE json_extract(outcome, '$.reason') NOT IN ({_CUT_SHORT}) GROUP BY model ORDER BY model"
        )
        return [(str(model), runs, solved) for model, runs, solved in self._read(query, (Verified.VERIFIED.value,))]

    def basis(self, run: int) -> Basis | None:
        """Returns the provenance of the run's result; None when it was not stored (older greenloop, no candidates)."""
        rows = self._read("SELECT basis FROM bases WHERE run = ?", (run,))
        return read(Basis, rows[0][0]) if rows else None

    def problem(self, run: int) -> StoredProblem:
        """Returns what the run was to change; an empty one where it was not stored (older greenloop)."""
        rows = self._read("SELECT problem FROM problems WHERE run = ?", (run,))
        return (read(StoredProblem, rows[0][0]) if rows else None) or StoredProblem()

    def ids(self, root: Path | None = None) -> list[int]:
        """Returns the numbers of the runs of one workspace or of all, oldest first."""
        condition, values = ("WHERE root = ?", (sql_text(str(root)),)) if root is not None else ("", ())
        return [row[0] for row in self._read(f"SELECT id FROM runs {condition} ORDER BY id", values)]  # noqa: S608 - words fixed above

    def export(self, run: int | None = None) -> Iterator[dict[str, Any]]:
        """Yields whole runs as JSON values, oldest first: one, or all."""
        for number in [run] if run is not None else self.ids():
            record = self.run(number)
            if record is not None:
                values = to_json(replace(record, outcome=None))
                outcome = to_json(replace(record.outcome, attempts=())) if record.outcome else None
                if outcome:
                    del outcome["attempts"]
                yield {**values, "outcome": outcome}

    # -- one transaction each ------------------------------------------------------------------------------------

    def _put(self, table: str, run: int | None, *values: Any) -> None:
        """Stores a row about a run, in place of an earlier one."""
        if run is not None:
            marks = ", ".join("?" * (1 + len(values)))
            self._write(lambda c: c.execute(f"INSERT OR REPLACE INTO {table} VALUES ({marks})", (run, *values)))  # noqa: S608 - tables of this module

    def _write(self, change: Callable[[sqlite3.Connection], Any]) -> Any:
        with self._lock:
            if self._connection is None:
                return None
            try:
                with self._connection:
                    self._connection.execute("BEGIN IMMEDIATE")
                    return change(self._connection)
            except sqlite3.Error as error:
                self._warn_once(describe(error))
                return None

    def _read(self, query: str, values: Sequence[Any]) -> list[Any]:
        with self._lock:
            if self._connection is None:
                return []
            try:
                return self._connection.execute(query, values).fetchall()
            except sqlite3.Error as error:
                self._warn_once(describe(error))
                return []
            except OverflowError:  # a number that SQLite cannot hold, so nothing has it
                return []

    def _warn_once(self, sentence: str) -> None:
        if not self._warned:
            self._warned = True
            self._warn(sentence)
