"""The real server with an engine that plays a script, so that what editors see can be tested without model or sandbox.

The setting `model` is `play:NAME`; `test/go` lets a waiting script go on, `test/state` tells what happened inside.
"""

import asyncio
import contextlib
import ctypes
import os
import subprocess
import sys
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from conversation_attempts import BLEMISH, MANY_LOOKS, turn
from greenloop.core.errors import CannotVerifyError
from greenloop.core.events import Finished, Looked, Offered, Planned, Specified, Started, Tested, Token
from greenloop.core.generated_tests import Check, build_test_file
from greenloop.core.ports import calls_tools, context
from greenloop.core.records.attempt import Attempt, Candidate, Draft, FeedbackNote, Move
from greenloop.core.records.model import ChatRequest, Estimate, Message, ModelKind, Quantiles, Role, ToolSpec, Usage
from greenloop.core.records.outcome import Evidence, Outcome, StopReason, Verified
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Case, Provenance, Region, Spec
from greenloop.core.records.verdict import ErrorGroup, Status, Verdict
from greenloop.core.text.json_codec import to_json
from greenloop.lsp import tasks
from greenloop.lsp.connection import client
from greenloop.lsp.features import models, troubleshooting
from greenloop.lsp.presenters.diagnostics import RunDiagnostics
from greenloop.lsp.runs import apply_edit, editor_user
from greenloop.lsp.server import create_server, serve
from greenloop.models import default_model
from greenloop.models.providers import none
from greenloop_sandbox import CaseResult, Failure, Frame
from scripted_attempt import emit_attempt

TEST = "test_m.py::test_double"
ASKED = ("Is `double(5) == 11` right?", "Is `double(0) == 1` right?")
READ = ToolSpec(name="read", description="Reads a file.", parameters={"type": "object"})
OPTIONS = ("Yes", "No", "It is 10", "The right value is …", "Skip")

with contextlib.suppress(ModuleNotFoundError):  # `make core` has no plugins
    from greenloop.plugins.improve.aims import Goal
    from greenloop.plugins.improve.records import Gain, ProfiledLine


def verdict(observed, line=5, path="test_m.py"):
    if observed is None:
        return Verdict(status=Status.PASSED, cases=(CaseResult(id=TEST, outcome="passed"),), seconds=0.1)
    failure = Failure(
        type="AssertionError",
        message=f"assert {observed} == 10",
        frames=(Frame(path=path, line=line, function="test_double"),),
        text=f">       assert double(5) == 10\nE       assert {observed} == 10",
        expected="10",
        observed=str(observed),
    )
    return Verdict(status=Status.FAILED, cases=(CaseResult(id=TEST, outcome="failed", failure=failure),), seconds=0.1)


