"""The gate for agents: `greenloop verify --gate` as the stop hook of a client, and the answer that the agent reads.

A hook gets one JSON object on standard input, and says with its exit code, or with `--json` by its output, that the
agent must go on. It never stops an agent twice in a row, and never where nothing could be verified.
What an agent says before it ends its turn (`greenloop stop`, why a test may change) is noted for the next hook.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import hashlib
import json
import os
import select
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, TextIO

from greenloop.api.settings import state_folder
from greenloop.api.verification import Verification
from greenloop.cli import exit_codes, options
from greenloop.core.errors import GreenloopError
from greenloop.plugins.agents.short_texts import describe_verification, shorten

PASSED, SAID, BLOCKED = 0, 1, 2  # exit codes of a hook: the agent may stop; so it may, with a message; it must go on
WAITING = 0.2  # seconds for the client's object


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--gate",
        action="store_true",
        help="answer as the stop hook of a coding agent (`greenloop setup AGENT --gate`): exit code 2 and a short "
        "text on standard error if the agent must continue, 1 if nothing could be verified or the agent "
        "already knows; with --json the decision as an object, and 0",
    )


def answer(
    arguments: argparse.Namespace, verify: Callable[..., Verification], hook: dict[str, Any] | None = None
) -> int | None:
    """Verifies and answers as a hook; None where this was not asked for."""
    if not arguments.gate:
        return None
    hook = read_hook(sys.stdin) if hook is None else hook
    root = options.locate(arguments.root, None, cwd=Path.cwd())[0]
    notes = read_notes(root)
    if hook and not arguments.allow_test_change:
        arguments.allow_test_change, arguments.because = notes.get("allow", []), notes.get("because", "")
    try:
        result = verify(arguments, Path.cwd(), quick=True)
        if not hook and arguments.allow_test_change:
            write_notes(root, {**notes, "allow": arguments.allow_test_change, "because": arguments.because})
        if not (text := describe_verification(result)) and (allowed := describe_allowed(result)):
            code = answer_hook(hook, root, allowed, blocks=False, as_json=arguments.json)
            return code if hook else exit_codes.VERIFIED
        blocks = True
    except GreenloopError as error:
        text, blocks = shorten(f"greenloop verify: {error.advice}"), False
    except asyncio.CancelledError:
        return exit_codes.CANCELLED
    return answer_hook(hook, root, text, blocks=blocks, as_json=arguments.json)


def read_hook(stream: TextIO | None) -> dict[str, Any]:
    """The object that a client gives its hook on its input; empty where greenloop was started by hand."""
    return _read_object(partial(_read_input, stream))


def _read_input(stream: TextIO | None) -> bytes:
    if stream is None or stream.isatty() or not select.select([stream], [], [], WAITING)[0]:
        return b""
    return os.read(stream.fileno(), 1 << 20)


def read_notes(root: Path) -> dict[str, Any]:
    """Reads what was noted for the next hook in this workspace."""
    return _read_object(_notes_file(root).read_bytes)


def write_notes(root: Path, notes: dict[str, Any]) -> None:
    """Replaces what is noted for the next hook. Raises `OSError`."""
    file = _notes_file(root)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(notes), encoding="utf-8")


def answer_hook(hook: dict[str, Any], root: Path, text: str, *, blocks: bool, as_json: bool) -> int:
    """Answers the client, or the user who started the gate, and returns the exit code; an empty text is a pass."""
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
