"""Between the runs of the editor and a notebook: targets in cells, what the engine is asked, what its answer means.

The engine's texts are those of `greenloop.notebook`; here the file is the grid of all cells as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from greenloop.core.errors import UsageProblem
from greenloop.core.events import Event, Started
from greenloop.core.executed import compose, ran_to
from greenloop.core.grid import Notebook
from greenloop.core.landing import landed
from greenloop.core.nouns import Outcome, Target, TargetKind
from greenloop.lsp.books import whole

if TYPE_CHECKING:
    from greenloop.engine import Request
    from greenloop.goals import Goal
    from greenloop.lsp.runs import Run
    from greenloop.notebook import Prepared
    from greenloop.settings import Settings
    from greenloop.targets import Heading


def target_at(notebook: Notebook, line: int) -> Target | None:
    """The function around a 1-based line of the grid, or the checks of its cell."""
    from greenloop import goals, targets  # noqa: PLC0415 - the parser is loaded after the handshake
    from greenloop import notebook as books  # noqa: PLC0415 - as above

    place = notebook.place(line - 1)
    goal = goals.goal_at(notebook, place.cell, place.row) if place else None
    if goal is None:
        return None
    if not goal.test:
        return targets.at(notebook.python, notebook.module, line)
    if not goal.name:
        return books.check_target(notebook, goal.cell)
    return targets.find(compose(notebook, goal.last).tests, notebook.tests, goal.name)


def headings(notebook: Notebook) -> Iterator[Heading]:
    """Every target of all cells: functions, then tests."""
    from greenloop import goals, targets  # noqa: PLC0415 - as above

    tests = {part.name for cell in notebook.cells for part in cell.reading.tests}
    for heading in targets.headings(notebook.python, notebook.module):
        if heading.qualname.partition(".")[0] not in tests:
            yield heading
    for goal in goals.goals(notebook):
        if goal.test and (found := named(notebook, notebook.tests, goal.name or notebook.cells[goal.cell].test)):
            yield targets.Heading(found.kind, found.qualname, found.selector, found.name_line, False, False)


def named(notebook: Notebook, path: str, name: str) -> Target | None:
    """The target of that name in the module, or in the tests, of a notebook."""
    from greenloop import notebook as books  # noqa: PLC0415 - as above
    from greenloop import targets  # noqa: PLC0415

    if path == notebook.module:
        return targets.find(notebook.python, path, name) if name else None
    cell = next((n for n, each in enumerate(notebook.cells) if each.test == name and each.reading.checks), None)
    if cell is not None:
        return books.check_target(notebook, cell)
    return targets.find(whole(notebook), path, name) if name else None


def prepared(run: Run, notebook: Notebook) -> Prepared:
    """What the engine is to be asked for a run in a notebook. Raises `UsageProblem`."""
    from greenloop import notebook as books  # noqa: PLC0415 - as above

    return books.prepare(notebook, _goal(run.target, notebook))


def _goal(target: Target, notebook: Notebook) -> Goal:
    """What a target is in the cells as they are now."""
    from greenloop import goals  # noqa: PLC0415 - as above

    name = target.qualname
    if target.kind is TargetKind.TEST:
        for goal in goals.goals(notebook):
            if goal.test and name in (goal.name, "" if goal.name else notebook.cells[goal.cell].test):
                return goal
    place = notebook.place(target.name_line - 1)
    goal_here = goals.goal_at(notebook, place.cell, place.row) if place else None
    if goal_here is not None and goal_here.name == name:
        return goal_here
    found = [goal for goal in goals.goals(notebook) if not goal.test and goal.name in (name, name.partition(".")[0])]
    if not found:
        raise UsageProblem(f"{notebook.path} has no {name} any more.")
    return replace(found[-1], name=name)


def tested(notebook: Notebook, target: Target | None) -> tuple[Prepared, tuple[str, ...]]:
    """What is to be put into the sandbox to run a target's tests, and their selectors; None: all checks of all cells.

    A function's tests are the checks of the cells as far as the last that names it. Raises `UsageProblem`.
    """
    from greenloop import goals  # noqa: PLC0415 - as above
    from greenloop import notebook as books  # noqa: PLC0415 - as above

    found = goals.goals(notebook)
    if not any(goal.test for goal in found):
        raise UsageProblem(f"{notebook.path} checks nothing.", remedy="Write a check with assert.")
    if target is not None:
        prepared = books.prepare(notebook, _goal(target, notebook))
        single = target.kind is TargetKind.TEST
        return prepared, (target.selector if single else notebook.tests,)
    last = len(notebook.cells) - 1
    return books.prepare(notebook, replace(next(goal for goal in found if goal.test), last=last)), (notebook.tests,)


def texts(notebook: Notebook) -> dict[str, str]:
    """The grid of all cells as module and tests: the texts that lines are counted in."""
    return {notebook.module: notebook.text, notebook.tests: whole(notebook)}


def asked(request: Request, prepared: Prepared, settings: Settings) -> tuple[Request, Settings]:
    """The request with the notebook's two files, and the settings that make sense for them."""
    from greenloop import notebook as books  # noqa: PLC0415 - as above

    buffers = {**request.buffers, **prepared.buffers}
    request = replace(request, target=prepared.target, buffers=buffers, fault=prepared.fault)
    return request, books.settings_for(settings)


def telling(prepared: Prepared, emit: Callable[[Event], None]) -> Callable[[Event], None]:
    """`emit`, told that the texts at the beginning were those of all cells."""
    grid = texts(prepared.notebook)

    def told(event: Event) -> None:
        if isinstance(event, Started):
            event = replace(event, problem=replace(event.problem, originals={**event.problem.originals, **grid}))
        emit(event)

    return told


def attempted(prepared: Prepared, module: str) -> Notebook | None:
    """The notebook as an attempt would leave it, of which `module` is the text that ran; None: it spans cells."""
    return landed(prepared.notebook, prepared.composed.module, module, prepared.goal.last)


def answered(prepared: Prepared, outcome: Outcome) -> Outcome:
    """The outcome with the grid of all cells in place of the module. Raises `WorkspaceProblem`."""
    module = prepared.notebook.module
    outcome = replace(outcome, message=prepared.named(outcome.message))
    return outcome if module not in outcome.after else _gridded(prepared.notebook, outcome, prepared.landed(outcome))


def kept(notebook: Notebook, outcome: Outcome) -> Outcome | None:
    """A kept outcome with the grid of all cells in place of the module; None where a run saw other cells."""
    module = notebook.module
    if module not in outcome.after:
        return outcome
    before = outcome.before.get(module) or ""
    last = ran_to(notebook, before)
    found = landed(notebook, before, outcome.after[module], last) if last is not None else None
    return None if found is None else _gridded(notebook, outcome, found)


def _gridded(notebook: Notebook, outcome: Outcome, changed: Notebook) -> Outcome:
    before = {**outcome.before, notebook.module: notebook.text}
    return replace(outcome, before=before, after={**outcome.after, notebook.module: changed.text})


def merged(run: Run, notebook: Notebook, wanted: Mapping[str, str]) -> dict[str, bytes]:
    """The sandbox's files for a result that was merged with what was typed meanwhile.

    Raises `UsageProblem` where the target is gone.
    """
    text = wanted.get(notebook.module)
    changed = notebook if text is None else landed(notebook, notebook.text, text, home=-1)
    if changed is None:
        raise UsageProblem(f"The merge spans several cells of {notebook.path}.")
    return prepared(run, changed).buffers
