"""The magic `%%refine` for Jupyter and IPython: `%load_ext greenloop.magic`, then `%%refine` on top of a cell.

The cell has asserts, or a function with a docstring. The cells that were executed before are its context; they run
again, in the sandbox. The result replaces the cell's text and is not executed. Words after `%%refine` are settings:
`%%refine preset=plain attempts=3`.
"""

from __future__ import annotations

import asyncio
import contextlib
import queue
import re
import shlex
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

from IPython.core.interactiveshell import ExecutionResult, InteractiveShell

from greenloop import engine, goals, notebook, workspace
from greenloop import settings as configuration
from greenloop.core import told
from greenloop.core.cells import Kind, rows_of
from greenloop.core.diff import unified
from greenloop.core.errors import GreenloopError, UsageProblem
from greenloop.core.events import Event, Specified, Started, Tested
from greenloop.core.grid import Cell, Notebook
from greenloop.core.nouns import Attempt, Outcome, Status
from greenloop.core.redact import clean
from greenloop.core.summary import counted, wall

MAGIC = "refine"
NAME = "session.ipynb"  # as which the executed cells are known; there is no such file
WAIT = 0.2  # seconds between two looks for an interrupt

_loaded: WeakKeyDictionary[InteractiveShell, Magic] = WeakKeyDictionary()


def load_ipython_extension(shell: InteractiveShell) -> None:
    """What `%load_ext` calls."""
    _loaded[shell] = magic = Magic(shell=shell)
    shell.register_magic_function(magic.refine, "cell", MAGIC)  # type: ignore[arg-type]
    shell.events.register("post_run_cell", magic.ran)


def unload_ipython_extension(shell: InteractiveShell) -> None:
    magic = _loaded.pop(shell, None)
    if magic is not None:
        shell.events.unregister("post_run_cell", magic.ran)
        shell.magics_manager.magics["cell"].pop(MAGIC, None)


@dataclass(eq=False, kw_only=True)
class Magic:
    """The magic of one shell; `failed` are the numbers of cells that raised, which are no context for later ones."""

    shell: InteractiveShell
    failed: set[int] = field(default_factory=set)

    def ran(self, result: ExecutionResult) -> None:
        if not result.success and result.execution_count is not None:
            self.failed.add(result.execution_count)

    def refine(self, line: str, cell: str) -> None:
        """Every problem is one line."""
        shell = self.shell
        inputs = list(shell.history_manager.input_hist_raw) if shell.history_manager else []
        if inputs and inputs[-1].rstrip().endswith(cell.rstrip()):
            inputs.pop()  # this cell
        # What failed before the magic was loaded IPython itself knows, since version 9.
        failed = self.failed.union(getattr(shell.history_manager, "exceptions", ()))
        earlier = {n: text for n, text in enumerate(inputs) if n and n not in failed}
        try:
            text = refined(earlier, cell.rstrip("\n"), shlex.split(line), say=print)
        except GreenloopError as error:
            print(f"greenloop: {clean(' '.join(filter(None, (str(error), error.remedy))))}", file=sys.stderr)
        except ValueError as error:
            print(f"greenloop: the words after %%refine cannot be read: {error}.", file=sys.stderr)
        except KeyboardInterrupt:
            print("greenloop: cancelled.", file=sys.stderr)
        else:
            if text is not None:
                shell.set_next_input(text, replace=True)


