"""The code actions for a test or function in the current state of its run, the most useful first.

It must not know how editors request them or in what form they are sent.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from lsprotocol import types as lsp

from greenloop.core.records.spec import Target, TargetKind
from greenloop.lsp.connection.convert import command
from greenloop.lsp.documents import locations
from greenloop.lsp.features import tests
from greenloop.lsp.presenters.notifications import standing
from greenloop.lsp.runs import apply_edit
from greenloop.lsp.runs.runs import Phase, Run, short

if TYPE_CHECKING:
    from greenloop.lsp.server import Server

MORE = "refactor.rewrite.greenloop"
FILE = "source.greenloop"
TITLE = "Refine until tests pass"
IMPLEMENT = "Implement from docstring"
RUN = "Run in the sandbox"
VERIFY = "Verify again, with what you typed"
# How many of a run's newest attempts have actions.
NEWEST = 3


Asked = tuple[lsp.CodeAction, str]  # an action that is only offered when its kind is requested, and that kind


def now(server: Server, uri: str, place: locations.Place, target: Target, line: int) -> list[lsp.CodeAction]:
    """The main actions for a target, with the cursor at a 1-based line of it; 0: somewhere else."""
    run = server.runs.find(place.root, target.path, target.qualname)
    show_tests = tests.offered(server, uri, place, target)
    if run is not None and run.running:
        cancel = [_cancel(uri, run)] if run.cancellable else []
        return [*_answers(uri, run), *cancel, *_show(uri, run), *show_tests]
    refine, run_action = refining(uri, place, target, line), _run(server, uri, place, target, run)
    if run is None:
        return [refine, *run_action, *show_tests]
    discard = command(f"Discard attempts: {run.name}", "greenloop.discard", of(uri, run))
    apply, show = _apply(server, uri, run) if run.offered else [], _show(uri, run)
    if apply and run.gained:
        return [*apply, *show, refine, *run_action, discard, *show_tests]
    return [refine, *show, *run_action, *apply, discard, *show_tests]


def asked(server: Server, uri: str, place: locations.Place, target: Target, line: int) -> Iterator[Asked]:
    """Further actions, and disabled ones with the reason."""
    run = server.runs.find(place.root, target.path, target.qualname)
    if run is not None:
        yield from _attempts(uri, run)
    yield from _all_of_class(uri, place, target)
    if run is None or not run.running:
        yield from _presets(_where(uri, place, target, line), target)
    elif server.abilities.disabled_actions and server.abilities.action_literals:
        reason = "a refinement of it is waiting" if run.phase is Phase.QUEUED else "it is being refined"
        yield _disabled(refining(uri, place, target, line), reason)
        if not run.cancellable:
            yield _disabled(_cancel(uri, run), "its result is on its way into the editor")


def about_file(uri: str, place: locations.Place) -> Iterator[Asked]:
    """The actions for all tests of a file."""
    name = place.path.rpartition("/")[2]
    yield command(f"Refine all failing tests of {name}", "greenloop.refineAll", {"uri": uri}), f"{FILE}.refineAll"
    yield command(f"{RUN}: all tests of {name}", "greenloop.runTest", {"uri": uri}), f"{FILE}.runTest"


def of(uri: str, run: Run) -> dict[str, object]:
    """The argument of a command for a run."""
    return {"uri": uri, "target": run.target.selector}


def refining(uri: str, place: locations.Place, target: Target, line: int) -> lsp.CodeAction:
    """The action that starts a run for a target."""
    title = IMPLEMENT if locations.asked_for(place, target, line) else TITLE
    return command(f"{title}: {short(target)}", "greenloop.refine", _where(uri, place, target, line))


def _where(uri: str, place: locations.Place, target: Target, line: int) -> dict[str, object]:
    if not target.start <= line <= target.end:
        return {"uri": uri, "test": target.selector}
    return {"uri": uri, "position": {"line": target.name_line - 1 - place.first, "character": 0}}


def _disabled(action: lsp.CodeAction, reason: str) -> Asked:
    action.disabled = lsp.CodeActionDisabled(reason=reason)
    return action, MORE


def _run(server: Server, uri: str, place: locations.Place, target: Target, run: Run | None) -> list[lsp.CodeAction]:
    """The action that runs tests: for a test, and for a function with examples or known tests."""
    has_tests = target.kind is TargetKind.TEST or (run is not None and run.started is not None)
    if (
        not has_tests
        and not locations.has_examples(place, target)
        and not server.results.is_reached(place.root, target.path, target.qualname)
    ):
        return []
    argument: dict[str, object] = {"uri": uri, **({"target": target.selector} if target.qualname else {})}
    return [command(f"{RUN}: {short(target)}", "greenloop.runTest", argument)]


def _answers(uri: str, run: Run) -> list[lsp.CodeAction]:
    """One action for each answer to the open question that needs no typing."""
    question = run.question
    if question is None:
        return []
    argument = {**of(uri, run), "question": question.text}
    return [command(question.title(each), "greenloop.answer", {**argument, "answer": each}) for each in question.simple]


def _cancel(uri: str, run: Run) -> lsp.CodeAction:
    return command(f"Cancel refinement: {run.name}", "greenloop.cancel", of(uri, run))


def _apply(server: Server, uri: str, run: Run) -> list[lsp.CodeAction]:
    assert run.outcome is not None
    title = f"Apply refined {run.result} ({standing(run.outcome)})"
    if server.abilities.apply_edit:
        return [command(title, "greenloop.apply", of(uri, run))]
    if server.abilities.action_literals:
        # This editor accepts an edit only in the action; it is made for the current text, so it always fits.
        changes = apply_edit.plan(server, run)
        if isinstance(changes, list) and changes:
            if apply_edit.stands(server, run, changes):
                return [lsp.CodeAction(title=title, edit=apply_edit.given(server, run, changes))]
            return [command(f"{VERIFY}: {run.result}", "greenloop.apply", of(uri, run))]
    return []


def _show(uri: str, run: Run) -> list[lsp.CodeAction]:
    show = command(f"Show attempts: {run.name}", "greenloop.showAttempts", of(uri, run))
    return [show] if run.attempts else []


def _attempts(uri: str, run: Run) -> Iterator[Asked]:
    """Actions that show or compare an attempt, for the attempts close to the shown, best and newest ones."""
    numbers = [attempt.number for attempt in run.attempts]
    shown = run.shown.number if run.shown is not None else 0
    best = max(run.attempts, key=lambda attempt: attempt.verdict.score).number if numbers else 0
    for number in numbers:
        direction = {-1: " (previous)", 1: " (next)"}.get(number - shown, "")
        if not direction and number != best and number <= numbers[-1] - NEWEST:
            continue
        argument = {**of(uri, run), "attempt": number}
        if number != shown:
            show = command(f"Show attempt {number}{direction}: {run.name}", "greenloop.showAttempt", argument)
            yield show, f"{MORE}.attempt"
        if number:
            compare = command(f"Compare with attempt {number}: {run.name}", "greenloop.compare", argument)
            yield compare, f"{MORE}.attempt"


def _all_of_class(uri: str, place: locations.Place, target: Target) -> Iterator[Asked]:
    """The action for all tests of a class, for the class and for a test in it."""
    if target.kind is not TargetKind.TEST:
        return
    path, *names = target.selector.split("[")[0].split("::")
    owner = names if locations.is_class(place, target) else names[:-1]
    if owner:
        argument: dict[str, object] = {"uri": uri, "target": "::".join([path, *owner])}
        yield command(f"Refine all failing tests of {owner[-1]}", "greenloop.refineAll", argument), MORE


def _presets(where: dict[str, object], target: Target) -> Iterator[Asked]:
    from greenloop.engine.presets import load_presets  # noqa: PLC0415 - only needed where the kind is requested

    for name, preset in load_presets().items():
        if not preset.blind:
            title = f"Refine with preset {name}: {short(target)}"
            yield command(title, "greenloop.refine", where | {"preset": name}), f"{MORE}.preset"
