"""Offers a result as an edit: its diff as a tool call, the user's permission, and the write through the client."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import acp
from acp.schema import PermissionOption, ToolCallLocation

from greenloop.acp.client_files import ClientFiles
from greenloop.acp.updates import Updates
from greenloop.core.errors import WorkspaceError
from greenloop.core.records.outcome import Outcome, Verified
from greenloop.core.records.problem import Problem
from greenloop.core.records.verdict import Status
from greenloop.core.text.encoding import decode
from greenloop.engine import after_run
from greenloop.engine.history.store import History
from greenloop.project.apply_result import KEPT_IN_HISTORY, FileChange, changed_paths, is_stale, plan_change
from greenloop.project.settings import Settings

APPLY = "apply"
OPTIONS = (
    PermissionOption(option_id=APPLY, name="Apply", kind="allow_once"),
    PermissionOption(option_id="reject", name="Reject", kind="reject_once"),
)
_ADVERBS = {Verified.VERIFIED: "verified", Verified.PARTIALLY: "partially verified", Verified.UNVERIFIED: "unverified"}


async def offer(outcome: Outcome, problem: Problem, files: ClientFiles, updates: Updates, settings: Settings) -> None:
    """Shows the change, and writes it where the user permits that.

    Text that was typed meanwhile is merged, and the result verified again over it. Raises `WorkspaceError` where the
    change does not fit any more, or cannot be written; then nothing has changed.
    """
    changes = await _plan(outcome, problem, files, updates, settings)
    if not changes:
        return
    title = f"Apply the {_ADVERBS[outcome.verified]} change of {', '.join(change.path for change in changes)}"
    shown = {
        "kind": "edit",
        "status": "pending",
        "content": [_diff(problem.root, change) for change in changes],
        "locations": [_location(problem.root, change) for change in changes],
    }
    call = updates.start(title, **shown)
    try:
        permitted = await updates.choose(call, OPTIONS, title=title, **shown) == APPLY
    except asyncio.CancelledError:
        updates.change(call, status="failed")
        raise
    if not permitted:
        updates.change(call, status="failed")
        updates.say(f"Not applied. {KEPT_IN_HISTORY}\n")
        return
    writing = asyncio.create_task(_write(call, changes, outcome, files, updates))
    try:
        await asyncio.shield(writing)
    except asyncio.CancelledError:
        # What has begun is finished: a half of several files would be worse than all or none.
        await asyncio.gather(writing, return_exceptions=True)
        raise


async def _write(
    call: str, changes: Sequence[FileChange], outcome: Outcome, files: ClientFiles, updates: Updates
) -> None:
    updates.change(call, status="in_progress")
    try:
        await files.write(changes)
    except BaseException:
        updates.change(call, status="failed")
        raise
    updates.change(call, status="completed")
    updates.say("Applied.\n")
    await asyncio.to_thread(_mark_applied, outcome.run)


async def _plan(
    outcome: Outcome, problem: Problem, files: ClientFiles, updates: Updates, settings: Settings
) -> list[FileChange]:
    paths = changed_paths(outcome)
    changes = [plan_change(path, outcome, await files.read(path)) for path in paths]
    stale = {change.path: change.new for change in changes if change.is_merged}
    for path, text in problem.originals.items():
        data = await files.read(path) if path not in paths else None
        if path not in paths and is_stale(data, text):
            if data is None:
                raise WorkspaceError(f"{path} was deleted during the run.", remedy=KEPT_IN_HISTORY)
            stale[path] = data
    if stale:
        names = ", ".join(sorted(stale))
        updates.say(f"{names} changed during the run; the result is verified again with that change.\n")
        verdict = await after_run.reverify(
            problem, {**{each.path: each.new for each in changes}, **stale}, settings=settings
        )
        if verdict.status is not Status.PASSED or verdict.collateral:
            raise WorkspaceError(
                f"{names} changed during the run, and the result fails with that change.", remedy=KEPT_IN_HISTORY
            )
    return [change for change in changes if change.new != change.old]


def _diff(root: Path, change: FileChange) -> object:
    old = decode(change.old)[0] if change.old is not None else None
    return acp.tool_diff_content(str(root / change.path), decode(change.new)[0], old)


def _location(root: Path, change: FileChange) -> ToolCallLocation:
    old, new = (change.old or b"").splitlines(), change.new.splitlines()
    same = next((number for number, (mine, its) in enumerate(zip(old, new, strict=False)) if mine != its), len(old))
    return ToolCallLocation(path=str(root / change.path), line=same + 1)


def _mark_applied(run: int | None) -> None:
    history = History.open()
    try:
        history.mark_applied(run)
    finally:
        history.close()