class Play:
    """One script for each name; `self.go` is what `test/go` sets."""

    def __init__(self):
        self.go = asyncio.Event()
        self.calls, self.cancelled, self.reverified, self.buffers = [], 0, [], {}
        self.user, self.answers, self.settings, self.warmed = None, [], [], 0
        self.offer, self.tool_calls, self.usages = [], [], []
        self.goals = []

    async def warm(self, root, settings, pool):
        """Needs no sandbox."""
        self.warmed += 1

    async def prepare(self, root, settings, pool):
        """Needs no sandbox."""

    async def run_tests(self, root, selectors, *, buffers, settings, pool, traced, seconds=0.0):
        """One test, red until `double` doubles; a text with WAIT in it holds it up until `test/go`."""
        from greenloop.engine.testing.run_tests import SuiteReport
        from greenloop_sandbox.report.cases import CollectedCase
        from greenloop_sandbox.report.traces import ReachedFunction

        text = (buffers.get("m.py") or (root / "m.py").read_bytes()).decode()
        self.calls.append(f"tests {' '.join(selectors)}")
        try:
            if "WAIT" in text:
                await self.go.wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        reach = (ReachedFunction(path="m.py", firstlineno=1, name="double", depth=1),)
        return SuiteReport(
            results=verdict(None if "x * 2" in text else 6).cases,
            places={TEST: CollectedCase(id=TEST, path="test_m.py", line=4)},
            reach={TEST: reach} if traced else {},
            files=tuple(each for each in selectors if "::" not in each),
            seconds=0.1,
        )

    async def refine(
        self, request, *, settings, emit, report_status=lambda _text: None, user=None, opener=None, pool=None
    ):
        name = settings.model.partition(":")[2] or "solve"
        if not settings.model and "--without-model" in sys.argv:
            name = (await default_model.choose(settings)).partition(":")[2] or "modelless"
        name = "asked" if settings.model.partition("/")[0] in ("editor", "openai") else name
        self.user, self.opener = user, opener
        self.settings.append([request.root.name, settings.preset, settings.interpreter, settings.attempts])
        self.calls.append(getattr(request.target, "selector", request.target))
        if request.aim is not None or request.comment:
            self.goals.append([request.aim and request.aim.options["goal"], request.comment])
            name = "improve"
        self.buffers = {path: data.decode("latin-1") for path, data in request.buffers.items()}
        try:
            return await getattr(self, name)(request, settings, emit, report_status)
        except asyncio.CancelledError:
            self.cancelled += 1
            raise

    async def reverify(self, problem, files, *, settings):
        self.reverified.append({path: data.decode() for path, data in files.items()})
        if any(b"HOLD" in data for data in files.values()):
            await asyncio.Event().wait()
        return verdict(7 if any(b"BREAK" in data for data in files.values()) else None)

    # -- scripts --------------------------------------------------------------------------------------------------

    def problem(self, request):
        root = request.root
        texts = {name: (root / name).read_bytes().decode("utf-8-sig") for name in ("m.py", "test_m.py")}
        texts |= {path: data.decode() for path, data in request.buffers.items()}
        case = Case(id=TEST, path="test_m.py", line=4)
        rows = texts["m.py"].splitlines()
        start = next(row for row, text in enumerate(rows, 1) if text.startswith("def double"))
        region = Region(path="m.py", qualname="double", start=start, end=start + 1)
        return Problem(
            root=root,
            spec=Spec(cases=(case,), selectors=(TEST,)),
            regions=(region,),
            originals=texts,
            files=texts,
            buffers=request.buffers,
        )

    def body(self, problem, expression):
        end = "\r\n" if "\r\n" in problem.files["m.py"] else "\n"
        return f"def double(x):{end}    return {expression}{end}"

    def start(self, request, settings, emit, **more):
        problem = self.problem(request)
        baseline = Attempt(number=0, verdict=verdict(6), error_class="AssertionError", group=ErrorGroup.LOGIC)
        emit(
            Started(
                problem=problem,
                baseline=baseline,
                model=settings.model,
                preset=settings.preset,
                sandbox="play",
                attempts=settings.attempts or 5,
                **more,
            )
        )
        return problem, baseline

    def attempt(self, problem, emit, number, expression, result, notes=()):
        return emit_attempt(problem, emit, number, self.body(problem, expression), result, "play", notes)

    def outcome(self, problem, attempts, *, solved=True, verified=Verified.VERIFIED, expression="x * 2", **more):
        region, text = problem.regions[0], problem.files["m.py"]
        rows = text.splitlines(keepends=True)
        rows[region.start - 1 : region.end] = [self.body(problem, expression)]
        return Outcome(
            **{
                "solved": solved,
                "verified": verified,
                "reason": StopReason.SOLVED if solved else StopReason.ATTEMPTS,
                "message": "",
                "attempts": tuple(attempts),
                "best": attempts[-1].number,
                "before": {"m.py": problem.originals["m.py"]},
                "after": {"m.py": "".join(rows)},
                "evidence": Evidence(sandbox="play", cases={"user": (1, 1)} if solved else {}, neighbours_unchanged=3),
                **more,
            }
        )

    async def modelless(self, request, settings, emit, report_status):
        """Tries one-token changes without success; then there is no model to ask."""
        problem, baseline = self.start(request, settings, emit)
        error = none.needed()
        more = {"solved": False, "reason": StopReason.MODEL, "message": error.advice, "best": None, "after": {}}
        outcome = self.outcome(problem, [baseline], verified=Verified.UNVERIFIED, **more, run=None)
        emit(Finished(outcome=outcome))
        return outcome

    async def solve(self, request, settings, emit, report_status, wait="", **more):
        report_status("running the tests unchanged")
        problem, baseline = self.start(request, settings, emit)
        attempts = [baseline, self.attempt(problem, emit, 1, "x * 3", verdict(15))]
        if wait == "middle":
            await self.go.wait()
        attempts.append(self.attempt(problem, emit, 2, "x * 2", verdict(None)))
        outcome = self.outcome(problem, attempts, **more)
        if wait == "end":
            report_status("waiting for go")
            await self.go.wait()
        emit(Finished(outcome=outcome))
        return outcome

    async def offered(self, request, settings, emit, report_status, refused=False):
        """A result that is offered while related tests go on; `refused`: one of them fails with it in the end."""
        problem, baseline = self.start(request, settings, emit)
        attempts = [baseline, self.attempt(problem, emit, 1, "x * 2", verdict(None))]
        evidence = Evidence(sandbox="play", cases={"user": (1, 1)}, neighbours_unchanged=3, neighbours_left_out=51)
        emit(Offered(outcome=self.outcome(problem, attempts, verified=Verified.PARTIALLY, evidence=evidence)))
        await self.go.wait()
        if refused:
            failing = Verdict(status=Status.FAILED, reason="The target passes, but 1 other test(s) now fail: test_o.")
            emit(Tested(attempt=replace(attempts[1], verdict=failing, refused=True)))
            await asyncio.Event().wait()
        outcome = self.outcome(problem, attempts)
        emit(Finished(outcome=outcome))
        return outcome

    async def refusedoffer(self, *arguments):
        return await self.offered(*arguments, refused=True)

    async def asked(self, request, settings, emit, report_status):
        """What the model of the settings answers, as a run asks it."""
        problem, baseline = self.start(request, settings, emit)
        model = self.opener(settings.model, settings)
        messages = (Message(role="system", content="You mend."), Message(role="user", content="Double x."))
        completion = ChatRequest(messages=messages, max_tokens=100, temperature=0.5, stop=("STOP",), tools=(READ,))
        self.offer, told = [calls_tools(model), context(model)], []

        def token(piece):
            told.append(piece)
            emit(Token(attempt=1, text=piece, count=len(told)))

        times = 2 if settings.model.endswith("/twice") else 1
        try:
            replies = await asyncio.gather(*(model.complete(completion, token) for _ in range(times)))
            while replies[0].calls:
                completion = self.with_results(completion, replies[0])
                replies = [await model.complete(completion, token)]
        finally:
            await model.close()
        self.answers.append([replies[0].text, replies[0].model, replies[0].finish, told])
        first = self.attempt(problem, emit, 1, replies[0].text, verdict(None))
        first = replace(first, model=replies[0].model, usage=replies[0].usage)
        emit(Tested(attempt=first))
        outcome = self.outcome(problem, [baseline, first])
        emit(Finished(outcome=outcome))
        return outcome

    def with_results(self, completion, reply):
        """The next request of a conversation: a result for each call."""
        self.tool_calls += [[call.id, call.name, call.arguments] for call in reply.calls]
        self.usages.append([reply.usage.completion_tokens, reply.finish])
        results = (Message(role="tool", content=f"{call.name} ran", call_id=call.id) for call in reply.calls)
        answer = Message(role="assistant", content=reply.text, calls=reply.calls)
        return replace(completion, messages=(*completion.messages, answer, *results))

    async def looks(self, request, settings, emit, report_status):
        """A capable model that looks at the project before it answers once."""
        problem, baseline = self.start(request, settings, emit, kind=ModelKind.CAPABLE)
        emit(Planned(attempt=1, draft=turn(1).draft, model=settings.model, prompt_tokens=500))
        for look in MANY_LOOKS:
            emit(Looked(attempt=1, look=look))
        await self.go.wait()
        red = "test_m.py::test_red"
        candidate = Candidate(texts={problem.regions[0]: self.body(problem, "x * 2")})
        one = turn(
            1,
            *MANY_LOOKS,
            candidate=candidate,
            model=settings.model,
            blemishes=(BLEMISH,),
            verdict=replace(verdict(None), turned_green=("test_m.py::test_other",), still_red=(red,)),
            accepted=True,
        )
        emit(Tested(attempt=one))
        outcome = self.outcome(problem, [baseline, one], withdrawn=Usage(prompt_tokens=500, cost=0.001))
        fixed = {"also_fixed": ("test_m.py::test_other",), "still_red": (red,), "neighbours_already_failing": 2}
        outcome = replace(outcome, evidence=replace(outcome.evidence, **fixed))
        emit(Finished(outcome=outcome))
        return outcome

    async def hold(self, request, settings, emit, report_status):
        return await self.solve(request, settings, emit, report_status, wait="middle")

    async def holdend(self, request, settings, emit, report_status):
        return await self.solve(request, settings, emit, report_status, wait="end")

    async def partial(self, request, settings, emit, report_status):
        return await self.solve(request, settings, emit, report_status, verified=Verified.PARTIALLY)

    async def imports(self, request, settings, emit, report_status):
        evidence = Evidence(sandbox="play", cases={"user": (1, 1)}, warnings=("It newly imports os in m.py.",))
        return await self.solve(request, settings, emit, report_status, evidence=evidence)

    async def asks(self, request, settings, emit, report_status):
        """Two questions, as a run asks them."""
        problem, baseline = self.start(request, settings, emit)
        for text in ASKED[: settings.ask]:
            option = await self.user.choose(text, OPTIONS)
            typed = option is not None and option.endswith("…")
            self.answers.append([option, await self.user.correct(text, "11") if typed else None])
        outcome = self.outcome(problem, [baseline, self.attempt(problem, emit, 1, "x * 2", verdict(None))])
        emit(Finished(outcome=outcome))
        return outcome

    async def specified(self, request, settings, emit, report_status, **more):
        """A function whose docstring became tests: two of them stay, one is voted down."""
        problem = self.problem(request)
        region = problem.regions[0]
        bodies = ("assert double(2) == 4", "assert double(0) == 1", 'assert double("a") == "aa"')
        checks = [Check(body=body, line=1, provenance=Provenance.DESIGNED, batch="1") for body in bodies]
        yes = [Check(body="assert double(7) == 14", line=1, provenance=Provenance.CONFIRMED)]
        spec = build_test_file(region, "m", "designed", checks) + build_test_file(region, "m", "confirmed", yes)
        spec = replace(spec, doubts=("The docstring does not say what double(None) is.",))
        emit(Specified(spec=spec))
        if more.get("wait"):
            await self.go.wait()
        problem, baseline = self.start(request, settings, emit)
        if more.get("stuck"):
            attempts = [baseline, self.attempt(problem, emit, 1, "x * 3", verdict(15))]
            outcome = self.outcome(problem, attempts, solved=False, verified=Verified.UNVERIFIED, expression="x * 3")
        else:
            lost = replace(spec, cases=(spec.cases[0], *spec.cases[2:]), outvoted=(spec.cases[1],))
            emit(Specified(spec=lost, reason="2 of 3 generated tests are trusted."))
            attempts = [baseline, self.attempt(problem, emit, 1, "x * 2", verdict(None))]
            evidence = Evidence(sandbox="play", cases={"designed": (2, 3)})
            outcome = self.outcome(problem, attempts, verified=Verified.PARTIALLY, evidence=evidence)
        emit(Finished(outcome=outcome))
        return outcome

    async def specifiedstuck(self, request, settings, emit, report_status):
        return await self.specified(request, settings, emit, report_status, stuck=True)

    async def specifying(self, request, settings, emit, report_status):
        return await self.specified(request, settings, emit, report_status, wait=True)

    async def stuck(self, request, settings, emit, report_status):
        problem, baseline = self.start(request, settings, emit)
        attempts = [baseline, self.attempt(problem, emit, 1, "x * 3", verdict(15))]
        outcome = self.outcome(problem, attempts, solved=False, verified=Verified.UNVERIFIED, expression="x * 3")
        emit(Finished(outcome=outcome))
        return outcome

    async def alsofixed(self, request, settings, emit, report_status):
        """A result for another test, with which this one passes too."""
        other = "test_m.py::test_other"
        make = self.problem
        spec = Spec(cases=(Case(id=other, path="test_m.py", line=4),), selectors=(other,))
        self.problem = lambda request: replace(make(request), spec=spec)
        evidence = Evidence(sandbox="play", cases={"user": (1, 1)}, also_fixed=(TEST,), neighbours_already_failing=1)
        return await self.solve(request, settings, emit, report_status, evidence=evidence)

    async def unreadable(self, request, settings, emit, report_status):
        """An answer that holds no code."""
        problem, baseline = self.start(request, settings, emit)
        said = Verdict(status=Status.NOT_COLLECTED, reason="The answer holds no code.")
        first = replace(self.attempt(problem, emit, 1, "x", said), answer="No.", candidate=None, error_class="NoCode")
        emit(Tested(attempt=first))
        outcome = self.outcome(problem, [baseline, first], solved=False, best=None, after={})
        emit(Finished(outcome=outcome))
        return outcome

    async def many(self, request, settings, emit, report_status):
        """A test with three hundred parameters, all of which fail."""
        ids = [f"{TEST}[{number}]" for number in range(300)]
        problem, (result,) = self.problem(request), verdict(15).cases
        spec = Spec(cases=tuple(Case(id=each, path="test_m.py", line=4) for each in ids), selectors=(TEST,))
        failed = Verdict(status=Status.FAILED, cases=tuple(replace(result, id=each) for each in ids))
        problem = replace(problem, spec=spec)
        baseline = Attempt(number=0, verdict=failed, error_class="AssertionError", group=ErrorGroup.LOGIC)
        names = {"model": settings.model, "preset": settings.preset, "sandbox": "play", "attempts": 5}
        emit(Started(problem=problem, baseline=baseline, **names))
        attempts = [baseline, self.attempt(problem, emit, 1, "x * 3", failed)]
        outcome = self.outcome(problem, attempts, solved=False, verified=Verified.UNVERIFIED, expression="x * 3")
        emit(Finished(outcome=outcome))
        return outcome

    async def tampered(self, request, settings, emit, report_status):
        """A faked pass: every case of it is green."""
        problem, baseline = self.start(request, settings, emit)
        faked = replace(verdict(None), status=Status.TAMPERED, reason=f"{TEST} does not fail as it must.")
        attempts = [baseline, self.attempt(problem, emit, 1, "Liar(x)", faked)]
        outcome = self.outcome(problem, attempts, solved=False, verified=Verified.UNVERIFIED, best=None, after={})
        emit(Finished(outcome=outcome))
        return outcome

    async def candidate(self, request, settings, emit, report_status):
        """Fails inside the attempt's own code, whose lines the user's file does not have."""
        problem, baseline = self.start(request, settings, emit)
        result = verdict(15, line=2, path="m.py")
        failure = result.cases[0].failure
        frames = (Frame(path="test_m.py", line=5, function="test_double"), *failure.frames)
        cases = (replace(result.cases[0], failure=replace(failure, frames=frames)),)
        attempts = [baseline, self.attempt(problem, emit, 1, "x * 3", replace(result, cases=cases))]
        outcome = self.outcome(problem, attempts, solved=False, expression="x * 3")
        emit(Finished(outcome=outcome))
        return outcome

    async def create(self, request, settings, emit, report_status):
        more = {"before": {"fresh.py": None}, "after": {"fresh.py": "def fresh():\n    return 1\n"}}
        return await self.solve(request, settings, emit, report_status, **more)

    async def tests(self, request, settings, emit, report_status):
        """Solved, with tests written into a file that is there and into a new one."""
        old = self.problem(request).files
        more = {
            "before": {"m.py": old["m.py"], "test_m.py": old["test_m.py"], "tests/test_new.py": None},
            "after": {
                "m.py": "def double(x):\n    return x * 2\n",
                "test_m.py": old["test_m.py"] + "\n\ndef test_double_of_0():\n    assert double(0) == 0\n",
                "tests/test_new.py": "from m import double\n\n\ndef test_double_of_1():\n    assert double(1) == 2\n",
            },
        }
        return await self.solve(request, settings, emit, report_status, **more)

    async def foreseen(self, request, settings, emit, report_status):
        """Says what is to come, and waits."""
        known = Estimate(
            prompt_tokens=300,
            tokens=Quantiles(400, 912, 3219),
            seconds=Quantiles(8, 14, 55),
            cost=Quantiles(0.0, 0.0, 0.0),
            runs=34,
            solved=24,
        )
        problem, baseline = self.start(request, settings, emit, estimate=known)
        await self.go.wait()
        return self.outcome(problem, [baseline, self.attempt(problem, emit, 1, "x * 2", verdict(None))])

    async def flood(self, request, settings, emit, report_status):
        """A model that writes fast."""
        problem, baseline = self.start(request, settings, emit)
        draft = Draft(parent=0, move=Move.DRAFT, role=Role.DRAFTER)
        emit(Planned(attempt=1, draft=draft, model="play", prompt_tokens=300))
        for count in range(2000):
            emit(Token(attempt=1, text="x", count=count + 1))
            await asyncio.sleep(0)
        await self.go.wait()
        attempts = [baseline, self.attempt(problem, emit, 1, "x * 2", verdict(None))]
        outcome = self.outcome(problem, attempts)
        emit(Finished(outcome=outcome))
        return outcome

    async def green(self, request, settings, emit, report_status):
        baseline = Attempt(number=0, verdict=verdict(None))
        return Outcome(
            solved=True, verified=Verified.VERIFIED, reason=StopReason.ALREADY_GREEN, message="", attempts=(baseline,)
        )

    async def improve(self, request, settings, emit, report_status):
        """An attempt that is not faster, and one that is."""
        problem = self.problem(request)
        cases = (*problem.spec.cases, Case(id="m.py::double::faster", path="m.py", line=1, provenance=Provenance.GOAL))
        problem = replace(problem, spec=replace(problem.spec, cases=cases))
        slow = Failure(type="NotFaster", message="What calls it takes 41 ms now.")
        missed = Verdict(
            status=Status.FAILED,
            cases=(*verdict(None).cases, CaseResult(id="m.py::double::faster", outcome="failed", failure=slow)),
        )
        baseline = Attempt(number=0, verdict=missed, error_class="NotFaster", group=ErrorGroup.LOGIC)
        names = {"model": settings.model, "preset": "improve", "sandbox": "play", "attempts": 8}
        emit(Started(problem=problem, baseline=baseline, **names))
        await self.go.wait()
        gain = Gain(goal=Goal.TIME, before=0.041, after=0.006, ratio=0.15, low=0.13, high=0.17, pairs=9)
        first = self.attempt(problem, emit, 1, "x + x", replace(verdict(None), data={"improve": to_json(gain)}))
        old = ProfiledLine(line=2, text="    return x * 2", times=6000, cost=0.04)
        new = ProfiledLine(line=2, text="    return x + x", times=6000, cost=0.004)
        gain = replace(gain, lines_before=(old,), lines_after=(new,))
        cases = {"user": (12, 12), "goal": (2, 2)}
        evidence = Evidence(sandbox="play", cases=cases, neighbours_unchanged=31, data={"improve": to_json(gain)})
        outcome = self.outcome(problem, [baseline, first], expression="x + x", evidence=evidence)
        emit(Finished(outcome=outcome))
        return outcome

    async def fewer(self, request, settings, emit, report_status):
        """Takes away one of two lines that are the same."""
        old = self.problem(request).files["m.py"]
        more = {"before": {"m.py": old}, "after": {"m.py": old.replace("    x += x\n", "", 1)}}
        return await self.solve(request, settings, emit, report_status, wait="end", **more)

    async def stubborn(self, request, settings, emit, report_status):
        """Does not end when it is cancelled."""
        self.start(request, settings, emit)
        while True:
            with suppress(asyncio.CancelledError):
                await asyncio.Event().wait()

    async def refuse(self, request, settings, emit, report_status):
        raise CannotVerifyError("No sandbox can be used here.", remedy="Install bubblewrap.")

    async def crash(self, request, settings, emit, report_status):
        raise RuntimeError("boom")

    async def noise(self, request, settings, emit, report_status):
        print("loading...", end="", flush=True)  # noqa: T201 - the noise under test
        os.write(1, b"raw bytes on descriptor 1")
        await asyncio.to_thread(subprocess.run, ["sh", "-c", "printf child; cat"], check=True)
        return await self.solve(request, settings, emit, report_status)

    async def din(self, request, settings, emit, report_status):
        """Every way past `sys.stdout` to descriptor 1."""
        print("print without end", end="")  # noqa: T201 - the noise under test
        sys.stdout.buffer.write(b"print to buffer")
        sys.stdout.flush()
        os.write(1, b"bytes to 1")
        library = ctypes.CDLL(None)
        library.puts(b"puts of C")
        library.fflush(None)
        os.system("printf 'os.system'")
        command = [sys.executable, "-c", "import os; os.write(1, b'child to 1'); assert os.read(0, 1) == b''"]
        await asyncio.to_thread(subprocess.run, command, check=True)
        return await self.solve(request, settings, emit, report_status)

    async def explained(self, request, settings, emit, report_status):
        problem, baseline = self.start(request, settings, emit)
        why = "It multiplies by three ![x](http://x/y.png). " * 4
        note = FeedbackNote(text=why, fields={"explanation": why}, usage=Usage(prompt_tokens=70, completion_tokens=10))
        attempts = [baseline, self.attempt(problem, emit, 1, "x * 3", verdict(15), notes=(note,))]
        outcome = self.outcome(problem, attempts, solved=False, verified=Verified.UNVERIFIED, expression="x * 3")
        emit(Finished(outcome=outcome))
        return outcome

    async def controls(self, request, settings, emit, report_status):
        problem, baseline = self.start(request, settings, emit)
        nasty = "\x1b[31mred\x1b[0m ``` ![x](http://x/y.png) | [a](command:b) \u202e"
        failure = Failure(type="ValueError", message=nasty, text=nasty)
        result = Verdict(status=Status.FAILED, cases=(CaseResult(id=TEST, outcome="failed", failure=failure),))
        attempts = [baseline, replace(self.attempt(problem, emit, 1, "x  # ````", result), error_class="ValueError")]
        outcome = self.outcome(problem, attempts, solved=False, expression="x  # ````")
        emit(Finished(outcome=outcome))
        return outcome


