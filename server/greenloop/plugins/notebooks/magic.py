"""IPython magic `%%refine`: `%load_ext greenloop.magic`, then `%%refine` on top of a cell.

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
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

from IPython.core.interactiveshell import ExecutionResult, InteractiveShell

from greenloop.api.session import RefineRequest, RefineSession
from greenloop.api.settings import Settings, load_settings, parse_assignments
from greenloop.api.workspace import find_root
from greenloop.core.errors import GreenloopError, UsageError
from greenloop.core.events import Event, Looked, Specified, Started, Tested
from greenloop.core.records.outcome import Outcome
from greenloop.core.text.diff import unified_diff
from greenloop.core.text.redact import clean_for_display
from greenloop.plugins.notebooks.adapter import free_module_names, prepare
from greenloop.plugins.notebooks.cell_source import LineKind, rows_of
from greenloop.plugins.notebooks.cell_targets import list_targets
from greenloop.plugins.notebooks.layout import Cell, Notebook
from greenloop.wording.attempt import result_and_error
from greenloop.wording.generated_tests import ChangedTests
from greenloop.wording.model import describe_asking
from greenloop.wording.notes import note_lines
from greenloop.wording.outcome import outcome_sentence

MAGIC = "refine"
CONFIG_NAME = "session.ipynb"  # file name given to the executed cells; the file does not exist
POLL_SECONDS = 0.2  # seconds between two checks for an interrupt

_loaded: WeakKeyDictionary[InteractiveShell, RefineMagic] = WeakKeyDictionary()


def load_ipython_extension(shell: InteractiveShell) -> None:
    """Registers the magic; called by `%load_ext`."""
    _loaded[shell] = magic = RefineMagic(shell=shell)
    shell.register_magic_function(magic.refine, "cell", MAGIC)  # type: ignore[arg-type]
    shell.events.register("post_run_cell", magic.record_run)


def unload_ipython_extension(shell: InteractiveShell) -> None:
    magic = _loaded.pop(shell, None)
    if magic is not None:
        shell.events.unregister("post_run_cell", magic.record_run)
        shell.magics_manager.magics["cell"].pop(MAGIC, None)


@dataclass(eq=False, kw_only=True)
class RefineMagic:
    """The magic of one shell.

    `failed_cells` are the execution counts of cells that raised; later cells do not get them as context.
    """

    shell: InteractiveShell
    failed_cells: set[int] = field(default_factory=set)

    def record_run(self, result: ExecutionResult) -> None:
        if not result.success and result.execution_count is not None:
            self.failed_cells.add(result.execution_count)

    def refine(self, line: str, cell: str) -> None:
        """Refines a cell and puts the result in its place; a problem is printed as one line."""
        shell = self.shell
        inputs = list(shell.history_manager.input_hist_raw) if shell.history_manager else []
        if inputs and inputs[-1].rstrip().endswith(cell.rstrip()):
            inputs.pop()  # this cell
        # Since version 9 IPython itself records what failed before the magic was loaded.
        failed = self.failed_cells.union(getattr(shell.history_manager, "exceptions", ()))
        earlier = {n: text for n, text in enumerate(inputs) if n and n not in failed}
        try:
            text = refine_cell(earlier, cell.rstrip("\n"), shlex.split(line), show=print)
        except GreenloopError as error:
            print(
                f"greenloop: {clean_for_display(' '.join(filter(None, (str(error), error.remedy))))}", file=sys.stderr
            )
        except ValueError as error:
            print(f"greenloop: the options after %%refine cannot be read: {error}.", file=sys.stderr)
        except KeyboardInterrupt:
            print("greenloop: cancelled.", file=sys.stderr)
        else:
            if text is not None:
                shell.set_next_input(text, replace=True)


def refine_cell(
    earlier_cells: Mapping[int, str], cell: str, arguments: Sequence[str], *, show: Callable[[str], None]
) -> str | None:
    """The cell's new text, or None when the run found none.

    `earlier_cells` are executed cells by execution count; `assignments` are settings as `key=value`.
    Raises `GreenloopError` when the run is impossible, and `KeyboardInterrupt` when the user interrupts it.
    """
    folder = Path.cwd()
    root = find_root(folder)
    context_cells = find_context_cells(earlier_cells)
    notebook = _build_notebook(root, folder, [*context_cells.values(), cell])
    last = len(notebook.cells) - 1
    in_cell = [goal for goal in list_targets(notebook) if goal.cell == last]
    chosen = [goal for goal in in_cell if goal.test] or in_cell
    if (broken := notebook.cells[last].parsed.syntax_error) is not None:
        row, why = broken
        raise UsageError(f"The cell cannot be read in row {row + 1}: {why}.")
    if len(chosen) != 1:
        what = "several functions" if chosen else "neither an assert nor a function"
        raise UsageError(f"The cell has {what}.", remedy="Put %%refine on a cell with asserts, or with one function.")
    prepared = prepare(notebook, replace(chosen[0], last_cell=last))
    settings = prepared.adapt_settings(_settings(root, arguments, show))
    request = prepared.to_request(RefineRequest(root=root, target=prepared.target))
    tests = ChangedTests()

    def named(text: str) -> str:
        return _label_executed(notebook, [*context_cells], prepared.label(text))

    def on_event(event: Event) -> None:
        for text in _describe(event, session.state.limit, tests):
            lines.put(named(clean_for_display(text)))

    session = RefineSession(request, settings=settings, on_event=on_event)

    async def work() -> Outcome:
        try:
            return await session.run()
        except GreenloopError as error:
            sentence = named(str(error))
            error.args, error.remedy = (sentence[:1].upper() + sentence[1:],), named(error.remedy)
            raise

    lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
    outcome = _in_thread(work, lines, show)
    for text in (outcome_sentence(prepared.show(outcome)), *map(prepared.label, note_lines(outcome))):
        show(_label_executed(notebook, [*context_cells], clean_for_display(text)))
    if not outcome.solved or not outcome.after:
        return None
    changed = prepared.write_back(outcome)
    new = added_statements(notebook, changed)
    show(unified_diff(cell + "\n", new + "\n", "cell"))
    others = sorted(set(outcome.after) - {notebook.module})
    if others:
        show(f"It also changes {', '.join(others)}; greenloop history show {outcome.run or ''} shows everything.")
    return new


def find_context_cells(earlier_cells: Mapping[int, str]) -> dict[int, str]:
    """The executed cells that matter, by execution count.

    Leaves out cells that only define what later ones define again, and cells that were only refined: nothing in those
    was executed.
    """
    executed = {n: text for n, text in earlier_cells.items() if not text.lstrip().startswith(f"%%{MAGIC}")}
    parsed_cells = [Cell(source=text, label=n) for n, text in executed.items()]
    relevant = {}
    for number, cell in enumerate(parsed_cells):
        parts, after = cell.parsed.parts, parsed_cells[number + 1 :]
        if cell.parsed.syntax_error or not parts or any(cell.source == other.source for other in after):
            continue
        later = {name for other in after for part in other.parsed.parts for name in part.binds}
        binds = {name for part in parts for name in part.binds}
        if all(part.kind is LineKind.DEFINE for part in parts) and binds <= later:
            continue
        relevant[cell.label] = cell.source
    return relevant


def added_statements(notebook: Notebook, changed: Notebook) -> str:
    """The last cell's new text, below what changed in earlier cells, which have been executed already."""
    additions: list[str] = []
    for old, new in zip(notebook.cells[:-1], changed.cells[:-1], strict=True):
        before = set(_statements(old))
        additions += [text for text in _statements(new) if text not in before]
    return "\n\n\n".join([*additions, changed.cells[-1].source])


