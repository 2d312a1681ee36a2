"""Applies a result through the editor; the only code that changes a user's text.

An editor's `applied: true` proves nothing and its `false` little: the text itself is compared, before sending and
after the reply. A text that changed meanwhile is merged three-way and verified again. Nothing is written to disk, and
no buffer is changed whose file another program has written meanwhile.
"""

from __future__ import annotations

import asyncio
import functools
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lsprotocol import types as lsp

from greenloop import api
from greenloop.api.result_files import FileChange
from greenloop.core.errors import GreenloopError, WorkspaceError
from greenloop.core.text.diff import contains, diff_hunks, with_plain_ends
from greenloop.core.text.redact import clean_for_display
from greenloop.lsp.connection.client import after_reply
from greenloop.lsp.documents.disk import on_disk
from greenloop.lsp.editor import Editor
from greenloop.lsp.engines import Engines
from greenloop.lsp.runs import edit_plan
from greenloop.lsp.runs.edit_plan import EditPlan, EditPlanner, TextChange
from greenloop.lsp.runs.runs import Runs
from greenloop.lsp.state.run import ApplyResult, Phase, Run

if TYPE_CHECKING:
    from greenloop.api.session import RefineSession

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


@dataclass(frozen=True, kw_only=True)
class EditorFiles:
    """The files of a run for the façade: read from the editor's texts, changed by one edit that `send` sends."""

    texts: Mapping[str, bytes | None]
    send: Callable[[], Awaitable[None]]

    async def read(self, path: str) -> bytes | None:
        return self.texts.get(path)

    async def write(self, changes: Sequence[FileChange]) -> None:  # noqa: ARG002 - `send` has them as the editor's texts
        await self.send()


class _TypedMeanwhileError(Exception):
    """The texts are no longer those that the edit was planned for."""


