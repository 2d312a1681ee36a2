"""Runs in a history."""

from __future__ import annotations

import json
from pathlib import Path

from greenloop.engine.history.store import History

ROOT = Path("/somewhere/a project")


def open_history(path: Path, warnings: list[str] | None = None, keep: int = 1000) -> History:
    return History.open(path / "history.sqlite3", keep=keep, warn=(warnings if warnings is not None else []).append)


def begin_run(history: History, root: Path = ROOT) -> int:
    run = history.start_run(root, "test_m.py::test_f", preset="plain", model="scripted:a", sandbox="bubblewrap")
    assert run is not None
    return run


def forget_newer_fields(history: History) -> None:
    """Leaves the history as a version wrote it that knew neither kinds of models nor looks."""
    connection = history._connection
    assert connection is not None
    new = {"looks", "blemishes", "turned_green", "still_red", "withdrawn", "also_fixed"}

    def without(value: object) -> object:
        if isinstance(value, dict):
            return {name: without(each) for name, each in value.items() if name not in new}
        return [without(each) for each in value] if isinstance(value, list) else value

    for table, column in (("attempts", "attempt"), ("runs", "outcome")):
        rows = connection.execute(f"SELECT rowid, {column} FROM {table} WHERE {column} IS NOT NULL").fetchall()
        for row, text in rows:
            shortened = json.dumps(without(json.loads(text)))
            assert len(shortened) < len(text)
            connection.execute(f"UPDATE {table} SET {column} = ? WHERE rowid = ?", (shortened, row))
    connection.executescript("DROP TABLE kinds; PRAGMA user_version=5;")


OLD_EVIDENCE = {
    "canaried": 1,
    "canaried_cases": ["test_m.py::test_f"],
    "canary_total": 1,
    "out_of_process": 1,
    "proofs": {"test_m.py::test_f": ["reversal", "tamper check", "isolated re-run"]},
    "unproven": {},
    "reads_tests": ["It newly reads test_m.py in m.py."],
}
OLD_FRAME = {"path": "m.py", "line": 1, "function": "f"}
OLD_VERDICT = {"reads": [{"how": "open", "path": "test_m.py", "frames": [OLD_FRAME]}], "sources": ["m.py"]}
OLD_MESSAGE = (
    "Verified in bubblewrap: 1/1 target tests pass, no other tests affected (0 checked), tamper check 1/1, "
    "isolated re-run 1/1, reversal check 1/1."
)

# Evidence as versions stored it in which the checks beyond the tests had fields.
LEFT_OPEN = {
    "differences": [{"path": "m.py", "line": 3, "call": "f(3)", "old": "5", "new": "7"}],
    "noticed": {
        "tests": 1,
        "tried": 6,
        "killed": 2,
        "left": 0,
        "survivors": [{"path": "m.py", "line": 4, "change": "`<` → `<=` in `a < b`"}],
        "unreached": [["m.py", 9]],
        "least": 0.5,
    },
    "unfinished": ["`# TODO: large files`, m.py:7"],
}


def give_old_proofs(history: History) -> None:
    """Leaves the history as a version wrote it that proved passes in one process."""
    connection = history._connection
    assert connection is not None
    for row, text in connection.execute("SELECT rowid, outcome FROM runs WHERE outcome IS NOT NULL").fetchall():
        outcome = json.loads(text)
        del outcome["evidence"]["together"]
        outcome["evidence"].update(OLD_EVIDENCE)
        outcome["message"] = OLD_MESSAGE
        connection.execute("UPDATE runs SET outcome = ? WHERE rowid = ?", (json.dumps(outcome), row))
    for row, text in connection.execute("SELECT rowid, attempt FROM attempts").fetchall():
        attempt = json.loads(text)
        attempt["verdict"].update(OLD_VERDICT)
        connection.execute("UPDATE attempts SET attempt = ? WHERE rowid = ?", (json.dumps(attempt), row))
    connection.commit()
