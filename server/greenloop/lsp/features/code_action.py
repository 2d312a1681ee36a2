"""Code actions: refine the target at the cursor, cancel its run, or apply and show its result.

The actions of `available_actions`, the most useful first, are offered by these rules:

- The first two have the kinds that every editor knows: `quickfix` on tests and on our diagnostics, else
  `refactor.rewrite`. One position never has more than two of these, and an automatic request (a light bulb) gets
  nothing else.
- Further actions on a run have the kind `refactor.rewrite.greenloop`. They are also sent when the user requests all
  actions: many editors cannot filter by kind, and each must be able to cancel a run and apply its result.
- Presets, single attempts, all tests of a class and (`source.greenloop`) of a file are only sent when requested by
  kind.

They never import the user's code, need no resolve, and are never preferred over the editor's own fixes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from lsprotocol import types as lsp

from greenloop.core.records.spec import Target, TargetKind
from greenloop.lsp.connection.convert import action_kind, within
from greenloop.lsp.documents import locations
from greenloop.lsp.features import tests
from greenloop.lsp.runs import available_actions, prewarm
from greenloop.lsp.runs.available_actions import FILE, MORE

if TYPE_CHECKING:
    from greenloop.lsp.server import Server

KINDS: tuple[str, ...] = (lsp.CodeActionKind.QuickFix.value, lsp.CodeActionKind.RefactorRewrite.value, MORE, FILE)
FIRST = 2
# Beginnings of the titles of actions that insert a model's text.
WRITES = ("Refine", "Implement", "Apply")


def register(server: Server) -> None:
    options = lsp.CodeActionOptions(code_action_kinds=list(KINDS), resolve_provider=False)

    @server.feature(lsp.TEXT_DOCUMENT_CODE_ACTION, options)
    def code_action(params: lsp.CodeActionParams) -> list[lsp.CodeAction | lsp.Command]:
        project_file = locations.of_or_none(server, params.text_document.uri)
        if project_file is None or tests.is_kept(project_file):
            return []
        return list(_actions(server, project_file, params))


def _actions(
    server: Server, place: locations.Place, params: lsp.CodeActionParams
) -> Iterator[lsp.CodeAction | lsp.Command]:
    uri, context = params.text_document.uri, params.context
    own_diagnostics = [item for item in context.diagnostics if (item.source or "").startswith("greenloop")]
    target, line = _meant(server, place, place.line(params.range.start.line), own_diagnostics)
    if target is not None:
        is_test = target.kind is TargetKind.TEST
        preferred = lsp.CodeActionKind.QuickFix if is_test or own_diagnostics else lsp.CodeActionKind.RefactorRewrite
        main = available_actions.now(server, uri, place, target, line)
        further = available_actions.asked(server, uri, place, target, line) if context.only is not None else ()
        chosen = list(_chosen(main, further, preferred, context))
        if chosen and context.trigger_kind != lsp.CodeActionTriggerKind.Automatic:
            prewarm.shown(server, place.root)
        fixed_diagnostics = own_diagnostics or (_of_others(context.diagnostics, place, target) if is_test else [])
        yield from (_shaped(server, action, kind, fixed_diagnostics) for action, kind in chosen)
    if context.only is not None and locations.has_tests(place):
        for action, kind in available_actions.about_file(uri, place):
            if any(_within(kind, wanted) for wanted in context.only):
                yield _shaped(server, action, kind, ())


def _meant(
    server: Server, place: locations.Place, line: int, ours: Sequence[lsp.Diagnostic]
) -> tuple[Target | None, int]:
    """The target at the line; if one of our diagnostics there belongs to another target, that one with line 0."""
    target = locations.target_at(place, line)
    if not ours or (target is not None and server.runs.find(place.root, target.path, target.qualname)):
        return target, line
    messages = {item.message for item in ours}
    for run in server.runs:
        if any(item.message in messages for item in server.board.at(place.root / place.path, run)):
            return run.target, 0
    tests = [item.data["test"] for item in ours if isinstance(item.data, Mapping) and "test" in item.data]
    if tests and (target is None or target.kind is not TargetKind.TEST):
        # A failing test without a run; a client that sends no diagnostic data gets the target at the line.
        return (locations.named(server, place.root, str(tests[0])) or target or _whole(place, str(tests[0]))), 0
    return target, line


def _whole(place: locations.Place, path: str) -> Target | None:
    """The whole test file, where it cannot be collected, for example because it imports a missing function."""
    if path != place.path or not locations.has_tests(place):
        return None
    return Target(kind=TargetKind.TEST, path=path, qualname="", selector=path, start=1, end=1, name_line=1)


def _chosen(
    now: Sequence[lsp.CodeAction],
    asked: Iterable[available_actions.Asked],
    natural: lsp.CodeActionKind,
    context: lsp.CodeActionContext,
) -> Iterator[tuple[lsp.CodeAction, str]]:
    """The actions to offer, each with its kind."""
    only = context.only
    wants_more = only is None or any(_within(MORE, wanted) for wanted in only)
    kind = action_kind(natural, only) or (MORE if wants_more else None)
    if kind is not None:
        yield from ((action, kind) for action in now[:FIRST])
    if wants_more and context.trigger_kind != lsp.CodeActionTriggerKind.Automatic:
        yield from ((action, MORE) for action in now[FIRST:])
    for action, own in asked:
        if any(_within(own, wanted) for wanted in only or ()):
            yield action, own


def _within(kind: str, wanted: str | lsp.CodeActionKind) -> bool:
    return within(kind, getattr(wanted, "value", wanted))


def _of_others(diagnostics: Iterable[lsp.Diagnostic], place: locations.Place, target: Target) -> list[lsp.Diagnostic]:
    """Errors reported by other tools (pytest's plugin, a type checker) in a test; style issues are not refined."""
    errors = (item for item in diagnostics if item.severity in (None, lsp.DiagnosticSeverity.Error))
    return [item for item in errors if target.start <= place.line(item.range.start.line) <= target.end]


def _shaped(
    server: Server, action: lsp.CodeAction, kind: str, fixed: Sequence[lsp.Diagnostic]
) -> lsp.CodeAction | lsp.Command:
    if not server.abilities.action_literals and action.command is not None:
        return action.command
    action.kind = kind
    if fixed and kind == lsp.CodeActionKind.QuickFix.value:
        action.diagnostics = list(fixed)
    if server.abilities.llm_tag and action.title.startswith(WRITES):
        action.tags = [lsp.CodeActionTag.LlmGenerated]
    return action
