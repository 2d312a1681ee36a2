"""The gate for agents: `greenloop verify --gate` as the stop hook of a client, and the answer that the agent reads.

A hook gets one JSON object on standard input, and says with its exit code, or with `--json` by its output, that the
agent must go on. It never stops an agent twice in a row, and never where nothing could be verified.
What an agent says before it ends its turn (`greenloop stop`, why a test may change) is noted for the next hook.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import select
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from greenloop.api.settings import state_folder
from greenloop.api.verification import Verification

PASSED, SAID, BLOCKED = 0, 1, 2  # exit codes of a hook: the agent may stop; so it may, with a message; it must go on
WAITING = 0.2  # seconds for the client's object


def read_hook() -> dict[str, Any]:
    """The object that a client gives its hook; empty where greenloop was started by hand."""
    return _read_object(_read_input)


def _read_input() -> bytes:
    is_mute = sys.stdin is None or sys.stdin.isatty() or not select.select([sys.stdin], [], [], WAITING)[0]
    return b"" if is_mute else os.read(sys.stdin.fileno(), 1 << 20)


def read_notes(root: Path) -> dict[str, Any]:
    """Reads what was noted for the next hook in this workspace."""
    return _read_object(_notes_file(root).read_bytes)


def write_notes(root: Path, notes: dict[str, Any]) -> None:
    """Replaces what is noted for the next hook. Raises `OSError`."""
    file = _notes_file(root)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(notes), encoding="utf-8")


def answer(hook: dict[str, Any], root: Path, text: str, *, blocks: bool, as_json: bool) -> int:
    """Answers the client, or whoever started the gate by hand, and returns the exit code; an empty text is a pass."""
    notes, session = read_notes(root) if hook else {}, hook.get("session_id") or hook.get("sessionId") or ""
    told = hashlib.sha256(f"{session}\n{text}".encode()).hexdigest()
    # Most clients say whether the agent goes on already; of others a session gets the same answer once.
    repeated = hook.get("stop_hook_active", bool(hook) and notes.get("told") == told)
    blocks = blocks and bool(text) and not repeated
    if text and blocks and (reason := notes.get("stop")):
        text, blocks = f"The agent stopped, and says why: {reason}\n{text}", False
    if hook:
        with contextlib.suppress(OSError):  # it decides without notes, too
            write_notes(root, {**notes, "told": told} if blocks else {})
    if as_json:
        said = {"decision": "block", "reason": text} if blocks else {"systemMessage": text} if text else {}
        print(json.dumps(said))
        return PASSED
    if text:
        print(text, file=sys.stderr)
    return BLOCKED if blocks else SAID if text else PASSED


def describe_allowed(result: Verification) -> str:
    """Says of a pass which changed files judged it, and the reason; empty where none did."""
    paths = ", ".join(each.path for each in result.judging_changes if each.allowed)
    return f"greenloop verify: verified, with {paths} as changed. The reason: {result.because}" if paths else ""


def _notes_file(root: Path) -> Path:
    return state_folder() / "gates" / f"{hashlib.sha256(str(root).encode()).hexdigest()[:16]}.json"


def _read_object(read: Callable[[], bytes]) -> dict[str, Any]:
    with contextlib.suppress(OSError, ValueError):
        return value if isinstance(value := json.loads(read()), dict) else {}
    return {}
