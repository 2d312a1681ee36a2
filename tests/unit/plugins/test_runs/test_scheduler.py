"""Checks under way, with a clock and a tester of our own: when they begin, what they run, how they end."""

import asyncio
from pathlib import Path
from types import SimpleNamespace

import pytest
from lsprotocol import types as lsp
from pygls.workspace import PositionCodec

from editor_runs import a_run
from greenloop.core.errors import CannotVerifyError
from greenloop.core.events import Started
from greenloop.core.records.attempt import Attempt
from greenloop.core.records.outcome import Outcome, StopReason, Verified
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Case, Spec, Target, TargetKind
from greenloop.core.records.verdict import Status, Verdict
from greenloop.engine.testing.run_tests import SuiteReport
from greenloop.lsp.connection.client import Capabilities, Client
from greenloop.lsp.documents.disk import on_disk
from greenloop.lsp.engines import Engines
from greenloop.lsp.presenters.case_diagnostics import current_range
from greenloop.lsp.presenters.diagnostics import RunDiagnostics
from greenloop.lsp.presenters.diagnostics_store import DiagnosticsStore
from greenloop.lsp.runs.runs import Runs
from greenloop.lsp.state.results import TestResults
from greenloop.lsp.state.run import Phase
from greenloop.lsp.tasks import Tasks
from greenloop.plugins.test_runs.failing_tests import FailingTest, FailingTests
from greenloop.plugins.test_runs.job_runner import BATCH, TRACED
from greenloop.plugins.test_runs.requests import TestRequest
from greenloop.plugins.test_runs.scheduler import QUIET, REST, SOON, TestScheduler
from greenloop.project.settings import Settings
from greenloop_sandbox import CaseResult, Failure, Frame
from greenloop_sandbox.report.cases import CollectedCase, CollectError
from greenloop_sandbox.report.traces import ReachedFunction

SETTINGS = Settings()


class Pauses:
    """Every pause is a future that a test ends, with those before it; the clock moves with what was slept."""

    def __init__(self):
        self.now, self.open, self.asked = 0.0, [], []
        self.new = asyncio.Event()

    async def __call__(self, seconds):
        future = asyncio.get_running_loop().create_future()
        self.asked.append(seconds)
        self.open.append((seconds, future))
        self.new.set()
        await future

    async def end(self, seconds):
        """Waits until somebody sleeps, for so long, and wakes them."""
        async with asyncio.timeout(10):
            while not (mine := [each for each in self.open if not each[1].done()]):
                self.new.clear()
                await self.new.wait()
        assert mine[-1][0] == seconds
        self.now += seconds
        for _seconds, future in mine:
            future.set_result(None)


class Play:
    """Runs no tests: every case that it knows ends as `outcomes` says. `hold` makes a run wait for ever."""

    def __init__(self):
        self.runs, self.hold, self.prepared, self.cancelled = [], False, 0, 0
        self.outcomes = {"test_m.py::test_a": "passed", "test_m.py::test_b": "failed", "test_n.py::test_c": "passed"}
        self.reach = {"test_m.py": "m.py", "test_n.py": "n.py"}
        self.broken, self.left, self.problem, self.seconds = (), (), None, 0.1
        self.began, self.go = asyncio.Event(), asyncio.Event()

    async def prepare(self, root, settings, pool):
        self.prepared += 1

    async def run_tests(self, root, selectors, *, buffers, settings, pool, traced, seconds=0.0):
        self.runs.append((tuple(selectors), traced, seconds))
        self.began.set()
        if self.problem:
            raise self.problem
        if self.hold:
            try:
                await self.go.wait()
            except asyncio.CancelledError:
                self.cancelled += 1
                raise
        ran = [c for c in self.outcomes if c in selectors or c.split("::")[0] in selectors]
        ran = [c for c in ran if c.split("::")[0] not in self.broken]
        return SuiteReport(
            results=tuple(
                CaseResult(id=c, outcome=self.outcomes[c], failure=self.failure(c), seconds=self.seconds) for c in ran
            ),
            places={c: CollectedCase(id=c, path=c.split("::")[0], line=1) for c in ran},
            errors=tuple(
                CollectError(id=file, failure=Failure(type="SyntaxError", message="invalid syntax"))
                for file in self.broken
                if file in selectors
            ),
            reach={
                c: (ReachedFunction(path=self.reach[c.split("::")[0]], firstlineno=1, name="f", depth=1),) for c in ran
            }
            if traced
            else {},
            files=tuple(each for each in selectors if "::" not in each and each not in self.broken),
            left_out=self.left,
            seconds=2 * self.seconds,
        )

    def failure(self, case):
        if self.outcomes[case] == "passed":
            return None
        frames = (Frame(path="test_m.py", line=5, function="test_b"), Frame(path="m.py", line=2, function="f"))
        return Failure(type="ValueError", message="no", frames=frames)


