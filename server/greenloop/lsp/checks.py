"""Checks under way: tests that run because somebody asked, or because a file was saved; at most one in each folder.

A save begins one after a moment, and cancels the one before: what that had not told yet goes over into the next.
It must not know how tests are run.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from greenloop.core.errors import CannotVerify, GreenloopError
from greenloop.lsp.asked import DOCTEST, Asked, Check, tallied, wanted_by
from greenloop.lsp.buffers import snapshot
from greenloop.lsp.cells import texts as grid
from greenloop.lsp.memory import Memory
from greenloop.lsp.presenters.checked import Checked
from greenloop.lsp.presenters.line import Line
from greenloop.lsp.results import grouped
from greenloop.settings import Settings

if TYPE_CHECKING:
    from greenloop.checking import Report
    from greenloop.lsp.server import Server
    from greenloop.notebook import Prepared

log = logging.getLogger(__name__)

# Seconds from a save to its check: where saves follow upon one another ("save all", a formatter), and where not.
QUIET = 0.2
SOON = 0.03
# Seconds of rest after a check before its tests are traced, and the longest run that is worth a second one.
REST = 1.0
TRACED = 5.0
# After which a check that nobody asked for says that it is still at it.
LATE = 1.0
# Test files that run at once; what they come to is shown before the next ones run.
BATCH = 10
# Folders whose tests are remembered.
FOLDERS = 16


class Checks:
    """All checks of this server. `pause` and `clock` are asyncio's and the system's, but for tests."""

    def __init__(
        self,
        server: Server,
        *,
        pause: Callable[[float], Awaitable[None]] = asyncio.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._server, self._pause, self._clock = server, pause, clock
        self._under_way: dict[Path, Check] = {}
        self._memories: dict[Path, Memory] = {}
        self._preparing: dict[Path, asyncio.Task[None]] = {}
        self._saved: dict[Path, float] = {}
        self.shown = Checked(server)
        server.results.reached = self._reached

    def save(self, root: Path, settings: Settings, path: str) -> None:
        """A file was saved: the tests that it concerns run soon, in place of those under way."""
        now, last = self._clock(), self._saved.get(root, float("-inf"))
        self._saved[root] = now
        moment = QUIET if now - last < QUIET else SOON
        self._start(Check(root=root, settings=settings, saved={path: None}, moment=moment))

    def ask(self, asked: Asked) -> None:
        """Somebody asked for tests: they run now, together with what is under way."""
        self._start(Check(root=asked.root, settings=asked.settings, asked=[asked]))

    def concern(self, root: Path, path: str) -> bool:
        """Is a file tested, or something for its sake?"""
        check = self._under_way.get(root)
        return check is not None and check.concerns(path, None)

    def leave(self, root: Path, path: str) -> None:
        """A file was closed: what was to be tested for its sake is not; a check that is left with nothing ends."""
        check = self._under_way.get(root)
        if check is None or not check.concerns(path, None):
            return
        check.saved.pop(path, None)
        for asked in [asked for asked in check.asked if asked.path == path]:
            check.asked.remove(asked)
            asked.over.cancel()
        if not check.saved and not check.asked:
            self._end(check)

    def cancel(self, root: Path | None = None, path: str | None = None, target: str | None = None) -> int:
        """Ends the checks in a folder (None: everywhere), about a file and a target of it; returns how many."""
        ended = 0
        for check in list(self._under_way.values()):
            if root in (None, check.root) and (path is None or check.concerns(path, target)):
                ended += not check.told
                self._end(check)
        return ended

    # -- one check ----------------------------------------------------------------------------------------------------

    def _start(self, check: Check) -> None:
        before = self._under_way.get(check.root)
        if before is not None:
            before.stopped = True
            if not before.told:
                check.saved = before.saved | check.saved
                check.asked = before.asked + check.asked
        check.before = before
        self._under_way[check.root] = check
        check.task = self._server.runs.spawn(self._course(check))

    def _end(self, check: Check) -> None:
        del self._under_way[check.root]
        check.stop()
        for asked in check.asked:
            asked.over.cancel()

    async def _course(self, check: Check) -> None:
        """The whole of a check."""
        ready = None if check.before else self._prepared(check)
        await self._moment(check)
        if check.stopped:
            return
        check.begun = True
        name = check.asked[-1].name if check.asked else Path([*check.saved][-1]).name
        line = Line(self._server, f"Testing {name}", lambda: self._cancelled(check))
        line.ask_later(0.0 if check.asked else LATE)
        try:
            memory = await self._remembered(check.root)
            # Making a sandbox ready goes on where the check is cancelled: the next one needs it too.
            await asyncio.shield(ready or self._prepared(check))
            reports = await self._tested(check, memory, line)
            if check.stopped:
                return
            self._tell(check, memory, reports)
            line.end("")
            check.told = True
            await self._traced(check, memory)
        except GreenloopError as error:
            self._refused(check, error)
        except Exception:
            # The request edge: the server outlives whatever goes wrong in a check.
            log.exception("A check failed")
            self._refused(check, GreenloopError("The tests could not be run; the server's log has the details."))
        finally:
            line.end("cancelled")
            if self._under_way.get(check.root) is check:
                del self._under_way[check.root]
                for asked in check.asked:
                    asked.over.cancel()

    def _reached(self, root: Path, path: str) -> Collection[str]:
        return self._memories[root].reached.functions(path) if root in self._memories else ()

    async def _remembered(self, root: Path) -> Memory:
        if root not in self._memories:
            from greenloop.affected import Reached  # noqa: PLC0415 - only checks need it, not the start

            while len(self._memories) >= FOLDERS:
                del self._memories[next(iter(self._memories))]
            self._memories[root] = Memory(root=root, reached=Reached())
        return self._memories[root]

    async def _moment(self, check: Check) -> None:
        """Waits for further saves. The check before may end by itself meanwhile and leave its sandbox standing."""
        if not check.asked:
            check.pausing = asyncio.ensure_future(self._pause(check.moment))
            try:
                await asyncio.wait([check.pausing])
            finally:
                check.pausing.cancel()
        before, check.before = check.before, None
        if before is not None and before.task is not None:
            before.stop()
            await asyncio.wait([before.task])

    def _prepared(self, check: Check) -> asyncio.Task[None]:
        """The sandbox is being made ready for this folder, or is."""
        ready = self._preparing.get(check.root)
        if ready is None or ready.done():
            self._preparing[check.root] = ready = self._server.runs.spawn(self._ready(check))
        return ready

    async def _ready(self, check: Check) -> None:
        try:
            tester = await self._server.tester()
            await tester.prepare(check.root, check.settings, self._server.keeper)
        except GreenloopError as error:
            # The run will say it.
            log.info("No sandbox was made ready: %s", error)

    async def _tested(self, check: Check, memory: Memory, line: Line) -> list[Report]:
        """Runs everything, in several goes where it is much; each is shown at once."""
        texts = self._server.documents.texts(check.root)
        buffers = await asyncio.to_thread(snapshot, texts, check.root)
        wanted, outlines = await asyncio.to_thread(wanted_by, check, memory, buffers)
        for file in [file for file in wanted if file not in buffers and not (check.root / file).is_file()]:
            del wanted[file]
            memory.forget(file)
            self.shown.forget(check.root, file)
        files = sorted(wanted, key=lambda file: file not in check.saved and not self.shown.failing(check.root, file))
        end = self._clock() + max(check.settings.suite.seconds, check.settings.sandbox.seconds)
        reports: list[Report] = []
        for first in range(0, len(files), BATCH):
            batch = files[first : first + BATCH]
            left = end - self._clock()
            if left <= 0:
                check.left += sum(len(wanted[file]) for file in files[first:])
                break
            if len(files) > 1:
                line.say(f"{Path(batch[0]).name} · {first}/{len(files)}")
            selectors = [selector for file in batch for selector in wanted[file]]
            traced = memory.new(selectors)
            report = await self._run(check, memory, selectors, buffers, traced=traced, left=left)
            if check.stopped:
                break
            check.count(report)
            self._server.results.put(check.root, grouped(report.results))
            self.shown.take(check.root, report, texts)
            reports.append(report)
        if (examples := self._examples(check)) and not check.stopped:
            reports.append(await self._examples_tested(check, examples, buffers, texts))
        for asked in list(check.asked):
            if asked.cells is not None and not check.stopped and not asked.over.done():
                await self._cells_tested(check, asked, asked.cells, memory, buffers, texts)
        if not check.stopped:
            memory.outlines |= outlines
        return reports

    def _examples(self, check: Check) -> tuple[str, ...]:
        """Those of docstrings that somebody asked for, and of saved files those that failed when they ran last."""
        asked = [each for asked in check.asked for each in asked.examples]
        failed = [f"{DOCTEST}{each}" for path in check.saved for each in self.shown.examples(check.root, path)]
        return tuple(dict.fromkeys([*asked, *failed]))

    async def _examples_tested(
        self, check: Check, examples: Sequence[str], buffers: Mapping[str, bytes], texts: Mapping[str, str]
    ) -> Report:
        """They are no tests that a file has, and none that other files concern: nothing is remembered of them."""
        report = await self._verdicts(check.root, examples, buffers, check.settings)
        if not check.stopped:
            check.count(report)
            self._server.results.put(check.root, grouped(report.results))
            self.shown.take(check.root, report, texts)
        return report

    async def _cells_tested(
        self,
        check: Check,
        asked: Asked,
        cells: Prepared,
        memory: Memory,
        buffers: Mapping[str, bytes],
        texts: Mapping[str, str],
    ) -> None:
        """A notebook's tests, told at once and remembered by nobody: their files exist in the sandbox only."""
        report = await self._verdicts(check.root, asked.selectors, {**buffers, **cells.buffers}, asked.settings)
        if check.stopped or asked.over.done():
            return
        failures = [error.failure for error in report.errors]
        failures += [result.failure for result in report.results if result.failure is not None]
        if (fault := cells.fault(failures)) is not None:
            # An earlier cell fails by itself, which says nothing of what else is tested.
            asked.over.set_exception(CannotVerify(fault.sentence, remedy=fault.remedy))
            return
        self._server.results.put(check.root, grouped(report.results))
        self.shown.take(check.root, report, {**texts, **grid(cells.notebook)})
        own = Check(root=check.root, settings=check.settings)
        own.count(report)
        asked.over.set_result(tallied(asked, memory, [report], own.left, own.lost))

    async def _run(
        self,
        check: Check,
        memory: Memory,
        selectors: Sequence[str],
        buffers: Mapping[str, bytes],
        *,
        traced: bool,
        left: float,
    ) -> Report:
        seconds = memory.allowed(selectors, check.settings, left)
        report = await self._verdicts(check.root, selectors, buffers, check.settings, traced=traced, seconds=seconds)
        memory.take(report, traced=traced)
        return report

    async def _verdicts(
        self,
        root: Path,
        selectors: Sequence[str],
        buffers: Mapping[str, bytes],
        settings: Settings,
        *,
        traced: bool = False,
        seconds: float | None = None,
    ) -> Report:
        """`seconds`: how long that may take, by default what the settings allow one verification."""
        return await (await self._server.tester()).run_tests(
            root,
            selectors,
            buffers=buffers,
            settings=settings,
            keeper=self._server.keeper,
            traced=traced,
            seconds=settings.sandbox.seconds if seconds is None else seconds,
        )

    async def _traced(self, check: Check, memory: Memory) -> None:
        """After a rest, what the tests come through now is recorded, unless that takes long."""
        from greenloop import affected  # noqa: PLC0415 - as above

        if not memory.stale:
            return
        await self._pause(REST)
        files = affected.by_file(memory.stale)
        if sum(memory.seconds.get(file, 0.0) for file in files) > TRACED:
            return
        buffers = await asyncio.to_thread(snapshot, self._server.documents.texts(check.root), check.root)
        names = list(files)
        for first in range(0, len(names), BATCH):
            selectors = [selector for file in names[first : first + BATCH] for selector in files[file]]
            await self._run(check, memory, selectors, buffers, traced=True, left=check.settings.sandbox.seconds)
            for selector in selectors:
                memory.stale.pop(selector, None)

    # -- its end ------------------------------------------------------------------------------------------------------

    def _tell(self, check: Check, memory: Memory, reports: Sequence[Report]) -> None:
        for asked in check.asked:
            if not asked.over.done():
                asked.over.set_result(tallied(asked, memory, reports, check.left, check.lost))
        if check.saved and (check.left or check.lost):
            seconds = f"suite.seconds = {check.settings.suite.seconds:g}"
            why = seconds if check.left else "pytest ended before it was done"
            number = check.left + check.lost
            self._say(check, "not-tested", f"{number} tests that this file concerns were not run: {why}.")

    def _refused(self, check: Check, error: GreenloopError) -> None:
        if check.stopped:
            return
        for asked in check.asked:
            if not asked.over.done():
                asked.over.set_exception(error)
        self._say(check, error.word, error.advice)

    def _say(self, check: Check, word: str, sentence: str) -> None:
        """Shows what there is to say of a check that nobody asked for."""
        if check.saved and not check.told:
            self.shown.refuse(check.root, [*check.saved][-1], word, sentence)

    def _cancelled(self, check: Check) -> None:
        if self._under_way.get(check.root) is check:
            self._end(check)
