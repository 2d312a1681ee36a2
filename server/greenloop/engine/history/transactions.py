"""Reads and writes the database of the history from several threads; a disk error costs one warning, never a run.

It must not know which tables there are.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Sequence
from typing import Any


class Transactions:
    """A connection, or None where there is no usable database: then nothing is stored, and nothing is found."""

    def __init__(self, connection: sqlite3.Connection | None, *, keep: int, warn: Callable[[str], None]) -> None:
        self._connection = connection
        self._keep = keep
        self._warn = warn
        self._warned = False
        self._lock = threading.Lock()

    def _write(self, change: Callable[[sqlite3.Connection], Any]) -> Any:
        with self._lock:
            if self._connection is None:
                return None
            try:
                with self._connection:
                    self._connection.execute("BEGIN IMMEDIATE")
                    return change(self._connection)
            except sqlite3.Error as error:
                self._warn_once(error_sentence(error))
                return None

    def _read(self, query: str, values: Sequence[Any]) -> list[Any]:
        with self._lock:
            if self._connection is None:
                return []
            try:
                return self._connection.execute(query, values).fetchall()
            except sqlite3.Error as error:
                self._warn_once(error_sentence(error))
                return []
            except OverflowError:  # a number that SQLite cannot hold, so nothing has it
                return []

    def _warn_once(self, sentence: str) -> None:
        if not self._warned:
            self._warned = True
            self._warn(sentence)


def error_sentence(error: Exception) -> str:
    reason = f"{error.filename}: {error.strerror}" if isinstance(error, OSError) and error.strerror else error
    return f"The history cannot be written ({reason}); the run continues without it."
