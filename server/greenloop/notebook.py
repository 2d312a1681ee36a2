"""A notebook as something to refine: what the engine is given for a target, what its outcome means.

The engine sees a module and a test file beside the notebook that exist in the sandbox only. Cells before the target
are executed there first. Reads files, never writes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from greenloop import sources, syntax, targets
from greenloop.core import ipynb
from greenloop.core.celled import named
from greenloop.core.cells import Kind
from greenloop.core.errors import GreenloopError, UsageProblem, WorkspaceProblem
from greenloop.core.executed import Composed, compose, ran_to
from greenloop.core.grid import Cell, Notebook, names
from greenloop.core.landing import changed_cells, landed
from greenloop.core.nouns import Failure, Outcome, Problem, Target, TargetKind
from greenloop.faults import Fault
from greenloop.goals import Goal
from greenloop.settings import Settings

MOST_BYTES = 64 << 20  # outputs included


@dataclass(frozen=True, kw_only=True)
class Prepared:
    """What the engine is asked for a goal, and the way back from what it answers."""

    notebook: Notebook
    goal: Goal
    composed: Composed
    target: Target

    @property
    def buffers(self) -> dict[str, bytes]:
        """The two files, for the sandbox."""
        texts = {self.notebook.module: self.composed.module, self.notebook.tests: self.composed.tests}
        return {path: text.encode("utf-8", "surrogatepass") for path, text in texts.items()}

    def landed(self, outcome: Outcome) -> Notebook:
        """The notebook with what the outcome changes of its module. Raises `WorkspaceProblem`."""
        module = self.notebook.module
        if module not in outcome.after:
            return self.notebook
        found = landed(self.notebook, outcome.before.get(module) or "", outcome.after[module], self.goal.last)
        if found is None:
            raise WorkspaceProblem(f"The result changes several cells of {self.notebook.path} in one piece.")
        return found

    def shown(self, outcome: Outcome) -> Outcome:
        """The outcome with cells in place of the module, for people: `nb.ipynb:3` is the third code cell."""
        before, after = dict(outcome.before), dict(outcome.after)
        if after.pop(self.notebook.module, None) is not None:
            before.pop(self.notebook.module, None)
            for number, old, new in changed_cells(self.notebook, self.landed(outcome)):
                name = f"{self.notebook.path}:{number + 1}"
                before[name], after[name] = _ended(old), _ended(new)
        return replace(outcome, before=before, after=after, message=self.named(outcome.message))

    def written(self, outcome: Outcome, text: str) -> Outcome:
        """The outcome with the notebook's file in place of the module; `text` is the file's."""
        path, before, after = self.notebook.path, dict(outcome.before), dict(outcome.after)
        if after.pop(self.notebook.module, None) is not None:
            before.pop(self.notebook.module, None)
            before[path], after[path] = text, ipynb.again(ipynb.parse(text, path), self.landed(outcome)).text
        return replace(outcome, before=before, after=after)

    def originals(self, problem: Problem, text: str) -> dict[str, str | None]:
        """The files that a result rests on, the notebook's in place of those that it became."""
        ours = {self.notebook.module, self.notebook.tests}
        return {path: old for path, old in problem.originals.items() if path not in ours} | {self.notebook.path: text}

    def with_text(self, text: str) -> Prepared:
        """The same goal over another text of the file. Raises `UsageProblem` where it has that goal no more."""
        file = ipynb.parse(text, self.notebook.path)
        book = file.of(self.notebook.path, self.notebook.module, self.notebook.tests)
        if len(book.cells) != len(self.notebook.cells):
            raise UsageProblem(f"{self.notebook.path} has other cells than before.")
        return prepare(book, self.goal)

    def named(self, text: str) -> str:
        """A text for people, with lines of the module as rows of cells."""
        return named(self.notebook, text)

    @contextmanager
    def telling(self) -> Iterator[None]:
        """What is raised meanwhile speaks of cells."""
        try:
            yield
        except GreenloopError as error:
            error.args, error.remedy = (self.named(str(error)),), self.named(error.remedy)
            raise

    def fault(self, failures: Sequence[Failure]) -> Fault | None:
        """An earlier cell that fails whatever the functions of this notebook do."""
        found = [self._fault(failure) for failure in failures]
        return found[0] if found and all(found) else None

    def _fault(self, failure: Failure) -> Fault | None:
        inside = [frame for frame in failure.frames if frame.path in (self.notebook.module, self.notebook.tests)]
        if not inside or inside[-1].path != self.notebook.module or inside[-1].function != "<module>":
            return None
        place = self.notebook.place(inside[-1].line - 1)
        if place is None or self._uses_functions(place.cell, place.row):
            return None
        where = f"Cell {place.cell + 1} of {self.notebook.path} fails in row {place.row + 1}"
        message = failure.message.strip().split("\n")[0]
        said = message if message.startswith(failure.type) else f"{failure.type}: {message}".rstrip(": ")
        return Fault(sentence=f"{where}: {said}", remedy="Earlier cells run before the target; mend that one first.")

    def _uses_functions(self, cell: int, row: int) -> bool:
        """Does the statement there come, by way of other names, from a function or class of the notebook?"""
        parts = [(n, part) for n, each in enumerate(self.notebook.cells) for part in each.reading.parts]
        wanted = {
            name for n, part in parts if n == cell and part.start <= row < part.end for name in part.needs | part.binds
        }
        size = -1
        while size != len(wanted):
            size = len(wanted)
            for _n, part in parts:
                if part.binds & wanted and part.kind is Kind.DEFINE:
                    return True
                if part.binds & wanted and part.kind is not Kind.IMPORT:
                    wanted |= part.needs
        return False