class House:
    """What of a server a check uses."""

    def __init__(self, root):
        self.root, self.pauses, self.published = root, Pauses(), {}
        self.play, self.tasks, self.results = Play(), Tasks(), TestResults()
        self.runs, self.client = Runs(self.tasks), Client(self)
        self.client.capabilities = Capabilities(related_information=True)
        self.texts = {}
        self.documents = SimpleNamespace(
            open_texts=lambda _root: dict(self.texts),
            text=lambda path: self.texts[path.name] if path.name in self.texts else on_disk(path),
            shown_path=lambda path: path,
            composite=lambda _path, _root: None,
            documents_of=lambda path: [(path.name, 0)],
            location=lambda path, where: lsp.Location(uri=path.name, range=where),
            get_text_document=lambda _uri: SimpleNamespace(version=0),
            position_codec=PositionCodec(),
        )
        self.board = DiagnosticsStore(self)
        run_diagnostics = RunDiagnostics(self, self.board, self.runs)
        self.failing = FailingTests(self, self.board, self.runs, run_diagnostics)
        self.checks = TestScheduler(
            self,
            Engines(self.play),
            self.results,
            self.failing,
            pause=self.pauses,
            clock=lambda: self.pauses.now,
        )

    def text_document_publish_diagnostics(self, params):
        self.published[params.uri] = [(item.range.start.line, item.code) for item in params.diagnostics]

    def save(self, path="m.py"):
        self.checks.run_affected(self.root, SETTINGS, path)

    def ask(self, **what):
        asked = TestRequest(root=self.root, settings=SETTINGS, path="test_m.py", name="it", **what)
        self.checks.request(asked)
        return asked

    async def idle(self):
        await self.tasks.wait()


@pytest.fixture
async def house(tmp_path):
    (tmp_path / "m.py").write_text("def f():\n    raise ValueError('no')\n")
    (tmp_path / "n.py").write_text("def f():\n    pass\n")
    (tmp_path / "test_m.py").write_text("import m\n\n\ndef test_b():\n    m.f()\n")
    (tmp_path / "test_n.py").write_text("import n\n")
    house = House(tmp_path)
    yield house
    await house.tasks.close()


async def test_a_save_runs_what_it_concerns_after_a_moment(house):
    house.save()
    await house.pauses.end(SOON)
    await house.idle()
    assert house.play.runs == [(("test_m.py",), True, 60.0)]
    assert house.play.prepared == 1
    assert house.published == {"m.py": [(1, "ValueError")]}
    assert house.results.get(house.root, "test_m.py", "test_b").outcome == "failed"


async def test_saves_that_follow_one_another_run_it_once(house):
    house.save("m.py")
    house.save("n.py")
    house.save("test_n.py")
    await house.pauses.end(QUIET)
    await house.idle()
    # The saved test file first.
    assert [selectors for selectors, *_ in house.play.runs] == [("test_n.py", "test_m.py")]


async def test_a_save_takes_the_place_of_the_check_jobs(house):
    house.play.hold = True
    house.save("m.py")
    await house.pauses.end(SOON)
    await house.play.began.wait()
    house.play.hold = False
    house.pauses.now += 1.0
    house.save("n.py")
    await house.pauses.end(SOON)
    await house.idle()
    assert house.play.cancelled == 1
    # What the first had not told is told by the second.
    assert [selectors for selectors, *_ in house.play.runs] == [("test_m.py",), ("test_m.py", "test_n.py")]


async def test_one_that_ends_within_the_moment_is_not_cancelled_and_shows_nothing(house):
    house.play.hold = True
    house.save("m.py")
    await house.pauses.end(SOON)
    await house.play.began.wait()
    first = house.checks._jobs[house.root].task
    house.save("m.py")
    house.play.go.set()
    await first
    assert house.published == {}
    await house.pauses.end(QUIET)
    await house.pauses.end(REST)
    await house.idle()
    assert house.play.cancelled == 0
    assert house.published == {"m.py": [(1, "ValueError")]}


async def test_cancelled_within_the_moment_both_end(house):
    house.play.hold = True
    house.save("m.py")
    await house.pauses.end(SOON)
    await house.play.began.wait()
    house.save("m.py")
    await asyncio.sleep(0)
    assert house.checks.cancel() == 1
    await house.idle()
    assert house.play.cancelled == 1
    assert house.published == {}


