"""Puts a result into the editor: the one way by which anything here ever changes a user's text.

An editor's `applied: true` proves nothing and its `false` little: the text itself is compared, before sending and
after the reply. Text that moved on meanwhile is merged three-way and verified again. Nothing writes to the disk, and
nothing is put over a buffer whose file somebody else has written meanwhile.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from lsprotocol import types as lsp

from greenloop.core.diff import flat, hunks, keep_ends, merge
from greenloop.core.errors import GreenloopError
from greenloop.core.nouns import Status
from greenloop.core.redact import clean
from greenloop.lsp import cells, client
from greenloop.lsp.books import cell_changes
from greenloop.lsp.buffers import encoded
from greenloop.lsp.convert import FileEdit, contains, workspace_edit
from greenloop.lsp.disk import on_disk
from greenloop.lsp.runs import Phase

if TYPE_CHECKING:
    from greenloop.lsp.runs import Run
    from greenloop.lsp.server import Server

# Seconds: a didChange was seen 1.6 s after the reply. An editor may ask its user before it replies; when that takes
# longer, the change counts when it arrives.
LATE = 2.0
REPLY = 30.0
ARRIVES = 60.0
# How often a text may move on while a merge is verified before that is given up.
ROUNDS = 3
# Editors without versions get an edit when nothing was typed for a while (some report typing 0.15 s late), and how
# long that is waited for.
QUIET = 0.3
PATIENCE = 20.0
BY_ACTION = "this editor takes edits only from a code action"


@dataclass(frozen=True, kw_only=True)
class Landing:
    """What became of a result: in the text or kept, where (workspace path, 1-based line), and why it was kept."""

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
    """Applies the run's result through the editor; never a second time over text that already holds it."""
    await client.apart()
    async with run.lock:
        return await _land(server, run)


async def _land(server: Server, run: Run) -> Landing:
    if not run.changes:
        return Landing(applied=False, why="there is nothing to apply")
    sends = server.abilities.apply_edit
    for _round in range(ROUNDS):
        if sends and not server.abilities.document_changes and not await server.documents.quiet(QUIET, PATIENCE):
            # An edit that names no version lands on whatever text is there by then.
            return Landing(applied=False, why="the text keeps changing")
        texts = _texts(server, run)
        # Comparing long texts takes its time, in which somebody may type.
        steps = await asyncio.to_thread(_planned, run, texts, may_create=server.abilities.create_files)
        if _texts(server, run) != texts:
            continue
        if isinstance(steps, Landing):
            return steps
        if not steps:
            run.applied = True
            return Landing(applied=True, places=await asyncio.to_thread(_places, run))
        if why := _behind(server, run, steps):
            return Landing(applied=False, why=why)
        if stands(server, run, steps):
            if sends:
                return await _send(server, run, steps)
            return Landing(applied=False, merged=any(step.merged for step in steps), why=BY_ACTION)
        proof = _others(server, run) | _wanted(steps)
        why = await _reverify(server, run, _wanted(steps))
        if why:
            return Landing(applied=False, why=why)
        run.proof = proof
    return Landing(applied=False, why="the text keeps changing")


def plan(server: Server, run: Run) -> list[_Step] | Landing:
    """What is left to do for each file, against the text as it is now; a `Landing` where it cannot be done."""
    steps = _planned(run, _texts(server, run), may_create=server.abilities.create_files)
    if isinstance(steps, list) and (why := _behind(server, run, steps)):
        return Landing(applied=False, why=why)
    return steps


def stands(server: Server, run: Run, steps: Sequence[_Step]) -> bool:
    """Was a result verified with the very texts that there are now? An unsolved one promises nothing."""
    if run.outcome is None or not run.outcome.solved:
        return True
    merged = any(step.merged for step in steps)
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
    return {step.path: step.wanted for step in steps}


