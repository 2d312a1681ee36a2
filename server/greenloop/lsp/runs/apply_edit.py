"""Applies a result through the editor; the only code that changes a user's text.

An editor's `applied: true` proves nothing and its `false` little: the text itself is compared, before sending and
after the reply. A text that changed meanwhile is merged three-way and verified again. Nothing is written to disk, and
no buffer is changed whose file another program has written meanwhile.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from lsprotocol import types as lsp

from greenloop.core.errors import GreenloopError
from greenloop.core.records.verdict import Status
from greenloop.core.text.diff import diff_hunks, keep_ends, merge, with_plain_ends
from greenloop.core.text.redact import clean_for_display
from greenloop.lsp.connection import client_requests
from greenloop.lsp.connection.convert import FileEdit, contains, workspace_edit
from greenloop.lsp.documents import notebook_requests
from greenloop.lsp.documents.buffers import encoded
from greenloop.lsp.documents.disk import on_disk
from greenloop.lsp.documents.notebooks import cell_changes
from greenloop.lsp.runs.runs import Phase

if TYPE_CHECKING:
    from greenloop.lsp.runs.runs import Run
    from greenloop.lsp.server import Server

# Seconds. A didChange was seen 1.6 s after the reply. An editor may ask its user before it replies; if that takes
# longer, the change is noticed when it arrives.
LATE = 2.0
REPLY = 30.0
ARRIVES = 60.0
# How often a text may change while its merge is verified, before applying is given up.
ROUNDS = 3
# Editors without versions get an edit after a pause in typing (some report typing 0.15 s late): seconds of that pause,
# and how long it is waited for.
QUIET = 0.3
PATIENCE = 20.0
BY_ACTION = "this editor takes edits only from a code action"


@dataclass(frozen=True, kw_only=True)
class Landing:
    """Whether a result was applied, at which lines (workspace path, 1-based line), or the reason why it was not."""

    applied: bool
    places: tuple[tuple[str, int], ...] = ()
    merged: bool = False
    why: str = ""


@dataclass(frozen=True, kw_only=True)
class _Step:
    path: str
    current: str | None
    wanted: str
    merged: bool


async def land(server: Server, run: Run) -> Landing:
    """Applies the run's result through the editor, unless the text already contains it."""
    await client_requests.apart()
    async with run.lock:
        return await _land(server, run)


async def _land(server: Server, run: Run) -> Landing:
    if not run.changes:
        return Landing(applied=False, why="there is nothing to apply")
    sends = server.abilities.apply_edit
    for _round in range(ROUNDS):
        if sends and not server.abilities.document_changes and not await server.documents.quiet(QUIET, PATIENCE):
            # An edit without version is applied to whatever text the editor has by then.
            return Landing(applied=False, why="the text keeps changing")
        texts = _texts(server, run)
        # Comparing long texts takes time, in which the user may type.
        changes = await asyncio.to_thread(_planned, run, texts, may_create=server.abilities.create_files)
        if _texts(server, run) != texts:
            continue
        if isinstance(changes, Landing):
            return changes
        if not changes:
            run.applied = True
            return Landing(applied=True, places=await asyncio.to_thread(_places, run))
        if reason := _behind(server, run, changes):
            return Landing(applied=False, why=reason)
        if stands(server, run, changes):
            if sends:
                return await _send(server, run, changes)
            return Landing(applied=False, merged=any(change.merged for change in changes), why=BY_ACTION)
        verified_texts = _others(server, run) | _wanted(changes)
        reason = await _reverify(server, run, _wanted(changes))
        if reason:
            return Landing(applied=False, why=reason)
        run.proof = verified_texts
    return Landing(applied=False, why="the text keeps changing")


def plan(server: Server, run: Run) -> list[_Step] | Landing:
    """The remaining change of each file's current text; an `ApplyResult` with the reason where it is not possible."""
    changes = _planned(run, _texts(server, run), may_create=server.abilities.create_files)
    if isinstance(changes, list) and (reason := _behind(server, run, changes)):
        return Landing(applied=False, why=reason)
    return changes


def stands(server: Server, run: Run, steps: Sequence[_Step]) -> bool:
    """Whether a result was verified with exactly the current texts; True for an unsolved one, which needs no proof."""
    if run.outcome is None or not run.outcome.solved:
        return True
    merged = any(change.merged for change in steps)
    if merged and not run.proof:
        return False
    others = _others(server, run)
    if run.proof == others | _wanted(steps):
        return True
    originals = run.started.problem.originals if run.started else {}
    unmoved = all(plain(originals[path] or "") == text for path, text in others.items())
    return unmoved and not merged and not run.doubted


