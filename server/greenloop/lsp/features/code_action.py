"""Code actions: refine the test or function at the cursor; while a run goes on cancel it; afterwards its result.

The rule. What `offers` names for the target here, the most useful first, is given so:

- The first two have the kinds that every editor knows: `quickfix` on tests and on our diagnostics, else
  `refactor.rewrite`. There are never more than two of these for one position, and where an editor asks by itself
  (a light bulb) there is nothing else.
- What else can be done about a run that somebody started has the kind `refactor.rewrite.greenloop`. It comes along
  when a person asks for everything, for many editors cannot ask by kind, and a run must end or land in each of them.
- Presets, single attempts, all tests of a class, and (`source.greenloop`) of a file come only to who asks by kind.

They never import the user's code, need no resolve, and are never preferred over the editor's own fixes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from lsprotocol import types as lsp

from greenloop.core.nouns import Target, TargetKind
from greenloop.lsp import interest, offers, places
from greenloop.lsp.convert import action_kind, within
from greenloop.lsp.features import tests
from greenloop.lsp.offers import FILE, MORE

if TYPE_CHECKING:
    from greenloop.lsp.server import Server

KINDS: tuple[str, ...] = (lsp.CodeActionKind.QuickFix.value, lsp.CodeActionKind.RefactorRewrite.value, MORE, FILE)
FIRST = 2
# Titles of what brings a model's text.
WRITES = ("Refine", "Implement", "Apply")


def register(server: Server) -> None:
    options = lsp.CodeActionOptions(code_action_kinds=list(KINDS), resolve_provider=False)

    @server.feature(lsp.TEXT_DOCUMENT_CODE_ACTION, options)
    def code_action(params: lsp.CodeActionParams) -> list[lsp.CodeAction | lsp.Command]:
        place = places.of_or_none(server, params.text_document.uri)
        if place is None or tests.is_kept(place):
            return []
        return list(_actions(server, place, params))


def _actions(
    server: Server, place: places.Place, params: lsp.CodeActionParams
) -> Iterator[lsp.CodeAction | lsp.Command]:
    uri, context = params.text_document.uri, params.context
    ours = [item for item in context.diagnostics if (item.source or "").startswith("greenloop")]
    target, line = _meant(server, place, place.line(params.range.start.line), ours)
    if target is not None:
        is_test = target.kind is TargetKind.TEST
        natural = lsp.CodeActionKind.QuickFix if is_test or ours else lsp.CodeActionKind.RefactorRewrite
        now = offers.now(server, uri, place, target, line)
        asked = offers.asked(server, uri, place, target, line) if context.only is not None else ()
        chosen = list(_chosen(now, asked, natural, context))
        if chosen and context.trigger_kind != lsp.CodeActionTriggerKind.Automatic:
            interest.shown(server, place.root)
        fixed = ours or (_of_others(context.diagnostics, place, target) if is_test else [])
        yield from (_shaped(server, action, kind, fixed) for action, kind in chosen)
    if context.only is not None and places.has_tests(place):
        for action, kind in offers.about_file(uri, place):
            if any(_within(kind, wanted) for wanted in context.only):
                yield _shaped(server, action, kind, ())


def _meant(server: Server, place: places.Place, line: int, ours: Sequence[lsp.Diagnostic]) -> tuple[Target | None, int]:
    """The target at the line; where one of our diagnostics there tells of another, that one with line 0."""
    target = places.target_at(place, line)
    if not ours or (target is not None and server.runs.find(place.root, target.path, target.qualname)):
        return target, line
    messages = {item.message for item in ours}
    for run in server.runs:
        if any(item.message in messages for item in server.board.at(place.root / place.path, run)):
            return run.target, 0
    tests = [item.data["test"] for item in ours if isinstance(item.data, Mapping) and "test" in item.data]
    if tests and (target is None or target.kind is not TargetKind.TEST):
        # A failing test that nobody refines; whoever sends no data with a diagnostic gets what stands there.
        return (places.named(server, place.root, str(tests[0])) or target or _whole(place, str(tests[0]))), 0
    return target, line


def _whole(place: places.Place, path: str) -> Target | None:
    """The test file that cannot be collected, as where it imports what nobody has written yet: all of it is meant."""
    if path != place.path or not places.has_tests(place):
        return None
    return Target(kind=TargetKind.TEST, path=path, qualname="", selector=path, start=1, end=1, name_line=1)


def _chosen(
    now: Sequence[lsp.CodeAction],
    asked: Iterable[offers.Asked],
    natural: lsp.CodeActionKind,
    context: lsp.CodeActionContext,
) -> Iterator[tuple[lsp.CodeAction, str]]:
    """Each action that is given, with the kind that it has."""
    only = context.only
    more = only is None or any(_within(MORE, wanted) for wanted in only)
    kind = action_kind(natural, only) or (MORE if more else None)
    if kind is not None:
        yield from ((action, kind) for action in now[:FIRST])
    if more and context.trigger_kind != lsp.CodeActionTriggerKind.Automatic:
        yield from ((action, MORE) for action in now[FIRST:])
    for action, own in asked:
        if any(_within(own, wanted) for wanted in only or ()):
            yield action, own


def _within(kind: str, wanted: str | lsp.CodeActionKind) -> bool:
    return within(kind, getattr(wanted, "value", wanted))


def _of_others(diagnostics: Iterable[lsp.Diagnostic], place: places.Place, target: Target) -> list[lsp.Diagnostic]:
    """What others (pytest's plugin, a type checker) call an error in a test; style is not for refining."""
    severe = (item for item in diagnostics if item.severity in (None, lsp.DiagnosticSeverity.Error))
    return [item for item in severe if target.start <= place.line(item.range.start.line) <= target.end]


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