async def test_what_was_traced_runs_alone_and_is_traced_again_after_a_rest(house):
    house.save("m.py")
    await house.pauses.end(SOON)
    await house.idle()
    house.pauses.now += 10
    house.save("m.py")
    await house.pauses.end(SOON)
    await house.pauses.end(REST)
    await house.idle()
    both = ("test_m.py::test_a", "test_m.py::test_b")
    # The quicker way where it is known, with ten times what it took and at least `sandbox.seconds`.
    assert house.play.runs[1:] == [(both, False, 10.0), (both, True, 10.0)]


async def test_where_tests_take_long_a_trace_is_not_worth_a_second_run(house):
    house.play.seconds = TRACED
    house.save("test_m.py")
    await house.pauses.end(SOON)
    await house.idle()
    house.pauses.now += 10
    house.save("test_m.py")
    await house.pauses.end(SOON)
    await house.pauses.end(REST)
    await house.idle()
    assert [traced for _, traced, _ in house.play.runs] == [True, False]


async def test_a_file_that_cannot_be_collected_is_tried_again_with_every_save(house):
    house.play.broken = ("test_m.py",)
    house.save("m.py")
    await house.pauses.end(SOON)
    await house.idle()
    assert house.published == {"test_m.py": [(0, "SyntaxError")]}
    house.play.broken = ()
    house.pauses.now += 10
    house.save("m.py")
    await house.pauses.end(SOON)
    await house.idle()
    assert house.published == {"test_m.py": [], "m.py": [(1, "ValueError")]}


async def test_green_tests_clear_what_they_showed_and_others_leave_it(house):
    asked = house.ask(selectors=("test_m.py",))
    assert (await asked.summary_future).failing[0].id == "test_m.py::test_b"
    assert house.published["m.py"] == [(1, "ValueError")]
    assert await house.ask(selectors=("test_m.py::test_a",)).summary_future
    assert house.published["m.py"] == [(1, "ValueError")]
    house.play.outcomes["test_m.py::test_b"] = "passed"
    await house.ask(selectors=("test_m.py::test_b",)).summary_future
    assert house.published["m.py"] == []


async def test_lines_are_those_of_the_text_as_it_is_by_then(house):
    text = (house.root / "m.py").read_text()
    house.texts["m.py"] = text
    house.play.hold = True
    asked = house.ask(selectors=("test_m.py",))
    await house.play.began.wait()
    # The run that counts sees the text before something was typed above.
    inner = house.play.run_tests

    async def typed(*arguments, **more):
        report = await inner(*arguments, **more)
        house.texts["m.py"] = "import os\n\n\n" + text
        return report

    house.play.hold, house.play.run_tests = False, typed
    again = house.ask(selectors=("test_m.py",))
    await again.summary_future
    assert asked.summary_future.done()
    assert house.published["m.py"] == [(4, "ValueError")]


async def test_nothing_is_asked_of_an_empty_pause(house):
    """Whoever asks does not wait for a moment."""
    await house.ask(selectors=("test_m.py",)).summary_future
    assert house.pauses.asked == []


async def test_cancelled_it_gives_no_answer_and_ends(house):
    house.play.hold = True
    asked = house.ask(selectors=("test_m.py",), target="test_m.py::test_b")
    await house.play.began.wait()
    assert house.checks.cancel(house.root, "test_n.py") == 0
    assert house.checks.cancel(house.root, "test_m.py", "test_m.py::test_a") == 0
    assert house.checks.cancel(Path("/elsewhere")) == 0
    assert house.checks.cancel(house.root, "test_m.py", "test_m.py::test_b") == 1
    await house.idle()
    assert asked.summary_future.cancelled()
    assert house.play.cancelled == 1
    assert house.published == {}
    assert house.checks.cancel() == 0


async def test_a_closed_file_takes_its_own_part_away(house):
    house.play.hold = True
    house.save("m.py")
    asked = house.ask(selectors=("test_m.py",))
    await house.play.began.wait()
    house.checks.drop(house.root, "m.py")
    assert not asked.summary_future.done()
    house.checks.drop(house.root, "test_m.py")
    assert asked.summary_future.cancelled()
    await house.idle()
    assert house.play.cancelled == 1


async def test_what_cannot_be_run_is_said_at_the_saved_file_and_to_whoever_asked(house):
    house.play.problem = CannotVerifyError("There is no sandbox.", remedy="Install one.")
    house.save("m.py")
    await house.pauses.end(SOON)
    await house.idle()
    assert house.published == {"m.py": [(0, "cannot-verify")]}
    asked = house.ask(selectors=("test_m.py",))
    with pytest.raises(CannotVerifyError):
        await asked.summary_future
    house.play.problem = None
    await house.ask(selectors=("test_n.py",)).summary_future
    assert house.published == {"m.py": []}


