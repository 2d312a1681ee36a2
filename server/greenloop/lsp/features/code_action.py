"""Code actions: refine the test or function at the cursor; while a run goes on cancel it; afterwards its result.

They never import the user's code, need no resolve, and are never preferred over the editor's own fixes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lsprotocol import types as lsp

from greenloop.core.nouns import Target, TargetKind
from greenloop.lsp import edits, interest, places
from greenloop.lsp.convert import action_kind, command
from greenloop.lsp.features import tests
from greenloop.lsp.presenters.status import standing
from greenloop.lsp.runs import Run

if TYPE_CHECKING:
    from greenloop.lsp.server import Server

KINDS = (lsp.CodeActionKind.QuickFix, lsp.CodeActionKind.RefactorRewrite)
TITLE = "Refine until tests pass"
IMPLEMENT = "Implement from docstring"


def register(server: Server) -> None:
    options = lsp.CodeActionOptions(code_action_kinds=list(KINDS), resolve_provider=False)

    @server.feature(lsp.TEXT_DOCUMENT_CODE_ACTION, options)
    def code_action(params: lsp.CodeActionParams) -> list[lsp.CodeAction | lsp.Command]:
        place = places.of_or_none(server, params.text_document.uri)
        target = places.target_at(place, place.line(params.range.start.line)) if place else None
        if place is None or target is None or tests.is_kept(place):
            return []
        ours = [item for item in params.context.diagnostics if (item.source or "").startswith("greenloop")]
        fixes = target.kind is TargetKind.TEST or bool(ours)
        natural = lsp.CodeActionKind.QuickFix if fixes else lsp.CodeActionKind.RefactorRewrite
        kind = action_kind(natural, params.context.only)
        if kind is None:
            return []
        if params.context.trigger_kind != lsp.CodeActionTriggerKind.Automatic:
            interest.shown(server, place.root)
        line = place.line(params.range.start.line)
        actions = _actions(server, params.text_document.uri, place, target, line)
        return [_shaped(server, action, kind, ours) for action in actions]


def _actions(server: Server, uri: str, place: places.Place, target: Target, line: int) -> Sequence[lsp.CodeAction]:
    run = server.runs.find(place.root, target.path, target.qualname)
    if run is not None and run.cancellable:
        cancel = command(f"Cancel refinement: {run.name}", "greenloop.cancel", _of(uri, run))
        return [*_answers(uri, run), *tests.offered(server, uri, place, target), cancel]
    if run is not None and run.running:
        return []
    position = {"line": target.name_line - 1 - place.first, "character": 0}
    name = target.qualname.rsplit(".", 1)[-1]
    title = IMPLEMENT if places.asked_for(place, target, line) else TITLE
    refine = command(f"{title}: {name}", "greenloop.refine", {"uri": uri, "position": position})
    kept = tests.offered(server, uri, place, target)
    return [refine, *kept] if run is None else [*_result(server, uri, run), *kept, refine]


def _answers(uri: str, run: Run) -> list[lsp.CodeAction]:
    """The open question, once with each answer that needs no typing."""
    asked = run.question
    if asked is None:
        return []
    return [
        command(asked.title(option), "greenloop.answer", {**_of(uri, run), "question": asked.text, "answer": option})
        for option in asked.simple
    ]


def _result(server: Server, uri: str, run: Run) -> list[lsp.CodeAction]:
    """What can be done with a run's result: the best of it first."""
    actions = []
    if run.offered and run.outcome is not None:
        title = f"Apply refined {_changed_name(run)} ({standing(run.outcome)})"
        if server.abilities.apply_edit:
            actions.append(command(title, "greenloop.apply", _of(uri, run)))
        elif server.abilities.action_literals:
            # This editor takes an edit only in the action itself; the text is as it is now, so it always fits.
            steps = edits.plan(server, run)
            if isinstance(steps, list) and steps and not any(step.merged for step in steps):
                actions.append(lsp.CodeAction(title=title, edit=edits.edit_for(server, run, steps)))
    if run.attempts:
        actions.append(command(f"Show attempts: {run.name}", "greenloop.showAttempts", _of(uri, run)))
    actions.append(command(f"Discard attempts: {run.name}", "greenloop.discard", _of(uri, run)))
    return actions


def _changed_name(run: Run) -> str:
    regions = run.started.problem.regions if run.started else ()
    return regions[0].qualname if regions else run.name


def _of(uri: str, run: Run) -> dict[str, object]:
    return {"uri": uri, "target": run.target.selector}


def _shaped(
    server: Server, action: lsp.CodeAction, kind: lsp.CodeActionKind, ours: Sequence[lsp.Diagnostic]
) -> lsp.CodeAction | lsp.Command:
    if not server.abilities.action_literals and action.command is not None:
        return action.command
    action.kind = kind
    if ours and kind is lsp.CodeActionKind.QuickFix:
        action.diagnostics = list(ours)
    if server.abilities.llm_tag and action.title.startswith((TITLE, IMPLEMENT, "Apply")):
        action.tags = [lsp.CodeActionTag.LlmGenerated]
    return action