def _texts(server: Server, run: Run) -> dict[str, str | None]:
    return {path: text_of(server, run.root / path) for path in run.changes}


def _wanted(steps: Sequence[_Step]) -> dict[str, str]:
    return {change.path: change.wanted for change in steps}


def _others(server: Server, run: Run) -> dict[str, str]:
    """The current texts of files that the result was verified with and does not change."""
    others = run.started.problem.originals if run.started else {}
    return {path: plain(text_of(server, run.root / path) or "") for path in others if path not in run.changes}


def _behind(server: Server, run: Run, steps: Sequence[_Step]) -> str:
    """Why a file cannot take its change (it changed on disk, or a change spans cells); empty where all can."""
    for change in steps:
        path = run.root / change.path
        if (notebook := server.documents.notebook(path, run.root)) is not None:
            if cell_changes(notebook, change.current or "", change.wanted) is None:
                return f"it would change several cells of {notebook.path} in one piece"
        elif reason := server.freshness.complaint(path, change.path, change.current or ""):
            return reason
    return ""


def _planned(run: Run, texts: Mapping[str, str | None], *, may_create: bool) -> list[_Step] | Landing:
    outcome, changes = run.outcome, []
    assert outcome is not None
    for path, after in run.changes.items():
        before, current = outcome.before.get(path), texts[path]
        if before is None and current is None and not may_create:
            return Landing(applied=False, why=f"this editor cannot create {path}")
        if before is not None and current is None:
            return Landing(applied=False, why=f"{path} is gone")
        old, new, actual = plain(before or ""), plain(after), plain(current or "")
        if current is not None and contains(old, new, actual):
            continue
        wanted = merge(old, new, actual)
        if wanted is None:
            return Landing(applied=False, why=f"{path} changed meanwhile in the same lines")
        is_merged = actual != old
        text = as_in(current, wanted) if current else after
        changes.append(_Step(path=path, current=current, wanted=text, merged=is_merged))
    return changes


def plain(text: str) -> str:
    """The text as the engine has it, without line end style and byte order mark, which few editors show."""
    return with_plain_ends(text.removeprefix("\ufeff"))


def as_in(current: str, text: str) -> str:
    """The text with the line ends and the byte order mark of the current text that it replaces."""
    return keep_ends(current, ("\ufeff" if current.startswith("\ufeff") else "") + text)


def text_of(server: Server, path: Path) -> str | None:
    """The editor's text where the file is open, else the text on disk; None where the file does not exist."""
    document = server.documents.at(path)
    return document.source if document is not None else on_disk(path)


def _edit(server: Server, run: Run, steps: Sequence[_Step]) -> lsp.WorkspaceEdit:
    edits: list[FileEdit] = []
    for change in steps:
        if server.documents.book_at(run.root / change.path) is not None:
            edits += _cells(server, run, change)
            continue
        document = server.documents.at(run.root / change.path)
        uri, version = server.documents.uri(run.root / change.path), document.version if document else None
        edits.append(FileEdit(uri=uri, before=change.current, after=change.wanted, version=version))
    codec = server.documents.position_codec
    return workspace_edit(edits, codec, document_changes=server.abilities.document_changes)


def given(server: Server, run: Run, steps: Sequence[_Step]) -> lsp.WorkspaceEdit:
    """The edit for a code action that contains it. The editor does not report its choice; the changed text shows it."""
    _expected(run, steps)
    return _edit(server, run, steps)


def _cells(server: Server, run: Run, step: _Step) -> list[FileEdit]:
    """A notebook's change as changes of its cells."""
    documents, path = server.documents, run.root / step.path
    notebook = documents.notebook(path, run.root)
    changes = cell_changes(notebook, step.current or "", step.wanted) if notebook else None
    uris = [uri for uri, _first in documents.parts(path)]
    return [
        FileEdit(uri=uris[n], before=before, after=after, version=documents.get_text_document(uris[n]).version)
        for n, before, after in changes or ()
    ]


def _closed(server: Server, run: Run) -> dict[str, str]:
    """The current texts of files that had unsaved changes when the run began."""
    unsaved_files = run.started.problem.buffers if run.started else {}
    texts = {path: text_of(server, run.root / path) for path in unsaved_files}
    return {path: text for path, text in texts.items() if text is not None}


