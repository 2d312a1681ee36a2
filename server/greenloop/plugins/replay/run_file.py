"""A run as a file that other machines can verify: its records, and how they are written and read.

The file names no folder, no user and no interpreter of the machine that wrote it.
A file that is read comes from another user: everything in it is checked here, or measured again where it is used.
"""

from __future__ import annotations

import json
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from greenloop.core.errors import UsageError
from greenloop.core.records.outcome import Evidence, Verified
from greenloop.core.text.json_codec import from_json, to_json
from greenloop_sandbox import Limits

FORMAT = "greenloop-run"
VERSION = 1
MOST_BYTES = 16 << 20
MOST_FILES = 200  # changed files; a run changes one or a few

ASK_AGAIN = "Ask for a new file: `greenloop export run:N --out FILE`."


@dataclass(frozen=True, kw_only=True)
class FileEdit:
    """A changed file: its text before (None: it did not exist) and after."""

    path: str
    before: str | None
    after: str


@dataclass(frozen=True, kw_only=True)
class Lock:
    """The environment of the run: Python's version, the packages as `name==version`, and the sandbox's name."""

    python: str
    packages: tuple[str, ...] = ()
    sandbox: str = ""


@dataclass(frozen=True, kw_only=True)
class RunSettings:
    """Settings that the tests depended on; `variables` are names only, `seeds` the accepting runs' hash seeds.

    `limits` are of one execution; None where they were not recorded.
    """

    network: bool = False
    variables: tuple[str, ...] = ()
    seeds: tuple[int, ...] = ()
    limits: Limits | None = None


@dataclass(frozen=True, kw_only=True)
class Claim:
    """Findings of the exporting machine, none of which the verifying machine believes."""

    verified: Verified
    message: str = ""
    evidence: Evidence = field(default_factory=Evidence)


@dataclass(frozen=True, kw_only=True)
class RunFile:
    """A run. `cases` are the tests that it made pass, `outcomes` those of its tests before the change, by id.

    `change` is the whole edit. `tests` and `code` are hashes of the other files of the workspace, by path (the first
    16 hex digits of SHA-256); `tests_hash` is over all tests and their configuration. `finished` is in UTC.
    """

    target: str
    cases: tuple[str, ...]
    change: tuple[FileEdit, ...]
    tests_hash: str
    tests: Mapping[str, str]
    code: Mapping[str, str]
    claim: Claim
    environment: Lock
    settings: RunSettings
    outcomes: Mapping[str, str] = field(default_factory=dict)
    related: tuple[str, ...] = ()
    model: str = ""
    preset: str = ""
    attempts: int = 0
    finished: str = ""
    greenloop: str = ""


def format_run_file(run: RunFile) -> str:
    """The file's text: one JSON object, the same for the same run."""
    value = {"format": FORMAT, "version": VERSION, **to_json(run)}
    return json.dumps(value, indent=1, ensure_ascii=True) + "\n"


def read_run_file(path: Path) -> RunFile:
    """Reads and checks a file. Raises `UsageError` with the reason and a remedy for everything that is not one."""
    name = path.name
    value = _parse(_read(path), name)
    if not isinstance(value, dict) or value.get("format") != FORMAT:
        raise UsageError(f"{name} is not an exported run.", remedy="`greenloop export run:N --out FILE` writes one.")
    version = value.get("version")
    if type(version) is int and version > VERSION:
        raise UsageError(
            f"{name} has version {version} of the format, and this greenloop reads {VERSION}.",
            remedy="Update greenloop.",
        )
    if type(version) is not int or version < 1:
        raise UsageError(f"{name} has an unknown version of the format.", remedy=ASK_AGAIN)
    try:
        run = from_json(RunFile, value)
    except (ValueError, RecursionError, OverflowError) as error:
        raise UsageError(f"{name} is damaged: a field is missing or has another type.", remedy=ASK_AGAIN) from error
    _check(run, name)
    return run


def _read(path: Path) -> bytes:
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):  # reading a named pipe would block
            raise UsageError(f"{path.name} is not a regular file.", remedy="Name an exported run.")
        if status.st_size > MOST_BYTES:
            raise UsageError(
                f"{path.name} is larger than {MOST_BYTES >> 20} MiB, which no exported run is.", remedy=ASK_AGAIN
            )
        with path.open("rb") as file:
            return file.read(MOST_BYTES + 1)
    except OSError as error:
        raise UsageError(
            f"{path.name} cannot be read: {error.strerror}.", remedy="Name a file that `greenloop export` wrote."
        ) from error


def _parse(data: bytes, name: str) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{name} is not JSON that can be read.", remedy=ASK_AGAIN) from error


def _check(run: RunFile, name: str) -> None:
    paths = [edit.path for edit in run.change]
    if not paths or not run.cases:
        raise UsageError(f"{name} has no change, or no test that it makes pass.", remedy=ASK_AGAIN)
    if len(paths) > MOST_FILES or len({*paths}) < len(paths):
        raise UsageError(f"{name} changes too many files, or one of them twice.", remedy=ASK_AGAIN)
    for path in paths:
        if not is_safe_path(path):
            raise UsageError(
                f"{name} changes {path!r}, which is not a path of a Python file inside a workspace.",
                remedy=f"Do not use this file. {ASK_AGAIN}",
            )
    for edit in run.change:
        if not all(_is_text(text) for text in (edit.before or "", edit.after)):
            raise UsageError(f"{name} has a text of {edit.path} that no file can hold.", remedy=ASK_AGAIN)


def is_safe_path(path: str) -> bool:
    """Is it a relative path of a Python file, in the one way to write it, on every system?"""
    pure = PurePosixPath(path)
    return (
        _is_text(path)
        and path.isprintable()
        and not pure.is_absolute()
        and str(pure) == path
        and pure.suffix == ".py"
        and not any(character in path for character in '\\:*?"<>|')
        and not any(part.startswith(".") for part in pure.parts)
    )


def _is_text(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return "\0" not in text
