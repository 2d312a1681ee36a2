"""The code actions for a test or function in the current state of its run, the most useful first.

It must not know how editors request them or in what form they are sent.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from lsprotocol import types as lsp

from greenloop import api
from greenloop.api.settings import setting_values
from greenloop.core.aims import Aim, choose_aims
from greenloop.core.python.stubs import remark_text
from greenloop.core.records.outcome import StopReason
from greenloop.core.records.spec import Region, Target, TargetKind
from greenloop.lsp.client_settings import SettingsLoader
from greenloop.lsp.connection.convert import command
from greenloop.lsp.documents import locations
from greenloop.lsp.documents.locations import ProjectFile
from greenloop.lsp.editor import Editor
from greenloop.lsp.presenters.notifications import applied_elsewhere, open_title
from greenloop.lsp.runs.apply_edit import EditApplier
from greenloop.lsp.runs.runs import Runs
from greenloop.lsp.state.results import TestResults
from greenloop.lsp.state.run import Run, short_name
from greenloop.wording.outcome import outcome_in_short

MORE = "refactor.rewrite.greenloop"
FILE = "source.greenloop"
TITLE = "Refine until tests pass"
IMPROVE = "Improve while tests pass"
IMPLEMENT = "Implement from docstring"
FILL = "Fill this class"
RUN = "Run in the sandbox"
VERIFY = "Verify again with your edits"
PULL = "Download the embedded model (1.1 GB)"


FurtherAction = tuple[lsp.CodeAction, str]  # an action that is only offered when its kind is requested, and that kind


class AvailableActions:
    """The actions on runs and tests that make sense now."""

    def __init__(
        self, editor: Editor, runs: Runs, results: TestResults, goals: GoalChoices, applier: EditApplier
    ) -> None:
        self._client, self._documents = editor.client, editor.documents
        self._runs, self._results, self._goals = runs, results, goals
        self._applier, self._planner = applier, applier.planner

    def main(self, uri: str, file: ProjectFile, target: Target, line: int) -> list[lsp.CodeAction]:
        """The main actions for a target, with the cursor at a 1-based line of it; 0: somewhere else."""
        run = self._runs.find(file.root, target.path, target.qualname)
        show_tests = _show_tests(uri, file, target, run)
        if run is not None and run.running:
            cancel = command(f"Cancel refinement: {run.name}", "greenloop.cancel", run_argument(uri, run))
            cancels, apply = [cancel] if run.cancellable else [], self._apply(uri, run) if run.offered else []
            return [*_answers(uri, run), *apply, *cancels, *_show_attempts(uri, run), *show_tests]
        run_tests = self._run_tests(uri, file, target, run)
        refine, *others = *self._improve(uri, file, target, line), refine_action(uri, file, target, line)
        if run is None:
            return [refine, *run_tests, *others, *show_tests]
        others = [*_continue(uri, file, target, line, run), *others]
        shown = [*self._download(run), *self._open(uri, run)]
        discard = command(f"Discard attempts: {run.name}", "greenloop.discard", run_argument(uri, run))
        apply, show_attempts = self._apply(uri, run) if run.offered else [], _show_attempts(uri, run)
        if apply and run.improved:
            return [*apply, *show_attempts, refine, *run_tests, *others, discard, *show_tests]
        return [*shown, refine, *show_attempts, *run_tests, *apply, *others, discard, *show_tests]

    def further(self, uri: str, file: ProjectFile, target: Target, line: int) -> Iterator[FurtherAction]:
        """Further actions."""
        run = self._runs.find(file.root, target.path, target.qualname)
        yield from _all_of_class(uri, file, target)
        if run is None or not run.running:
            improving = self._improve(uri, file, target, line, passes=False)
            yield from ((action, f"{MORE}.improve") for action in improving)

    def _improve(
        self, uri: str, file: ProjectFile, target: Target, line: int, *, passes: bool = True
    ) -> Iterator[lsp.CodeAction]:
        """The actions that improve a function, one for each goal, where its tests are known to pass, or are not."""
        aims = self._goals.sensible(file, target)
        location = _location_argument(uri, file, target, line)
        for name, aim in aims.items() if aims and self._goals.passes(file, target) is passes else ():
            yield command(
                f"{IMPROVE} ({aim.words}): {short_name(target)}", "greenloop.refine", location | {"goal": name}
            )

    def _run_tests(self, uri: str, file: ProjectFile, target: Target, run: Run | None) -> list[lsp.CodeAction]:
        """The action that runs tests: for a test, and for a function with examples or known tests."""
        has_tests = target.kind is TargetKind.TEST or (run is not None and run.started is not None)
        if (
            not has_tests
            and not locations.has_examples(file, target)
            and not self._results.is_reached(file.root, target.path, target.qualname)
        ):
            return []
        argument: dict[str, object] = {"uri": uri, **({"target": target.selector} if target.qualname else {})}
        return [command(f"{RUN}: {short_name(target)}", "greenloop.runTest", argument)]

    def _download(self, run: Run) -> list[lsp.CodeAction]:
        """The action that downloads the embedded model, where a run needed one and the client cannot be asked."""
        can_ask = self._client.capabilities.questions or self._client.capabilities.refusals
        if can_ask or run.settings.model or not run.needed_model:
            return []
        return [command(PULL, "greenloop.pullModel", {})]

    def _open(self, uri: str, run: Run) -> list[lsp.CodeAction]:
        """The action that opens the applied result, where it is in another document."""
        if not self._client.capabilities.show_document or applied_elsewhere(self._documents, run, uri) is None:
            return []
        return [command(open_title(run), "greenloop.open", run_argument(uri, run))]

    def _apply(self, uri: str, run: Run) -> list[lsp.CodeAction]:
        assert run.outcome is not None
        title = f"Apply refined {run.changed_name} ({outcome_in_short(run.outcome)})"
        if self._client.capabilities.apply_edit:
            return [command(title, "greenloop.apply", run_argument(uri, run))]
        if self._client.capabilities.action_literals:
            # This editor accepts an edit only in the action; it is made for the current text, so it always fits.
            plan = self._planner.plan(run)
            if plan.changes:
                if plan.is_proven:
                    return [lsp.CodeAction(title=title, edit=self._applier.edit_for_action(run, plan.changes))]
                return [command(f"{VERIFY}: {run.changed_name}", "greenloop.apply", run_argument(uri, run))]
        return []


def file_actions(uri: str, file: ProjectFile) -> Iterator[FurtherAction]:
    """The actions for all tests of a file."""
    name = file.path.rpartition("/")[2]
    yield command(f"Refine all failing tests of {name}", "greenloop.refineAll", {"uri": uri}), f"{FILE}.refineAll"
    yield command(f"{RUN}: all tests of {name}", "greenloop.runTest", {"uri": uri}), f"{FILE}.runTest"


def run_argument(uri: str, run: Run) -> dict[str, object]:
    """The argument of a command for a run."""
    return {"uri": uri, "target": run.target.selector}


def refine_action(uri: str, file: ProjectFile, target: Target, line: int) -> lsp.CodeAction:
    """The action that starts a run for a target."""
    title = IMPLEMENT if locations.is_in_unwritten_docstring(file, target, line) else TITLE
    if target.kind is TargetKind.FUNCTION and locations.has_unwritten_methods(file, target):
        title = FILL
    return command(f"{title}: {short_name(target)}", "greenloop.refine", _location_argument(uri, file, target, line))


def _continue(uri: str, file: ProjectFile, target: Target, line: int, run: Run) -> list[lsp.CodeAction]:
    """The action that goes on with an unsolved run, of which there are attempts in the history."""
    started, count = run.started, len(run.attempts) - 1
    is_solved = run.outcome is not None and run.outcome.solved
    is_same = run.target.selector == target.selector and run.request.aim is None
    if started is None or started.run is None or count < 1 or is_solved or not is_same:
        return []
    argument = _location_argument(uri, file, target, line) | {"continues": started.run}
    title = f"Continue after {count} attempt{'s' if count > 1 else ''}: {run.name}"
    return [command(title, "greenloop.refine", argument)]


def _location_argument(uri: str, file: ProjectFile, target: Target, line: int) -> dict[str, object]:
    if not target.start <= line <= target.end:
        return {"uri": uri, "test": target.selector}
    return {"uri": uri, "position": {"line": target.name_line - 1 - file.lines_before, "character": 0}}


def _show_tests(uri: str, file: ProjectFile, target: Target, run: Run | None) -> list[lsp.CodeAction]:
    """The action that shows a target's tests, where there are any."""
    function = _tested_function(run, file, target)
    if function is None:
        return []
    argument: dict[str, object] = {"uri": uri, "target": f"{function.path}::{function.qualname}"}
    return [command(f"Show the tests of {function.qualname}", "greenloop.showTests", argument)]


