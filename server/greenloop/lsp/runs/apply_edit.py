"""Applies a result through the editor; the only code that changes a user's text.

An editor's `applied: true` proves nothing and its `false` little: the text itself is compared, before sending and
after the reply. A text that changed meanwhile is merged three-way and verified again. Nothing is written to disk, and
no buffer is changed whose file another program has written meanwhile.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence

from lsprotocol import types as lsp

from greenloop.api.result_files import has_passed
from greenloop.core.errors import GreenloopError
from greenloop.core.text.diff import diff_hunks, with_plain_ends
from greenloop.core.text.redact import clean_for_display
from greenloop.lsp.connection.client import after_reply
from greenloop.lsp.connection.convert import contains
from greenloop.lsp.documents import notebook_requests
from greenloop.lsp.documents.disk import encode_as_saved, on_disk
from greenloop.lsp.editor import Editor
from greenloop.lsp.engines import Engines
from greenloop.lsp.runs.edit_plan import EditPlanner, TextChange, new_texts
from greenloop.lsp.runs.runs import Runs
from greenloop.lsp.state.run import ApplyResult, Phase, Run

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
        if not run.changes:
            return ApplyResult(applied=False, reason="there is nothing to apply")
        planner, can_send = self.planner, self._client.capabilities.apply_edit
        has_versions = self._client.capabilities.document_changes
        for _round in range(ROUNDS):
            if can_send and not has_versions and not await self._documents.wait_for_quiet(QUIET, PATIENCE):
                # An edit without version is applied to whatever text the editor has by then.
                break
            texts = planner.current_texts(run)
            # Comparing long texts takes time, in which the user may type.
            changes = await asyncio.to_thread(planner.plan_for, run, texts)
            if planner.current_texts(run) != texts:
                continue
            if isinstance(changes, ApplyResult):
                return changes
            if not changes:
                run.result.applied, run.result.lines = True, await asyncio.to_thread(_changed_lines, run)
                return ApplyResult(applied=True)
            if reason := planner.conflict_reason(run, changes):
                return ApplyResult(applied=False, reason=reason)
            if planner.is_proven(run, changes):
                if can_send:
                    return await self._send(run, changes)
                is_merged = any(change.merged for change in changes)
                reason = "this editor accepts edits only from a code action"
                return ApplyResult(applied=False, merged=is_merged, reason=reason, by_action=True)
            verified_texts = planner.other_texts(run) | new_texts(changes)
            reason = await self._reverify(run, new_texts(changes))
            if reason:
                return ApplyResult(applied=False, reason=reason)
            run.result.verified_texts = verified_texts
        return ApplyResult(applied=False, reason="the text keeps changing")

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
        return _mark_applied(run)

    async def _reverify(self, run: Run, texts: dict[str, str]) -> str:
        """Why the merged texts are not verified; empty where the tests pass with them."""
        if run.started is None:
            return "the text changed in the meantime"
        run.progress.status = "verifying the result merged with your edits"
        engine = await self._engines.engine()
        notebook = self._documents.notebook(run.root / run.target.path, run.root)
        current = self._unsaved_at_start(run) | self._documents.open_texts(run.root) | texts
        files = {path: encode_as_saved(text, run.root / path) for path, text in current.items()}
        try:
            if notebook is not None:
                files |= await asyncio.to_thread(notebook_requests.merged_buffers, run.target, notebook, texts)
            verdict = await engine.reverify(run.started.problem, files, settings=run.settings)
        except GreenloopError as error:
            return f"the text changed in the meantime, and the merged result could not be verified: {error}"
        if has_passed(verdict):
            return ""
        return "the text changed in the meantime, and the merged result does not pass the tests"

    def _unsaved_at_start(self, run: Run) -> dict[str, str]:
        """The current texts of files that had unsaved changes when the run began."""
        unsaved_files = run.started.problem.buffers if run.started else {}
        texts = {path: self._documents.text(run.root / path) for path in unsaved_files}
        return {path: text for path, text in texts.items() if text is not None}

    async def _send(self, run: Run, changes: Sequence[TextChange]) -> ApplyResult:
        documents = self._documents
        if run.running:
            run.phase = Phase.LANDING
            self._runs.set_status(run, "applying the result")
        edit = self.planner.workspace_edit(run, changes)
        # The edit being sent is reported here, not where late edits are noticed.
        run.result.sent_texts = {}
        disk_texts = {change.path: on_disk(run.root / change.path) for change in changes}
        request = asyncio.ensure_future(self._client.apply_edit(edit, f"Refine {run.name}", REPLY))
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
        _expect(run, changes)
        # A file that the editor changes without opening it is not visible here: only its reply can be trusted.
        if not is_applied() and not (says_applied and is_applied(visible_changes)):
            detail = clean_for_display(getattr(reply, "failure_reason", None) or "")
            reason = "the editor did not apply it" + (f" ({detail})" if detail else "")
            return ApplyResult(applied=False, reason=reason)
        return await asyncio.to_thread(_mark_applied, run, merged=any(change.merged for change in changes))

    def _contains_change(self, run: Run, change: TextChange, disk_texts: Mapping[str, str | None]) -> bool:
        """Whether the text now contains the change, whatever was typed since."""
        path = run.root / change.path
        current = self._documents.text(path)
        is_open = self._documents.document_at(path) is not None
        if current is None or (not is_open and current == disk_texts[change.path]):
            return False
        return contains(with_plain_ends(change.current or ""), with_plain_ends(change.new), with_plain_ends(current))


def _expect(run: Run, changes: Sequence[TextChange]) -> None:
    run.result.sent_texts = {change.path: (change.current or "", change.new) for change in changes}
    run.result.sent_at = time.monotonic()


def _mark_applied(run: Run, *, merged: bool = False) -> ApplyResult:
    result = run.result
    result.applied_texts, result.sent_texts, result.applied = result.sent_texts, {}, True
    result.lines = _changed_lines(run)
    return ApplyResult(applied=True, merged=merged)


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