def _others(server: Server, run: Run) -> dict[str, str]:
    """The texts that the result was verified with and does not change, as they are now."""
    others = run.started.problem.originals if run.started else {}
    return {path: plain(text_of(server, run.root / path) or "") for path in others if path not in run.changes}


def _behind(server: Server, run: Run, steps: Sequence[_Step]) -> str:
    """Which of the open files somebody else wrote on the disk, or cannot take the change; empty where none."""
    for step in steps:
        path = run.root / step.path
        if (notebook := server.documents.notebook(path, run.root)) is not None:
            if cell_changes(notebook, step.current or "", step.wanted) is None:
                return f"it would change several cells of {notebook.path} in one piece"
        elif why := server.freshness.complaint(path, step.path, step.current or ""):
            return why
    return ""


def _planned(run: Run, texts: Mapping[str, str | None], *, may_create: bool) -> list[_Step] | Landing:
    outcome, steps = run.outcome, []
    assert outcome is not None
    for path, after in run.changes.items():
        before, current = outcome.before.get(path), texts[path]
        if before is None and current is None and not may_create:
            return Landing(applied=False, why=f"this editor cannot create {path}")
        if before is not None and current is None:
            return Landing(applied=False, why=f"{path} is gone")
        old, new, now = plain(before or ""), plain(after), plain(current or "")
        if current is not None and contains(old, new, now):
            continue
        wanted = merge(old, new, now)
        if wanted is None:
            return Landing(applied=False, why=f"{path} changed meanwhile in the same lines")
        merged = now != old
        text = as_in(current, wanted) if current else after
        steps.append(_Step(path=path, current=current, wanted=text, merged=merged))
    return steps


def plain(text: str) -> str:
    """As the engine knows a text: few editors show a byte order mark, and those that do keep it."""
    return flat(text.removeprefix("\ufeff"))


def as_in(current: str, text: str) -> str:
    """The text with the line ends and the byte order mark of the one that it replaces."""
    return keep_ends(current, ("\ufeff" if current.startswith("\ufeff") else "") + text)


def text_of(server: Server, path: Path) -> str | None:
    """The editor's text where the file is open, else the disk's; None where there is no such file."""
    document = server.documents.at(path)
    return document.source if document is not None else on_disk(path)


def _edit(server: Server, run: Run, steps: Sequence[_Step]) -> lsp.WorkspaceEdit:
    edits: list[FileEdit] = []
    for step in steps:
        if server.documents.book_at(run.root / step.path) is not None:
            edits += _cells(server, run, step)
            continue
        document = server.documents.at(run.root / step.path)
        uri, version = server.documents.uri(run.root / step.path), document.version if document else None
        edits.append(FileEdit(uri=uri, before=step.current, after=step.wanted, version=version))
    codec = server.documents.position_codec
    return workspace_edit(edits, codec, document_changes=server.abilities.document_changes)


def given(server: Server, run: Run, steps: Sequence[_Step]) -> lsp.WorkspaceEdit:
    """The edit for an action that carries it; the editor says nothing when that is chosen, the text does."""
    _expected(run, steps)
    return _edit(server, run, steps)


def _cells(server: Server, run: Run, step: _Step) -> list[FileEdit]:
    """A notebook's change as those of its cells."""
    documents, path = server.documents, run.root / step.path
    notebook = documents.notebook(path, run.root)
    changes = cell_changes(notebook, step.current or "", step.wanted) if notebook else None
    uris = [uri for uri, _first in documents.parts(path)]
    return [
        FileEdit(uri=uris[n], before=before, after=after, version=documents.get_text_document(uris[n]).version)
        for n, before, after in changes or ()
    ]


def _closed(server: Server, run: Run) -> dict[str, str]:
    """What had unsaved text when the run began, and is as the disk has it by now."""
    unsaved = run.started.problem.buffers if run.started else {}
    texts = {path: text_of(server, run.root / path) for path in unsaved}
    return {path: text for path, text in texts.items() if text is not None}


