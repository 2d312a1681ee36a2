"""Saves a tuned file of the user's, and restores what was there before.

`tuned.json` next to the user's settings remembers each saved file: what was there, and a hash of what was saved.
"""

from __future__ import annotations

import hashlib
import json
import tomllib
from pathlib import Path
from typing import Any

from greenloop.core.errors import UsageError, WorkspaceError
from greenloop.project.atomic_write import write_atomically
from greenloop.project.settings import user_file


def save(file: Path, text: str) -> None:
    """Writes the file and remembers what it replaces. Raises `UsageError`, or `WorkspaceError` where it cannot."""
    before = _read(file)
    log, entry = _read_log(), {"before": before, "saved": _digest(text)}
    # The log first: a file that cannot be restored is worse than an entry too many.
    _write_log({**log, str(file): [*log.get(str(file), []), entry]})
    try:
        write_atomically(file, text.encode(), None if before is None else before.encode())
    except WorkspaceError:
        _write_log(log)
        raise


def save_settings(lines: str, key: str) -> Path:
    """Writes lines of TOML to the beginning of the user's settings, in place of those of an earlier tuning.

    `key` is the table that they set. Raises `UsageError` with the lines where the file sets some of it already.
    """
    file = user_file()
    text = _read(file) or ""
    begin, end = (f"# {word} of what `greenloop bench tune` set for {key}\n" for word in ("Begin", "End"))
    before, found, rest = text.partition(begin)
    others = before + rest.partition(end)[2] if found else text
    try:
        is_set = key in tomllib.loads(others)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{file} is not TOML: {error}.", remedy=f"Repair it, then add:\n{lines}") from error
    if is_set:
        raise UsageError(f"{file} sets some of {key} itself.", remedy=f"Put these lines in place of them:\n{lines}")
    save(file, f"{begin}{lines}{end}{others}")
    return file


def undo(file: Path) -> str:
    """Restores what the last `save` replaced; returns a sentence about it.

    Raises `UsageError` where nothing was saved, or the file has changed since.
    """
    log = _read_log()
    entries = log.get(str(file), [])
    if not entries:
        raise UsageError(f"{file} was not tuned.", remedy="Nothing needs to be undone.")
    now, entry = _read(file), entries.pop()
    if now is None or _digest(now) != entry["saved"]:
        raise UsageError(f"{file} has changed since it was tuned.", remedy="Edit or remove it yourself.")
    if entry["before"] is None:
        file.unlink()
        sentence = f"{file} was removed; the built-in version is used again."
    else:
        write_atomically(file, entry["before"].encode(), now.encode())
        sentence = f"{file} is as it was before."
    _write_log({key: value for key, value in log.items() if value})
    return sentence


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _read(file: Path) -> str | None:
    try:
        return file.read_bytes().decode()
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{file} cannot be read: {error}.", remedy="Repair or remove it.") from error


def _log_file() -> Path:
    return user_file().parent / "tuned.json"


def _read_log() -> dict[str, list[dict[str, Any]]]:
    try:
        log = json.loads(_read(_log_file()) or "{}")
    except ValueError as error:
        raise UsageError(f"{_log_file()} is not JSON: {error}.", remedy="Repair or remove it.") from error
    if not isinstance(log, dict):
        raise UsageError(f"{_log_file()} is not a table of tuned files.", remedy="Repair or remove it.")
    return log


def _write_log(log: dict[str, list[dict[str, Any]]]) -> None:
    before = _read(_log_file())
    text = json.dumps(log, indent=1, ensure_ascii=False) + "\n"
    write_atomically(_log_file(), text.encode(), None if before is None else before.encode())