def settings_for(settings: Settings) -> Settings:
    """Settings for a notebook: designed tests have no file there that they could be written into."""
    return replace(settings, spec=replace(settings.spec, write=False))


# -- from a file ----------------------------------------------------------------------------------------------------


def load(root: Path, path: str) -> tuple[Notebook, str]:
    """A notebook of the workspace and its file's text. Raises `UsageProblem` where it cannot be read."""
    file = root / path
    try:
        if file.stat().st_size > MOST_BYTES:
            raise UsageProblem(
                f"{path} is larger than {MOST_BYTES >> 20} MB.", remedy="Clear its outputs in Jupyter first."
            )
        # A byte order mark is no part of a text; whoever writes the file keeps it.
        text = file.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise UsageProblem(f"{path} cannot be read ({error.strerror}).") from error
    except UnicodeDecodeError as error:
        raise UsageProblem(f"{path} is not written in UTF-8.", remedy="Save it with Jupyter.") from error
    return ipynb.parse(text, path).of(path, *beside(root, path)), text


def beside(root: Path, path: str) -> tuple[str, str]:
    """Names for the module and the test file that nothing in the notebook's folder has."""
    folder = root / PurePosixPath(path).parent
    return names(path, [file.name for file in folder.glob("*_ipynb*.py")])


def _behind(root: Path, module: str) -> str | None:
    """The notebook (workspace path) whose module has that path; None where there is none."""
    if not module.endswith("_ipynb.py") and not module.endswith("_.py"):
        return None
    folder = PurePosixPath(module).parent
    for file in sorted((root / folder).glob("*.ipynb")):
        path = str(folder / file.name)
        if beside(root, path)[0] == module:
            return path
    return None


def recovered(root: Path, outcome: Outcome) -> Outcome:
    """A kept outcome with the notebooks' files in place of their modules. Raises `WorkspaceProblem`.

    Only over the very cells that the run saw.
    """
    for path in outcome.after:
        if found := of_run(root, path, outcome):
            prepared, text = found
            outcome = prepared.written(outcome, text)
    return outcome


def of_run(root: Path, module: str, outcome: Outcome) -> tuple[Prepared, str] | None:
    """What a kept run was asked in the notebook of that module, and the text of its file; None: it is no notebook's.

    Raises `WorkspaceProblem` where the cells are others now than before that run, or after it.
    """
    path, before = _behind(root, module), outcome.before.get(module)
    if path is None or before is None:
        return None
    book, text = load(root, path)
    found = _as_it_was(book, before, outcome.after[module])
    if found is None:
        raise WorkspaceProblem(f"{path} changed since the run.", remedy="Run `greenloop fix` again.")
    book, last = found
    whole = Target(kind=TargetKind.FUNCTION, path=module, qualname="", selector="", start=1, end=1, name_line=1)
    goal = Goal(cell=last, last=last)
    return Prepared(notebook=book, goal=goal, composed=compose(book, last), target=whole), text