def _statements(cell: Cell) -> list[str]:
    """The texts of the cell's statements as written, magics included."""
    rows = rows_of(cell.source)
    return ["\n".join(rows[part.start : part.end]) for part in cell.parsed.parts]


def _build_notebook(root: Path, folder: Path, sources: Sequence[str]) -> Notebook:
    relative = folder.relative_to(root).as_posix()
    path = CONFIG_NAME if relative == "." else f"{relative}/{CONFIG_NAME}"
    module, tests = free_module_names(root, path)
    cells = tuple(Cell(source=text, label=n) for n, text in enumerate(sources, 1))
    return Notebook(path=path, cells=cells, module=module, tests=tests)


def _label_executed(notebook: Notebook, counts: Sequence[int], text: str) -> str:
    """Replaces cell positions in a message by Jupyter's execution counts; the last cell is the one being refined."""
    labels = ["", *(f"In [{number}]" for number in counts), "the cell"]
    path = re.escape(notebook.path)
    text = re.sub(rf"Cell (\d+) of {path}", lambda match: labels[int(match[1])], text)
    return re.sub(rf"{path}(?: cell |:)(\d+)", lambda match: labels[int(match[1])], text)


def _settings(root: Path, assignments: Sequence[str], report_status: Callable[[str], None]) -> Settings:
    """Merges all settings; runs tests with the kernel's Python unless another is set."""
    settings, warnings = load_settings(root, parse_assignments(assignments))
    for sentence in warnings:
        report_status(f"greenloop: {clean_for_display(sentence)}")
    return replace(settings, interpreter=settings.interpreter or sys.executable)


def _in_thread(
    work: Callable[[], Coroutine[Any, Any, Outcome]],
    lines: queue.SimpleQueue[str | None],
    report_status: Callable[[str], None],
) -> Outcome:
    """Runs `work` in a thread, apart from the kernel's event loop, and reports its lines in the cell's output."""
    loop = asyncio.new_event_loop()
    task = loop.create_task(work())

    def run() -> Outcome:
        try:
            return loop.run_until_complete(task)
        finally:
            loop.close()
            lines.put(None)

    with ThreadPoolExecutor(1, "greenloop-refine") as executor:
        running = executor.submit(run)
        try:
            while (text := _next(lines)) is not None:
                report_status(text)
        except KeyboardInterrupt:
            with contextlib.suppress(RuntimeError):  # the loop has just ended
                loop.call_soon_threadsafe(task.cancel)
            raise
    return running.result()


def _next(lines: queue.SimpleQueue[str | None]) -> str | None:
    """The next line; polls, so that an interrupt is noticed while waiting."""
    while True:
        with contextlib.suppress(queue.Empty):
            return lines.get(timeout=POLL_SECONDS)


def _describe(event: Event, limit: int, tests: ChangedTests) -> Iterable[str]:
    """Each attempt in a line, and each generated test again whenever its trust changes."""
    match event:
        case Started():
            model = describe_asking(event.model, event.kind)
            return [model, f"baseline: {result_and_error(event.baseline)}"]
        case Looked():
            return [f"attempt {event.attempt}/{limit} looks: {event.look.summary}"]
        case Tested():
            return [f"attempt {event.attempt.number}/{limit}: {result_and_error(event.attempt)}"]
        case Specified():
            return tests.lines(event)
        case _:
            return []