def without_model(go=None):
    """No model is there until one was downloaded, which takes two reports; `go` is waited for in between."""
    from greenloop.plugins.embedded import hardware, weights

    found = []

    async def choose(_settings):
        return found[0] if found else ""

    async def pull(progress, **_model):
        progress(1 << 20, 1 << 30)
        if go is not None:
            await go.wait()
        progress(1 << 30, 1 << 30)
        found.append("play:solve")

    default_model.choose, weights.pull, hardware.check = choose, pull, lambda _model, _settings: None
    weights.downloaded_file = lambda *_: Path("/models/weights.gguf") if found else None


async def harmless(*_arguments):
    """In place of commands that download a gigabyte, or try out every sandbox: some tests send all there are."""
    return "done"


def examined(go):
    """The doctor finds the same everywhere, and what it was told of the editor; it waits for `go`."""
    from greenloop.engine.doctor import report

    async def examine(root, settings, *, promises, editor):
        await go.wait()
        row = report.DoctorFinding(part="model", name=settings.model, ok=True, detail=f"{editor} | `x`", remedy="")
        return [row, report.DoctorFinding(part="sandbox", name="play", ok=False, detail="broken", remedy="Mend it.")]

    report.examine = examine


def unshowable():
    """What a run that is over shows cannot be told."""
    publish = RunDiagnostics.publish

    def broken(self, run):
        if not run.running:
            raise RuntimeError("unshowable")
        publish(self, run)

    RunDiagnostics.publish = broken