def _as_it_was(book: Notebook, before: str, after: str) -> tuple[Notebook, int] | None:
    """The cells that a run saw and the last one that ran, also where its result stands in them now; else None."""
    last = ran_to(book, before)
    if last is not None:
        return book, last
    last = ran_to(book, after)
    old = landed(book, after, before, last) if last is not None else None
    return (old, last) if old is not None and last is not None and ran_to(old, before) == last else None


def titled(root: Path, target: str) -> str:
    """A kept run's target as it is typed, where it is in a notebook that is still there."""
    inner, path = target.partition("::")[2], _of_target(root, target)
    if path is None:
        return target
    cell = re.fullmatch(r"test_cell_(\d+)", inner)
    return f"{path}:{cell[1]}" if cell else f"{path}::{inner}"


def unlined(root: Path, target: str, text: str) -> str:
    """What a kept run in a notebook said, without lines: where the cells are others, no row can be told."""
    path = _of_target(root, target)
    if path is None:
        return text
    module, tests = (re.escape(name) for name in beside(root, path))
    return re.sub(rf"(?:{tests}|{module})(?::\d+)?", lambda _found: path, text)


def _of_target(root: Path, target: str) -> str | None:
    """The notebook that a kept run's target was in; None where it was a file, or is gone."""
    file = PurePosixPath(target.partition("::")[0])
    names = (file.name, file.name.removeprefix("test_"))
    return next((path for name in names if (path := _behind(root, str(file.with_name(name))))), None)


# -- for the engine -------------------------------------------------------------------------------------------------


def prepare(notebook: Notebook, goal: Goal) -> Prepared:
    """Raises `UsageProblem` where the target or an earlier cell cannot be used."""
    for number, cell in enumerate(notebook.cells[: goal.last + 1]):
        if cell.reading.broken and number != goal.cell:
            row, why = cell.reading.broken
            raise UsageProblem(
                f"Cell {number + 1} of {notebook.path} cannot be read in row {row + 1}: {why}.",
                remedy="Earlier cells run before the target; mend that one first.",
            )
    composed = compose(notebook, goal.last)
    return Prepared(notebook=notebook, goal=goal, composed=composed, target=_target(notebook, goal, composed))


def _target(notebook: Notebook, goal: Goal, composed: Composed) -> Target:
    cell = notebook.cells[goal.cell]
    if goal.test and not goal.name:
        return check_target(notebook, goal.cell)
    path, text = (notebook.tests, composed.tests) if goal.test else (notebook.module, composed.module)
    found = targets.find(text, path, goal.name, python_files=sources.TEST_FILES)
    if found is None:
        raise UsageProblem(f"Cell {goal.cell + 1} of {notebook.path} has no function '{goal.name}'.")
    lines = _rows(cell, goal.name)
    first = notebook.firsts[goal.cell]
    if lines and not goal.test:
        # Of several functions of that name the one in this cell.
        found = replace(found, start=first + lines[0], end=first + lines[1], name_line=first + lines[2])
    return found


def _rows(cell: Cell, name: str) -> tuple[int, ...]:
    """First, last and name line (1-based) of a definition in its cell."""
    item = syntax.lookup(syntax.definitions("\n".join(cell.reading.rows), "cell.py"), name)
    return (item.start, item.end, item.name_line) if item else ()


def check_target(notebook: Notebook, cell: int) -> Target:
    """The checks of a cell as a test; its lines are those of the first check to the last."""
    test, first = notebook.cells[cell].test, notebook.firsts[cell]
    checks = [part for part in notebook.cells[cell].reading.parts if part.kind is Kind.CHECK]
    start, end = first + checks[0].start + 1, first + checks[-1].end
    selector = f"{notebook.tests}::{test}"
    return Target(
        kind=TargetKind.TEST,
        path=notebook.tests,
        qualname=test,
        selector=selector,
        start=start,
        end=end,
        name_line=start,
    )


def _ended(text: str) -> str:
    return text if text.endswith("\n") or not text else text + "\n"