async def test_a_test_file_that_is_gone_is_forgotten(house):
    await house.ask(selectors=("test_m.py",)).summary_future
    (house.root / "test_m.py").unlink()
    tally = await house.ask(selectors=("test_m.py",)).summary_future
    assert tally.results == ()
    assert len(house.play.runs) == 1
    assert house.published["m.py"] == []


async def test_many_files_run_in_several_goes_failing_ones_first(house):
    files = [f"test_{n:02}.py" for n in range(BATCH + 3)]
    for file in files:
        (house.root / file).write_text("")
        house.play.outcomes[f"{file}::test"] = "failed" if file == files[-1] else "passed"
        house.play.reach[file] = "m.py"
    await house.ask(selectors=tuple(files)).summary_future
    assert [len(selectors) for selectors, *_ in house.play.runs] == [BATCH, 3]
    await house.ask(selectors=tuple(files)).summary_future
    assert house.play.runs[2][0][0] == files[-1]


async def test_what_the_time_does_not_suffice_for_is_left(house):
    files = [f"test_{n:02}.py" for n in range(3 * BATCH)]
    for file in files:
        (house.root / file).write_text("")
    inner = house.play.run_tests

    async def slow(*arguments, **more):
        house.pauses.now += 40
        return await inner(*arguments, **more)

    house.play.run_tests = slow
    tally = await house.ask(selectors=tuple(files)).summary_future
    assert [seconds for *_, seconds in house.play.runs] == [60.0, 20.0]
    assert tally.out_of_time == BATCH


async def test_a_save_says_what_there_was_no_time_for(house):
    house.play.left = ("test_m.py::test_a",)
    house.save("m.py")
    await house.pauses.end(SOON)
    await house.idle()
    assert house.published["m.py"] == [(1, "ValueError"), (0, "not-tested")]


async def test_code_outside_functions_concerns_whoever_imports_it(house):
    (house.root / "m.py").write_text("A = 1\n")
    house.save("m.py")
    await house.pauses.end(SOON)
    await house.idle()
    inside = "A = 2\n\n\ndef f():\n    return {}\n"
    for text in ("A = 2\n", inside.format(1), inside.format(2)):
        house.pauses.now += 10
        (house.root / "m.py").write_text(text)
        house.save("m.py")
        await house.pauses.end(SOON)
        await house.pauses.end(REST)
        await house.idle()
    seen = [selectors for selectors, traced, _ in house.play.runs if not traced]
    assert seen == [("test_m.py",), ("test_m.py",), ("test_m.py::test_a", "test_m.py::test_b")]


# -- beside refinements ---------------------------------------------------------------------------------------------


def refinement(house, *, outcome=None, applied=False):
    """A run about `test_b`, as the server has them."""
    case = Case(id="test_m.py::test_b", path="test_m.py", line=4)
    target = Target(
        kind=TargetKind.TEST, path="test_m.py", qualname="test_b", selector=case.id, start=4, end=5, name_line=4
    )
    problem = Problem(root=house.root, spec=Spec(cases=(case,)), regions=(), originals={}, files={})
    baseline = Attempt(number=0, verdict=Verdict(status=Status.FAILED))
    started = Started(problem=problem, baseline=baseline, model="", preset="", sandbox="", attempts=5)
    phase = Phase.OVER if outcome else Phase.REFINING
    run = a_run(house.root, target, uri="test_m.py", started=started, outcome=outcome, applied=applied, phase=phase)
    house.runs._runs.append(run)
    return run


def outcome(*, solved):
    return Outcome(solved=solved, verified=Verified.VERIFIED, reason=StopReason.SOLVED, message="", attempts=())


async def test_while_a_refinement_shows_the_test_it_is_shown_once(house):
    await house.ask(selectors=("test_m.py",)).summary_future
    run = refinement(house)
    item = lsp.Diagnostic(
        range=current_range(house.documents, house.root / "m.py", 2), message="its own", code="attempt"
    )
    house.board.put(run, {house.root / "m.py": [item]})
    assert house.published["m.py"] == [(1, "attempt")]
    await house.ask(selectors=("test_m.py",)).summary_future
    assert house.published["m.py"] == [(1, "attempt")]
    house.board.put(run, {})
    assert house.published["m.py"] == [(1, "ValueError")]


async def test_what_a_refinement_has_put_right_goes(house):
    await house.ask(selectors=("test_m.py",)).summary_future
    run = refinement(house, outcome=outcome(solved=True), applied=True)
    house.board.put(run, {})
    assert house.published["m.py"] == []


