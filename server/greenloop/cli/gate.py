"""The gate for agents: `greenloop verify --gate` as the stop hook of a client, and the answer that the agent reads.

A hook gets one JSON object on standard input, and says with its exit code, or with `--json` by its output, that the
agent must go on. It never stops an agent twice in a row, and never where nothing could be verified.
"""

from __future__ import annotations

import json
import os
import select
import sys

PASSED, SAID, BLOCKED = 0, 1, 2  # exit codes of a hook: the agent may stop; so it may, with a message; it must go on
WAITING = 0.2  # seconds for the client's object


def is_repeated() -> bool:
    """Does the client say that its agent goes on already because of a stop hook?"""
    if sys.stdin is None or sys.stdin.isatty() or not select.select([sys.stdin], [], [], WAITING)[0]:
        return False
    try:
        value = json.loads(os.read(sys.stdin.fileno(), 1 << 20) or b"{}")
    except (OSError, ValueError):
        return False
    return isinstance(value, dict) and bool(value.get("stop_hook_active"))


def finish(text: str, *, blocks: bool, repeated: bool, as_json: bool) -> int:
    """Tells the client, and returns the exit code; an empty text is a pass."""
    must_go_on = blocks and bool(text) and not repeated
    if as_json:
        said = {"decision": "block", "reason": text} if must_go_on else {"systemMessage": text} if text else {}
        print(json.dumps(said))
        return PASSED
    if text:
        print(text, file=sys.stderr)
    return BLOCKED if must_go_on else SAID if text else PASSED
