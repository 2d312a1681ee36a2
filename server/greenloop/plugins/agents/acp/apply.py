"""Offers a result as an edit: its diff as a tool call, the user's permission, and the write through the client."""

from __future__ import annotations

from pathlib import Path

import acp
from acp.schema import PermissionOption, ToolCallLocation

from greenloop.api.result_files import KEPT_IN_HISTORY, FileChange
from greenloop.api.session import RefineSession
from greenloop.core.records.outcome import Outcome
from greenloop.core.text.diff import first_changed_line
from greenloop.core.text.encoding import decode
from greenloop.plugins.agents.acp.client_files import ClientFiles
from greenloop.plugins.agents.acp.updates import Updates
from greenloop.wording.outcome import VERIFIED_WORDS

APPLY = "apply"
OPTIONS = (
    PermissionOption(option_id=APPLY, name="Apply", kind="allow_once"),
    PermissionOption(option_id="reject", name="Reject", kind="reject_once"),
)


async def offer(session: RefineSession, outcome: Outcome, files: ClientFiles, updates: Updates) -> None:
    """Shows the change, and writes it where the user permits that.

    Raises `WorkspaceError` where the change does not fit any more, or cannot be written; then nothing has changed.
    """
    planned = await session.plan(files, report_status=lambda sentence: updates.say(f"{sentence}\n"))
    changes, root = [change for change in planned if change.new != change.old], session.request.root
    if not changes:
        return
    title = f"Apply the {VERIFIED_WORDS[outcome.verified]} change of {', '.join(change.path for change in changes)}"
    shown = {
        "kind": "edit",
        "status": "pending",
        "content": [_diff(root, change) for change in changes],
        "locations": [_location(root, change) for change in changes],
    }
    call = updates.start(title, **shown)
    is_written = False

    def confirm() -> None:
        nonlocal is_written
        is_written = True
        updates.change(call, status="completed")
        updates.say("Applied.\n")

    try:
        if await updates.choose(call, OPTIONS, title=title, **shown) != APPLY:
            updates.say(f"Not applied. {KEPT_IN_HISTORY}\n")
            return
        updates.change(call, status="in_progress")
        await session.write(changes, files, on_written=confirm)
    finally:
        if not is_written:
            updates.change(call, status="failed")


def _diff(root: Path, change: FileChange) -> object:
    old = decode(change.old)[0] if change.old is not None else None
    return acp.tool_diff_content(str(root / change.path), decode(change.new)[0], old)


def _location(root: Path, change: FileChange) -> ToolCallLocation:
    old = decode(change.old)[0] if change.old is not None else None
    return ToolCallLocation(path=str(root / change.path), line=first_changed_line(old, decode(change.new)[0]))