async def test_a_file_can_be_collected_where_a_refinement_ran_its_tests(house):
    house.play.broken = ("test_m.py",)
    await house.ask(selectors=("test_m.py",)).summary_future
    assert house.published["test_m.py"] == [(0, "SyntaxError")]
    house.board.put(refinement(house, outcome=outcome(solved=True), applied=True), {})
    assert house.published["test_m.py"] == []


async def test_what_it_only_offers_stays(house):
    await house.ask(selectors=("test_m.py",)).summary_future
    house.board.put(refinement(house, outcome=outcome(solved=True)), {})
    assert house.published["m.py"] == [(1, "ValueError")]


async def test_what_the_user_has_mended_ends_what_an_unsolved_refinement_shows(house):
    run = refinement(house, outcome=outcome(solved=False))
    item = lsp.Diagnostic(
        range=current_range(house.documents, house.root / "m.py", 2), message="its own", code="attempt"
    )
    house.board.put(run, {house.root / "m.py": [item]})
    house.play.outcomes["test_m.py::test_b"] = "passed"
    await house.ask(selectors=("test_m.py",)).summary_future
    assert house.published["m.py"] == []


async def test_a_test_that_fails_without_an_exception_says_so(house):
    _path, item = house.failing._diagnostic(
        house.root, FailingTest(id="test_m.py::test_b", outcome="failed", path="test_m.py", line=4)
    )
    assert item.message == "test_b: failed without an exception, for example an xfail(strict=True) test that passes"


# -- examples in docstrings ----------------------------------------------------------------------------------------

ONE, TWO = "n.py::f::doctest-1", "n.py::f::doctest-2"


async def examples_of(house, *outcomes):
    """Runs the examples of a function that no test reaches."""
    house.play.outcomes = dict(zip((ONE, TWO), outcomes, strict=False))
    inner = house.play.run_tests

    async def chosen(root, selectors, **more):
        return await inner(root, [*house.play.outcomes] if selectors == ("doctest:n.py::f",) else (), **more)

    house.play.run_tests = chosen
    try:
        return await house.ask(function="f", examples=("doctest:n.py::f",)).summary_future
    finally:
        house.play.run_tests = inner


async def test_the_examples_of_a_function_are_run_where_it_is_asked_for(house):
    house.play.reach["n.py"] = "n.py"
    tally = await examples_of(house, "passed", "failed")
    assert [result.id for result in tally.results] == [ONE, TWO]
    assert house.published["m.py"] == [(1, "ValueError")]
    assert (house.results.get(house.root, "n.py", "f").passed, house.results.get(house.root, "n.py", "f").total) == (
        1,
        2,
    )


async def test_an_example_that_is_there_no_more_fails_no_more(house):
    house.play.reach["n.py"] = "n.py"
    await examples_of(house, "passed", "failed")
    await examples_of(house, "passed")
    assert house.published["m.py"] == []


async def test_examples_that_failed_run_again_when_their_file_is_saved(house):
    house.play.reach["n.py"] = "n.py"
    await examples_of(house, "failed", "failed")
    house.play.runs.clear()
    house.save("n.py")
    await house.pauses.end(SOON)
    await house.idle()
    assert [selectors for selectors, *_ in house.play.runs] == [("test_n.py",), ("doctest:n.py::f",)]


async def test_a_function_that_no_test_reaches_is_not_passed_by_others(house):
    """The tests of its module run, for one of them may reach it; that none does is what is told."""
    tally = await house.ask(function="unknown").summary_future
    assert house.play.runs
    assert tally.results == ()


# -- lines of closed files -----------------------------------------------------------------------------------------


async def test_what_ran_while_its_file_was_closed_moves_with_what_is_typed_since(house):
    """Shown anew beside a refinement, it stands where its line is by then."""
    house.play.outcomes["test_m.py::test_a"] = "failed"
    await house.ask(selectors=("test_m.py",)).summary_future
    assert house.published["m.py"] == [(1, "ValueError"), (1, "ValueError")]
    house.texts["m.py"] = "import os\n\n\n" + (house.root / "m.py").read_text()
    house.board.update(house.root / "m.py")
    assert house.published["m.py"] == [(4, "ValueError"), (4, "ValueError")]
    run = refinement(house)
    item = lsp.Diagnostic(
        range=current_range(house.documents, house.root / "m.py", 5), message="its own", code="attempt"
    )
    house.board.put(run, {house.root / "m.py": [item]})
    assert sorted(house.published["m.py"]) == [(4, "ValueError"), (4, "attempt")]