def main():
    play = Play()
    if "--without-model" not in sys.argv:
        models.pull = troubleshooting.examine = harmless
    if "--without-model" in sys.argv:
        without_model(play.go if "--slowly" in sys.argv else None)
    if "--examined" in sys.argv:
        examined(play.go)
    if "--in-a-hurry" in sys.argv:
        editor_user.SHOWN = editor_user.BY_ACTION = 0.3
    if "--impatient" in sys.argv:
        client.SOON = apply_edit.REPLY = apply_edit.LATE = tasks.CLEANUP = 0.5
    if "--unshowable" in sys.argv:
        unshowable()
    server = create_server(engine=play)

    @server.feature("test/go")
    def go(_params):
        play.go.set()

    @server.feature("test/settled")
    async def settled(_params):
        """Answers when nothing goes on in the background."""
        await server.parts.tasks.wait()

    @server.feature("test/state")
    def state(_params):
        inner = server.protocol
        return {
            "calls": play.calls,
            "cancelled": play.cancelled,
            "answers": play.answers,
            "offer": play.offer,
            "tool calls": play.tool_calls,
            "usages": play.usages,
            "settings": play.settings,
            "goals": play.goals,
            "warmed": play.warmed,
            "reverified": play.reverified,
            "buffers": play.buffers,
            "futures": len(inner._request_futures),
            "types": len(inner._result_types),
            "tokens": len(server.work_done_progress.tokens),
            "tasks": len(server.parts.tasks),
            "modules": sorted({name.split(".")[0] for name in sys.modules} & {"litellm", "docker"}),
        }

    return serve(server)


if __name__ == "__main__":
    sys.exit(main())