def _tested_function(run: Run | None, file: ProjectFile, target: Target) -> Region | None:
    """The function with stored tests, or tests of its run: the target itself, or the one that its run changes."""
    if target.kind is TargetKind.FUNCTION:
        region = target.region
    elif run is not None and run.started is not None and run.started.problem.regions:
        region = run.started.problem.regions[0]
    else:
        return None
    with contextlib.suppress(OSError):
        if api.generated_tests.has_stored(file.root, region.path, region.qualname):
            return region
    return region if run and run.progress.specified and run.progress.specified.spec.files else None


def _answers(uri: str, run: Run) -> list[lsp.CodeAction]:
    """One action for each answer to the open question that needs no typing."""
    question = run.question
    if question is None:
        return []
    argument = {**run_argument(uri, run), "question": question.text}
    return [
        command(question.title(each), "greenloop.answer", {**argument, "answer": each})
        for each in question.simple_options
    ]


def _show_attempts(uri: str, run: Run) -> list[lsp.CodeAction]:
    show = command(f"Show attempts: {run.name}", "greenloop.showAttempts", run_argument(uri, run))
    return [show] if run.attempts else []


def _all_of_class(uri: str, file: ProjectFile, target: Target) -> Iterator[FurtherAction]:
    """The action for all tests of a class, for the class and for a test in it."""
    if target.kind is not TargetKind.TEST:
        return
    path, *names = target.selector.split("[")[0].split("::")
    class_names = names if locations.is_class(file, target) else names[:-1]
    if class_names:
        argument: dict[str, object] = {"uri": uri, "target": "::".join([path, *class_names])}
        yield command(f"Refine all failing tests of {class_names[-1]}", "greenloop.refineAll", argument), MORE


