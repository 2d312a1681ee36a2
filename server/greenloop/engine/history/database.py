"""The file of the history: opened with its tables, and renamed where it is damaged. It must not know the rows."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import time
from pathlib import Path

from greenloop.project.settings import state_folder

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


def connect(path: Path) -> sqlite3.Connection:
    """Opens the database and creates its tables. Raises OSError or sqlite3.Error.

    SQLite waits for other processes automatically, except when several of them switch a new file to WAL at once or the
    last one is just closing it: then it reports that the file is locked, and the call has to be repeated.
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