def refined(earlier: Mapping[int, str], cell: str, words: Sequence[str], *, say: Callable[[str], None]) -> str | None:
    """The cell's new text; None where there is none. `earlier` are executed cells by number, `words` settings.

    Raises `GreenloopError` for what cannot be run and `KeyboardInterrupt` where the user interrupts.
    """
    folder = Path.cwd()
    root = workspace.find_root(folder)
    known = context(earlier)
    book = _book(root, folder, [*known.values(), cell])
    last = len(book.cells) - 1
    own = [goal for goal in goals.goals(book) if goal.cell == last]
    checks = [goal for goal in own if goal.test] or own
    if (broken := book.cells[last].reading.broken) is not None:
        row, why = broken
        raise UsageProblem(f"The cell cannot be read in row {row + 1}: {why}.")
    if len(checks) != 1:
        what = "several functions" if checks else "neither an assert nor a function"
        raise UsageProblem(f"The cell has {what}.", remedy="Put %%refine on a cell with asserts, or with one function.")
    prepared = notebook.prepare(book, replace(checks[0], last=last))
    settings = notebook.settings_for(_settings(root, words, say))
    request = engine.Request(root=root, target=prepared.target, buffers=prepared.buffers, fault=prepared.fault)
    tell = _Telling()

    def named(text: str) -> str:
        return _as_executed(book, [*known], prepared.named(text))

    async def work(emit: Callable[[Event], None]) -> Outcome:
        try:
            return await engine.refine(request, settings=settings, emit=emit)
        except GreenloopError as error:
            error.args, error.remedy = (_begun(named(str(error))),), named(error.remedy)
            raise

    def emit(event: Event) -> None:
        for text in tell.lines(event):
            lines.put(named(text))

    lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
    outcome = _in_thread(lambda: work(emit), lines, say)
    say(_as_executed(book, [*known], _end(prepared.shown(outcome))))
    if not outcome.solved or not outcome.after:
        return None
    changed = prepared.landed(outcome)
    new = on_top(book, changed)
    say(unified(cell + "\n", new + "\n", "cell"))
    others = sorted(set(outcome.after) - {book.module})
    if others:
        say(f"It also changes {', '.join(others)}; greenloop history show {outcome.run or ''} has the whole of it.")
    return new


def context(earlier: Mapping[int, str]) -> dict[int, str]:
    """Of executed cells those that count: one that only defines what later ones define again is left out.

    So is what was only refined: nothing of such a cell was executed.
    """
    executed = {n: text for n, text in earlier.items() if not text.lstrip().startswith(f"%%{MAGIC}")}
    cells = [Cell(source=text, label=n) for n, text in executed.items()]
    kept = {}
    for number, cell in enumerate(cells):
        parts, after = cell.reading.parts, cells[number + 1 :]
        if cell.reading.broken or not parts or any(cell.source == other.source for other in after):
            continue
        later = {name for other in after for part in other.reading.parts for name in part.binds}
        binds = {name for part in parts for name in part.binds}
        if all(part.kind is Kind.DEFINE for part in parts) and binds <= later:
            continue
        kept[cell.label] = cell.source
    return kept


def on_top(book: Notebook, changed: Notebook) -> str:
    """The last cell's new text; what changed in earlier cells comes on top of it, for those have been executed."""
    fresh: list[str] = []
    for old, new in zip(book.cells[:-1], changed.cells[:-1], strict=True):
        before = set(_statements(old))
        fresh += [text for text in _statements(new) if text not in before]
    return "\n\n\n".join([*fresh, changed.cells[-1].source])


def _statements(cell: Cell) -> list[str]:
    """Their texts as they stand in the cell, magics and all."""
    rows = rows_of(cell.source)
    return ["\n".join(rows[part.start : part.end]) for part in cell.reading.parts]


def _book(root: Path, folder: Path, texts: Sequence[str]) -> Notebook:
    inside = folder.relative_to(root).as_posix()
    path = NAME if inside == "." else f"{inside}/{NAME}"
    module, tests = notebook.beside(root, path)
    cells = tuple(Cell(source=text, label=n) for n, text in enumerate(texts, 1))
    return Notebook(path=path, cells=cells, module=module, tests=tests)