class EditApplier:
    """Applies results, and notices edits that arrive late."""

    def __init__(self, editor: Editor, engines: Engines, runs: Runs) -> None:
        self._client, self._documents = editor.client, editor.documents
        self._engines, self._runs, self.planner = engines, runs, EditPlanner(editor)

    async def apply(self, run: Run) -> ApplyResult:
        """Applies the run's result through the editor, unless the text already contains it."""
        await after_reply()
        async with run.lock:
            return await self._apply(run)

    async def _apply(self, run: Run) -> ApplyResult:
        if run.outcome is None or not run.changes:
            return ApplyResult(applied=False, reason="there is nothing to apply")
        planner, can_send = self.planner, self._client.capabilities.apply_edit
        has_versions, session = self._client.capabilities.document_changes, await self._session(run)
        for _round in range(ROUNDS):
            if can_send and not has_versions and not await self._documents.wait_for_quiet(QUIET, PATIENCE):
                # An edit without version is applied to whatever text the editor has by then.
                break
            texts = planner.texts(run)
            # Comparing long texts takes time, in which the user may type.
            plan = await asyncio.to_thread(planner.plan, run, texts)
            if planner.texts(run) != texts:
                continue
            if plan.reason:
                return ApplyResult(applied=False, reason=plan.reason)
            send = functools.partial(self._send, run, plan, texts)
            files = EditorFiles(texts=edit_plan.as_saved(run.root, texts), send=send)
            try:
                if plan.changes and not plan.is_proven:
                    await session.plan(
                        files,
                        outcome=edit_plan.with_plain_ends(run.outcome),
                        originals=planner.originals(run),
                        to_sandbox=functools.partial(planner.sandbox_files, run),
                        report_status=functools.partial(self._runs.set_status, run),
                    )
                    if planner.texts(run) != texts:
                        continue
                if plan.changes and not can_send:
                    reason = "this editor accepts edits only from a code action"
                    return ApplyResult(applied=False, merged=plan.merged, reason=reason, by_action=True)
                await session.write(plan.files, files)
            except _TypedMeanwhileError:
                continue
            except GreenloopError as error:
                return ApplyResult(applied=False, reason=str(error).rstrip("."))
            return ApplyResult(applied=True, merged=plan.merged and bool(plan.changes))
        return ApplyResult(applied=False, reason="the text keeps changing")

    async def _session(self, run: Run) -> RefineSession:
        """The session of the run; for one of an earlier server, a session with its result."""
        if run.session is None:
            engine = await self._engines.engine()
            request = api.RefineRequest(root=run.root, target=run.target.selector)
            run.session = api.RefineSession(request, settings=run.settings, state=run.progress, engine=engine)
        return run.session

    async def undo(self, run: Run) -> str:
        """Takes an applied result out of the text by one edit. Returns why not; empty where it was taken out."""
        await after_reply()
        async with run.lock:
            plan = self.planner.plan_undo(run)
            reason = plan.reason or await self._edit(run, plan.changes, f"Undo the refinement of {run.name}")
            run.result.applied = run.result.applied and bool(reason)
            return reason

    def edit_for_action(self, run: Run, changes: Sequence[TextChange]) -> lsp.WorkspaceEdit:
        """The edit for a code action that contains it. The editor does not report its choice; the text shows it."""
        _expect(run, changes)
        return self.planner.workspace_edit(run, changes)

    def detect_late_edit(self, run: Run) -> ApplyResult | None:
        """The result if an edit that was given up, or chosen as an action, is in the text now."""
        if run.running or run.result.applied or not run.result.sent_texts:
            return None
        if time.monotonic() - run.result.sent_at > ARRIVES:
            # No change is expected any more, and every keystroke would pay for the comparison.
            run.result.sent_texts = {}
            return None
        for path, (before, after) in run.result.sent_texts.items():
            current = self._documents.text(run.root / path)
            if current is None or not contains(
                with_plain_ends(before), with_plain_ends(after), with_plain_ends(current)
            ):
                return None
        _mark_applied(run)
        return ApplyResult(applied=True)

    async def _send(self, run: Run, plan: EditPlan, texts: Mapping[str, str | None]) -> None:
        """Sends the edit, and returns when the text has it. Raises `WorkspaceError` where it does not get there."""
        if self.planner.texts(run) != texts:  # the last look before the edit leaves
            raise _TypedMeanwhileError
        if not plan.changes:
            run.result.applied, run.result.lines = True, await asyncio.to_thread(_changed_lines, run)
            return
        before = run.phase
        if run.running:
            run.phase = Phase.LANDING
            self._runs.set_status(run, "applying the result")
        # The edit being sent is reported here, not where late edits are noticed.
        run.result.sent_texts = {}
        reason = await self._edit(run, plan.changes, f"Refine {run.name}")
        if before is Phase.REFINING and run.phase is Phase.LANDING:  # related tests go on
            run.phase = before
        _expect(run, plan.changes)
        if reason:
            raise WorkspaceError(reason)
        await asyncio.to_thread(_mark_applied, run)

    async def _edit(self, run: Run, changes: Sequence[TextChange], label: str) -> str:
        """Sends the edit. Returns why the text does not have it; empty once it does."""
        documents, edit = self._documents, self.planner.workspace_edit(run, changes)
        disk_texts = {change.path: on_disk(run.root / change.path) for change in changes}
        request = asyncio.ensure_future(self._client.apply_edit(edit, label, REPLY))
        request.add_done_callback(lambda _done: documents.notify_changed())
        self._client.log_while_waiting(request, "an edit")

        def is_applied(selected: Sequence[TextChange] = changes) -> bool:
            return all(self._contains_change(run, change, disk_texts) for change in selected)

        # Some editors apply without a reply; some reply long before they report the change.
        await documents.wait_until(lambda: request.done() or is_applied(), REPLY)
        reply = None
        if request.done():
            reply = request.result()
            await documents.wait_until(is_applied, LATE)
        says_applied = bool(getattr(reply, "applied", False))
        visible_changes = [
            change
            for change in changes
            if change.current is not None and documents.document_at(run.root / change.path) is not None
        ]
        # A file that the editor changes without opening it is not visible here: only its reply can be trusted.
        if is_applied() or (says_applied and is_applied(visible_changes)):
            return ""
        detail = clean_for_display(getattr(reply, "failure_reason", None) or "")
        return "the editor did not apply it" + (f" ({detail})" if detail else "")

    def _contains_change(self, run: Run, change: TextChange, disk_texts: Mapping[str, str | None]) -> bool:
        """True if the text now contains the change, whatever was typed since."""
        path = run.root / change.path
        current = self._documents.text(path)
        is_open = self._documents.document_at(path) is not None
        if current is None or (not is_open and current == disk_texts[change.path]):
            return False
        return contains(with_plain_ends(change.current or ""), with_plain_ends(change.new), with_plain_ends(current))


def _expect(run: Run, changes: Sequence[TextChange]) -> None:
    run.result.sent_texts = {change.path: (change.current or "", change.new) for change in changes}
    run.result.sent_at = time.monotonic()


def _mark_applied(run: Run) -> None:
    result = run.result
    result.applied_texts, result.sent_texts, result.applied = result.sent_texts, {}, True
    result.lines = _changed_lines(run)


def _changed_lines(run: Run) -> tuple[tuple[str, int], ...]:
    """The first changed line of each file."""
    assert run.outcome is not None
    lines = []
    for path, after in run.changes.items():
        before, text = run.result.applied_texts.get(path, (run.outcome.before.get(path) or "", after))
        changed = diff_hunks(with_plain_ends(before), with_plain_ends(text))
        first_lines = changed[0].lines if changed else ()
        first_filled = next((row for row, line in enumerate(first_lines) if line.strip()), 0)
        lines.append((path, (changed[0].start if changed else 0) + first_filled + 1))
    return tuple(lines)
