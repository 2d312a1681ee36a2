"""Between the runs of the editor and a notebook: targets in cells, what the engine is asked, what its answer means.

The engine's texts are those of `greenloop.notebook`; here the file is the grid of all cells as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from greenloop.core.errors import UsageProblem
from greenloop.core.events import Event, Started
from greenloop.core.notebook import Notebook, compose, landed
from greenloop.core.nouns import Outcome, Target, TargetKind

if TYPE_CHECKING:
    from greenloop.engine import Request
    from greenloop.lsp.runs import Run
    from greenloop.notebook import Goal, Prepared
    from greenloop.settings import Settings
    from greenloop.targets import Heading


def target_at(notebook: Notebook, line: int) -> Target | None:
    """The function around a 1-based line of the grid, or the checks of its cell."""
    from greenloop import notebook as books  # noqa: PLC0415 - the parser is loaded after the handshake
    from greenloop import targets  # noqa: PLC0415

    place = notebook.place(line - 1)
    goal = books.goal_at(notebook, place.cell, place.row) if place else None
    if goal is None:
        return None
    if not goal.test:
        return targets.at(notebook.python, notebook.module, line)
    if not goal.name:
        return books.check_target(notebook, goal.cell)
    return targets.find(compose(notebook, goal.last).tests, notebook.tests, goal.name)


def headings(notebook: Notebook) -> Iterator[Heading]:
    """Every target of all cells: functions, then tests."""
    from greenloop import notebook as books  # noqa: PLC0415 - as above
    from greenloop import targets  # noqa: PLC0415

    tests = {part.name for cell in notebook.cells for part in cell.reading.tests}
    for heading in targets.headings(notebook.python, notebook.module):
        if heading.qualname.partition(".")[0] not in tests:
            yield heading
    for goal in books.goals(notebook):
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
    text = compose(notebook, len(notebook.cells) - 1).tests if notebook.cells else ""
    return targets.find(text, path, name) if name else None


def prepared(run: Run, notebook: Notebook) -> Prepared:
    """What the engine is to be asked for a run in a notebook. Raises `UsageProblem`."""
    from greenloop import notebook as books  # noqa: PLC0415 - as above

    return books.prepare(notebook, _goal(run, notebook))


def _goal(run: Run, notebook: Notebook) -> Goal:
    """What a run's target is in the cells as they are now."""
    from greenloop import notebook as books  # noqa: PLC0415 - as above

    name = run.target.qualname
    if run.target.kind is TargetKind.TEST:
        for goal in books.goals(notebook):
            if goal.test and name in (goal.name, "" if goal.name else notebook.cells[goal.cell].test):
                return goal
    place = notebook.place(run.target.name_line - 1)
    goal_here = books.goal_at(notebook, place.cell, place.row) if place else None
    if goal_here is not None and goal_here.name == name:
        return goal_here
    found = [goal for goal in books.goals(notebook) if not goal.test and goal.name in (name, name.partition(".")[0])]
    if not found:
        raise UsageProblem(f"{notebook.path} has no {name} any more.")
    return replace(found[-1], name=name)


def asked(request: Request, prepared: Prepared, settings: Settings) -> tuple[Request, Settings]:
    """The request with the notebook's two files, and the settings that make sense for them."""
    from greenloop import notebook as books  # noqa: PLC0415 - as above

    buffers = {**request.buffers, **prepared.buffers}
    request = replace(request, target=prepared.target, buffers=buffers, fault=prepared.fault)
    return request, books.settings_for(settings)


def telling(prepared: Prepared, emit: Callable[[Event], None]) -> Callable[[Event], None]:
    """`emit`, told that the texts at the beginning were those of all cells: the ones that lines are counted in."""
    notebook = prepared.notebook
    texts = {notebook.module: notebook.text, notebook.tests: compose(notebook, len(notebook.cells) - 1).tests}

    def told(event: Event) -> None:
        if isinstance(event, Started):
            event = replace(event, problem=replace(event.problem, originals={**event.problem.originals, **texts}))
        emit(event)

    return told


def answered(prepared: Prepared, outcome: Outcome) -> Outcome:
    """The outcome with the grid of all cells in place of the module. Raises `WorkspaceProblem`."""
    module = prepared.notebook.module
    outcome = replace(outcome, message=prepared.named(outcome.message))
    if module not in outcome.after:
        return outcome
    before = {**outcome.before, module: prepared.notebook.text}
    after = {**outcome.after, module: prepared.landed(outcome).text}
    return replace(outcome, before=before, after=after)


def merged(run: Run, notebook: Notebook, texts: Mapping[str, str]) -> dict[str, bytes]:
    """The sandbox's files for a result that was merged with what was typed meanwhile.

    Raises `UsageProblem` where the target is gone.
    """
    wanted = texts.get(notebook.module)
    changed = notebook if wanted is None else landed(notebook, notebook.text, wanted, home=-1)
    if changed is None:
        raise UsageProblem(f"The merge spans several cells of {notebook.path}.")
    return prepared(run, changed).buffers