def _as_executed(book: Notebook, numbers: Sequence[int], text: str) -> str:
    """A text for people with cells as Jupyter numbers them; the last is the one on which the magic stands."""
    spelled = ["", *(f"In [{number}]" for number in numbers), "the cell"]
    path = re.escape(book.path)
    text = re.sub(rf"Cell (\d+) of {path}", lambda found: spelled[int(found[1])], text)
    return re.sub(rf"{path}(?: cell |:)(\d+)", lambda found: spelled[int(found[1])], text)


def _settings(root: Path, words: Sequence[str], say: Callable[[str], None]) -> configuration.Settings:
    """All sources merged; nobody is asked, and tests run by the kernel's own Python where no other is named."""
    settings, warnings = configuration.load(root, command_line=configuration.parse_assignments(words))
    for sentence in warnings:
        say(f"greenloop: {clean(sentence)}")
    return replace(settings, ask=0, interpreter=settings.interpreter or sys.executable)


def _in_thread(work: Callable[[], Any], lines: queue.SimpleQueue[str | None], say: Callable[[str], None]) -> Outcome:
    """Runs beside the kernel's own event loop; what is said meanwhile is said here, in the cell's output."""
    loop = asyncio.new_event_loop()
    done: list[Outcome | BaseException] = []

    async def guarded() -> None:
        try:
            done.append(await work())
        except BaseException as error:  # noqa: BLE001 - raised again in the thread that waits
            done.append(error)

    def run() -> None:
        asyncio.set_event_loop(loop)
        try:
            loop.run_until_complete(task)
        finally:
            loop.close()
            lines.put(None)

    task = loop.create_task(guarded())
    thread = threading.Thread(target=run, name="greenloop-refine", daemon=True)
    thread.start()
    try:
        while (text := _next(lines)) is not None:
            say(text)
    except KeyboardInterrupt:
        with contextlib.suppress(RuntimeError):  # it ended in this very moment
            loop.call_soon_threadsafe(task.cancel)
        raise
    finally:
        thread.join()
    found = done[0]
    if isinstance(found, BaseException):
        raise found
    return found


def _next(lines: queue.SimpleQueue[str | None]) -> str | None:
    """The next line; an interrupt is noticed while waiting."""
    while True:
        with contextlib.suppress(queue.Empty):
            return lines.get(timeout=WAIT)


@dataclass(kw_only=True)
class _Telling:
    """Each attempt in a line, and each test that was made of a docstring, as often as it is worth something else."""

    limit: int = 0
    known: dict[str, str] = field(default_factory=dict)

    def lines(self, event: Event) -> Sequence[str]:
        if isinstance(event, Started):
            self.limit = event.attempts
            return [f"as it stands: {_result(event.baseline)}"]
        if isinstance(event, Tested):
            return [f"attempt {event.attempt.number}/{self.limit}: {_result(event.attempt)}"]
        if isinstance(event, Specified):
            listed = told.lines(event.spec, voted=bool(self.known))
            fresh = [each for each in listed if self.known.get(each.source) != each.why]
            self.known = {each.source: each.why for each in listed}
            return [clean(f"test: {each.source} ({each.why})") for each in fresh]
        return []


def _result(attempt: Attempt) -> str:
    verdict = attempt.verdict
    score = f"{verdict.passed}/{verdict.total} passed" if verdict.total else verdict.status.value
    if verdict.status is Status.PASSED:
        return "passed"
    failures = (case.failure for case in (*verdict.cases, *verdict.collateral) if case.failure)
    message = next((failure.message for failure in failures), verdict.reason).strip().split("\n")[0]
    return clean(", ".join(part for part in (score, attempt.error_class, message) if part))


def _begun(text: str) -> str:
    return text[:1].upper() + text[1:]


def _end(outcome: Outcome) -> str:
    if not outcome.solved:
        return clean(f"not solved: {outcome.message or outcome.reason.value}")
    evidence = ", ".join([*counted(outcome.evidence), wall(outcome.evidence)])
    return clean(outcome.message or f"{outcome.verified.value} ({evidence})")