async def _reverify(server: Server, run: Run, texts: dict[str, str]) -> str:
    """Why the merged texts are not verified; empty where the tests pass with them."""
    if run.started is None:
        return "the text changed meanwhile"
    run.now = "verifying together with what was typed meanwhile"
    engine = await server.engine()
    notebook = server.documents.notebook(run.root / run.target.path, run.root)
    now = _closed(server, run) | server.documents.texts(run.root) | texts
    files = {path: encoded(text, run.root / path) for path, text in now.items()}
    try:
        if notebook is not None:
            files |= await asyncio.to_thread(notebook_requests.merged, run, notebook, texts)
        verdict = await engine.reverify(run.started.problem, files, settings=run.settings)
    except GreenloopError as error:
        return f"the text changed meanwhile, and the merge could not be verified: {error}"
    if verdict.status is Status.PASSED and not verdict.collateral:
        return ""
    return "the text changed meanwhile, and together with that the tests do not pass"


async def _send(server: Server, run: Run, steps: Sequence[_Step]) -> Landing:
    documents = server.documents
    if run.running:
        run.phase, run.now = Phase.LANDING, "putting it into the editor"
        server.stirred()
    edit = _edit(server, run, steps)
    # The edit being sent is reported here, not where late edits are noticed.
    run.sent = {}
    disk = {change.path: on_disk(run.root / change.path) for change in steps}
    params = lsp.ApplyWorkspaceEditParams(edit=edit, label=f"Refine {run.name}")
    request = asyncio.ensure_future(
        client_requests.bounded(server.workspace_apply_edit_async(params), REPLY, "for an edit")
    )
    request.add_done_callback(lambda _done: documents.changed())
    client_requests.nudge(server, request, "an edit")

    def is_applied(selected: Sequence[_Step] = steps) -> bool:
        return all(_holds(server, run, change, disk) for change in selected)

    # Some editors apply without a reply; some reply long before they report the change.
    await documents.wait_until(lambda: request.done() or is_applied(), REPLY)
    reply = None
    if request.done():
        reply = request.result()
        await documents.wait_until(is_applied, LATE)
    says_applied = bool(getattr(reply, "applied", False))
    visible_changes = [
        change for change in steps if change.current is not None and documents.at(run.root / change.path) is not None
    ]
    _expected(run, steps)
    # A file that the editor changes without opening it is not visible here: only its reply can be trusted.
    if not is_applied() and not (says_applied and is_applied(visible_changes)):
        reason = clean_for_display(getattr(reply, "failure_reason", None) or "")
        return Landing(applied=False, why="the editor did not apply it" + (f" ({reason})" if reason else ""))
    return await asyncio.to_thread(_landed, run, merged=any(change.merged for change in steps))


def _expected(run: Run, steps: Sequence[_Step]) -> None:
    run.sent, run.sent_at = {step.path: (step.current or "", step.wanted) for step in steps}, time.monotonic()


def arrived(server: Server, run: Run) -> Landing | None:
    """The result if an edit that was given up, or chosen as an action, is now in the text: some editors report late."""
    if run.running or run.applied or not run.sent:
        return None
    if time.monotonic() - run.sent_at > ARRIVES:
        # No change is expected any more, and every keystroke would pay for the comparison.
        run.sent = {}
        return None
    for path, (before, after) in run.sent.items():
        current = text_of(server, run.root / path)
        if current is None or not contains(with_plain_ends(before), with_plain_ends(after), with_plain_ends(current)):
            return None
    return _landed(run)


def _landed(run: Run, *, merged: bool = False) -> Landing:
    run.landed, run.sent, run.applied = run.sent, {}, True
    return Landing(applied=True, places=_places(run), merged=merged)


def _holds(server: Server, run: Run, step: _Step, disk: dict[str, str | None]) -> bool:
    """Whether the text now contains the change, whatever was typed since."""
    path = run.root / step.path
    current = text_of(server, path)
    if current is None or (server.documents.at(path) is None and current == disk[step.path]):
        return False
    return contains(with_plain_ends(step.current or ""), with_plain_ends(step.wanted), with_plain_ends(current))


def _places(run: Run) -> tuple[tuple[str, int], ...]:
    assert run.outcome is not None
    places = []
    for path, after in run.changes.items():
        before, text = run.landed.get(path, (run.outcome.before.get(path) or "", after))
        changed = diff_hunks(with_plain_ends(before), with_plain_ends(text))
        first_lines = changed[0].lines if changed else ()
        first_filled = next((row for row, line in enumerate(first_lines) if line.strip()), 0)
        places.append((path, (changed[0].start if changed else 0) + first_filled + 1))
    return tuple(places)