class GoalChoices:
    """Goals that the user can choose for functions that pass their tests."""

    def __init__(self, settings: SettingsLoader, runs: Runs, results: TestResults) -> None:
        self._settings, self._runs, self._results = settings, runs, results

    def sensible(self, file: ProjectFile, target: Target) -> dict[str, Aim]:
        """The aims that make sense for a target, the likeliest first; none for tests and in composite files."""
        if target.kind is not TargetKind.FUNCTION or target.path != file.path or file.composite is not None:
            return {}
        return choose_aims(_code(file, target), setting_values(self._settings.current(file.root)))

    def passes(self, file: ProjectFile, target: Target) -> bool:
        """True if a function is known to pass: its last run ended so, or all tests that reach it passed last time."""
        run = self._runs.find(file.root, target.path, target.qualname)
        if run is not None:
            outcome = run.outcome
            is_green = outcome is not None and outcome.reason is StopReason.ALREADY_GREEN
            return is_green or (run.result.applied and outcome is not None and outcome.solved)
        return self._results.passes(file.root, target.path, target.qualname)


def comment_in(file: ProjectFile, target: Target) -> str:
    """Returns the requests of `# review:` and TODO comments in a function; "" without any."""
    return remark_text(_code(file, target))


def _code(file: ProjectFile, target: Target) -> str:
    return "".join(file.text.splitlines(keepends=True)[target.start - 1 : target.end])