async def _reverify(server: Server, run: Run, texts: dict[str, str]) -> str:
    """Why the merged texts cannot be trusted; empty when the tests pass with them."""
    if run.started is None:
        return "the text changed meanwhile"
    run.now = "verifying together with what was typed meanwhile"
    engine = await server.engine()
    notebook = server.documents.notebook(run.root / run.target.path, run.root)
    now = _closed(server, run) | server.documents.texts(run.root) | texts
    files = {path: encoded(text, run.root / path) for path, text in now.items()}
    try:
        if notebook is not None:
            files |= await asyncio.to_thread(cells.merged, run, notebook, texts)
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
    # What is on its way now is told of here, not by whoever notices what came late.
    run.sent = {}
    disk = {step.path: on_disk(run.root / step.path) for step in steps}
    params = lsp.ApplyWorkspaceEditParams(edit=edit, label=f"Refine {run.name}")
    request = asyncio.ensure_future(client.bounded(server.workspace_apply_edit_async(params), REPLY, "for an edit"))
    request.add_done_callback(lambda _done: documents.changed())
    client.nudge(server, request, "an edit")

    def landed(steps: Sequence[_Step] = steps) -> bool:
        return all(_holds(server, run, step, disk) for step in steps)

    # Some editors never reply but do apply; some reply long before the change is reported.
    await documents.wait_until(lambda: request.done() or landed(), REPLY)
    reply = None
    if request.done():
        reply = request.result()
        await documents.wait_until(landed, LATE)
    said = bool(getattr(reply, "applied", False))
    seen = [step for step in steps if step.current is not None and documents.at(run.root / step.path) is not None]
    _expected(run, steps)
    # A file that the editor changes without opening it shows nothing here: its word is all there is.
    if not landed() and not (said and landed(seen)):
        reason = clean(getattr(reply, "failure_reason", None) or "")
        return Landing(applied=False, why="the editor did not apply it" + (f" ({reason})" if reason else ""))
    return await asyncio.to_thread(_landed, run, merged=any(step.merged for step in steps))


def _expected(run: Run, steps: Sequence[_Step]) -> None:
    run.sent, run.sent_at = {step.path: (step.current or "", step.wanted) for step in steps}, time.monotonic()


def arrived(server: Server, run: Run) -> Landing | None:
    """What was given up, or given with an action, and now is in the text: busy editors report changes late."""
    if run.running or run.applied or not run.sent:
        return None
    if time.monotonic() - run.sent_at > ARRIVES:
        # Nothing of it is on its way any more, and every key would pay for the comparison.
        run.sent = {}
        return None
    for path, (before, after) in run.sent.items():
        current = text_of(server, run.root / path)
        if current is None or not contains(flat(before), flat(after), flat(current)):
            return None
    return _landed(run)


def _landed(run: Run, *, merged: bool = False) -> Landing:
    run.landed, run.sent, run.applied = run.sent, {}, True
    return Landing(applied=True, places=_places(run), merged=merged)


def _holds(server: Server, run: Run, step: _Step, disk: dict[str, str | None]) -> bool:
    """Whether the text now contains the change (somebody may have typed on)."""
    path = run.root / step.path
    current = text_of(server, path)
    if current is None or (server.documents.at(path) is None and current == disk[step.path]):
        return False
    return contains(flat(step.current or ""), flat(step.wanted), flat(current))


def _places(run: Run) -> tuple[tuple[str, int], ...]:
    assert run.outcome is not None
    places = []
    for path, after in run.changes.items():
        before, text = run.landed.get(path, (run.outcome.before.get(path) or "", after))
        changed = hunks(flat(before), flat(text))
        first = changed[0].lines if changed else ()
        blank = next((row for row, line in enumerate(first) if line.strip()), 0)
        places.append((path, (changed[0].start if changed else 0) + blank + 1))
    return tuple(places)
