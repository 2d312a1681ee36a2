"""The gate for agents: `greenloop verify --gate` as the stop hook of a client, and the answer that the agent reads.

A hook gets one JSON object on standard input, and says with its exit code, or with `--json` by its output, that the
agent must go on. It never stops an agent twice in a row, and never where nothing could be verified.
"""

from __future__ import annotations

import json
import os
import select
import sys
from collections.abc import Iterator

from greenloop.api import events_json
from greenloop.api.verification import Verification
from greenloop.cli import render
from greenloop.wording.next_step import next_step, why_not_proven

LONGEST = 1_600  # characters, about 400 tokens
MOST = 5  # tests of one kind
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


def describe(result: Verification) -> str:
    """The answer for the agent; empty where it may stop."""
    if result.is_proven or result.nothing_staged:
        return ""
    step = next_step(result.state.value)
    return shorten("\n".join(map(render.escape_controls, [*_lines(result), *([f"Next: {step}"] if step else [])])))


def shorten(text: str) -> str:
    """At most about 400 tokens; the last line, which says what to do, stays."""
    if len(text) <= LONGEST:
        return text
    head, _line, last = text.rpartition("\n")
    return f"{head[: LONGEST - len(last) - 2]}…\n{last}"


def _lines(result: Verification) -> Iterator[str]:
    yield f"greenloop verify: not verified. {render.first_line(result.reason or why_not_proven(result.unearned), 300)}"
    cases = {case.id: case for case in (*result.cases, *result.new.cases)}
    failed = tuple(dict.fromkeys((*result.failed, *result.new_failing)))
    for name in failed[:MOST]:
        case = events_json.case_object(cases[name]) if name in cases else {}
        place = f", {case['path']}:{case['line']}" if case.get("path") else ""
        error = f": {case['error_class']}: {render.first_line(case['message'], 100)}" if case.get("error_class") else ""
        yield f"failed: {name}{error}{place}"
    if len(failed) > MOST:
        yield f"and {len(failed) - MOST} more"
    yield from (f"tampered with: {each.case}" for each in result.tampered[:MOST] if each.case)
    yield from (f"not proven: {case}: {render.first_line(why, 100)}" for case, why in [*result.unearned.items()][:MOST])
    yield from (f"edited, and judges: {each.path}" for each in result.edits[:MOST])
