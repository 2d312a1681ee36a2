"""Code actions: refine or improve the target at the cursor, cancel its run, or apply and show its result.

The actions of `available_actions`, the most useful first, are offered by these rules:

- The first two have the kinds that every editor knows: `quickfix` on tests and on our diagnostics, else
  `refactor.rewrite`. One position never has more than two of these, and an automatic request (a light bulb) gets
  nothing else.
- Further actions on a run have the kind `refactor.rewrite.greenloop`. They are also sent when the user requests all
  actions: many editors cannot filter by kind, and each must be able to cancel a run and apply its result.
- An error of a type checker has an action of its own, which takes the second place of the target at the cursor.
- Goals for a function that is not known to pass, all tests of a class and (`source.greenloop`) of a file are only sent
  when requested by kind.

They never import the user's code, need no resolve, and are never preferred over the editor's own fixes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from lsprotocol import types as lsp
from pygls.lsp.server import LanguageServer

from greenloop.core.records.spec import Target, TargetKind
from greenloop.lsp.connection.client import Capabilities
from greenloop.lsp.connection.convert import action_kind, command, is_kind
from greenloop.lsp.documents import locations
from greenloop.lsp.documents.locations import ProjectFile
from greenloop.lsp.parts import Parts
from greenloop.lsp.runs.available_actions import FILE, MORE, FurtherAction, file_actions

KINDS: tuple[str, ...] = (lsp.CodeActionKind.QuickFix.value, lsp.CodeActionKind.RefactorRewrite.value, MORE, FILE)
FIRST = 2
TYPES = "Refine until it type-checks"
TYPE_CHECKERS = {"mypy", "dmypy", "pyright", "basedpyright", "pylance"}  # sources of diagnostics, in lower case
# Beginnings of the titles of actions that insert a model's text.
WRITES = ("Refine", "Improve", "Implement", "Apply")


def register(server: LanguageServer, parts: Parts) -> None:
    runs, store, available = parts.runs, parts.store, parts.available
    documents = parts.documents
    options = lsp.CodeActionOptions(code_action_kinds=list(KINDS), resolve_provider=False)

    @server.feature(lsp.TEXT_DOCUMENT_CODE_ACTION, options)
    def code_action(params: lsp.CodeActionParams) -> list[lsp.CodeAction | lsp.Command]:
        file = locations.locate_for_display(documents, params.text_document.uri)
        if file is None or locations.is_stored_tests(file):
            return []
        return list(actions(file, params))

    def is_offered(action: lsp.CodeAction) -> bool:
        """Has an installed feature its command?"""
        return action.command is None or action.command.command in server.protocol.fm.commands

    def actions(file: ProjectFile, params: lsp.CodeActionParams) -> Iterator[lsp.CodeAction | lsp.Command]:
        uri, context, capabilities = params.text_document.uri, params.context, parts.client.capabilities
        own_diagnostics = [item for item in context.diagnostics if (item.source or "").startswith("greenloop")]
        type_errors = _type_errors(context)
        for item in type_errors[:1]:
            title, place = f"{TYPES}: {file.path}", f"types:{file.path}:{file.line(item.range.start.line)}"
            action = command(title, "greenloop.refine", {"uri": uri, "test": place})
            yield _as_sent(capabilities, action, lsp.CodeActionKind.QuickFix.value, type_errors)
        target, line = target_of(file, file.line(params.range.start.line), own_diagnostics)
        if target is not None:
            is_test = target.kind is TargetKind.TEST
            is_fix = is_test or own_diagnostics
            preferred = lsp.CodeActionKind.QuickFix if is_fix else lsp.CodeActionKind.RefactorRewrite
            main = list(filter(is_offered, available.main(uri, file, target, line)))
            further = available.further(uri, file, target, line) if context.only is not None else ()
            first = FIRST - bool(type_errors)
            offered = _choose(main, further, preferred, context, first=first)
            chosen = [each for each in offered if is_offered(each[0])]
            if chosen and context.trigger_kind != lsp.CodeActionTriggerKind.Automatic:
                parts.prewarmer.prewarm(file.root)
            # Other tools' errors in a test (pytest's plugin, a type checker); style issues are not refined.
            errors = (each for each in context.diagnostics if each.severity in (None, lsp.DiagnosticSeverity.Error))
            inside = [each for each in errors if target.start <= file.line(each.range.start.line) <= target.end]
            fixed = own_diagnostics or (inside if is_test else [])
            yield from (_as_sent(capabilities, action, kind, fixed) for action, kind in chosen)
        if context.only is not None and locations.has_tests(file):
            for action, kind in file_actions(uri, file):
                if is_offered(action) and any(_is_kind(kind, requested) for requested in context.only):
                    yield _as_sent(capabilities, action, kind, ())

    def target_of(file: ProjectFile, line: int, own_diagnostics: Sequence[lsp.Diagnostic]) -> tuple[Target | None, int]:
        """The target at the line; if one of our diagnostics there belongs to another target, that one with line 0."""
        target = locations.target_at(file, line)
        if not own_diagnostics or (target is not None and runs.find(file.root, target.path, target.qualname)):
            return target, line
        messages = {item.message for item in own_diagnostics}
        for run in runs:
            if any(item.message in messages for item in store.items(file.root / file.path, run)):
                return run.target, 0
        data = [item.data for item in own_diagnostics if isinstance(item.data, Mapping)]
        tests = [str(each["test"]) for each in data if "test" in each]
        if tests and (target is None or target.kind is not TargetKind.TEST):
            # A failing test without a run; a client that sends no diagnostic data gets the target at the line.
            return (locations.find_target(documents, file.root, tests[0]) or target or _whole_file(file, tests[0])), 0
        return target, line


def _whole_file(file: ProjectFile, path: str) -> Target | None:
    """The whole test file, where it cannot be collected, for example because it imports a missing function."""
    if path != file.path or not locations.has_tests(file):
        return None
    return Target(kind=TargetKind.TEST, path=path, qualname="", selector=path, start=1, end=1, name_line=1)


def _choose(
    main: Sequence[lsp.CodeAction],
    further: Iterable[FurtherAction],
    preferred: lsp.CodeActionKind,
    context: lsp.CodeActionContext,
    *,
    first: int,
) -> Iterator[tuple[lsp.CodeAction, str]]:
    """The actions to offer, each with its kind."""
    only = context.only
    wants_more = only is None or any(_is_kind(MORE, requested) for requested in only)
    kind = action_kind(preferred, only) or (MORE if wants_more else None)
    if kind is not None:
        yield from ((action, kind) for action in main[:first])
    if wants_more and context.trigger_kind != lsp.CodeActionTriggerKind.Automatic:
        yield from ((action, MORE) for action in main[first:])
    for action, own_kind in further:
        if any(_is_kind(own_kind, requested) for requested in only or ()):
            yield action, own_kind


def _is_kind(kind: str, requested: str | lsp.CodeActionKind) -> bool:
    return is_kind(kind, getattr(requested, "value", requested))


def _type_errors(context: lsp.CodeActionContext) -> list[lsp.Diagnostic]:
    """The errors of a type checker, where quick fixes are wanted."""
    quick_fix = lsp.CodeActionKind.QuickFix.value
    if context.only is not None and not any(_is_kind(quick_fix, requested) for requested in context.only):
        return []
    errors = (item for item in context.diagnostics if item.severity in (None, lsp.DiagnosticSeverity.Error))
    return [item for item in errors if (item.source or "").lower() in TYPE_CHECKERS]


def _as_sent(
    capabilities: Capabilities, action: lsp.CodeAction, kind: str, fixed: Sequence[lsp.Diagnostic]
) -> lsp.CodeAction | lsp.Command:
    """The action in the form that the editor declared, with the diagnostics that it fixes."""
    if not capabilities.action_literals and action.command is not None:
        return action.command
    action.kind = kind
    if fixed and kind == lsp.CodeActionKind.QuickFix.value:
        action.diagnostics = list(fixed)
    if capabilities.llm_tag and action.title.startswith(WRITES):
        action.tags = [lsp.CodeActionTag.LlmGenerated]
    return action
