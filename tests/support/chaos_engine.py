"""The random editor's engine, without model and sandbox: what comes of a request is thrown by seed."""

import asyncio
import random
import re
from dataclasses import replace

from greenloop.core.errors import CannotVerifyError
from greenloop.core.events import Finished, Started
from greenloop.core.records.attempt import Attempt
from greenloop.core.records.outcome import Evidence, Outcome, StopReason, Verified
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Case, Region, Spec
from greenloop.core.records.verdict import ErrorGroup, Status, Verdict
from greenloop.core.text.diff import main_line_end, split_lines
from greenloop.engine.testing.run_tests import SuiteReport
from greenloop.project.syntax import definitions
from greenloop_sandbox import CaseResult, Failure, Frame
from greenloop_sandbox.report.cases import CollectedCase
from greenloop_sandbox.report.traces import ReachedFunction
from scripted_attempt import emit_attempt

VALUE = re.compile(r"(    value = )\w+")
ENDS = {"solve": 40, "partial": 14, "unsolved": 18, "asks": 7, "refuse": 6, "crash": 4, "green": 4, "slow": 7}
SHAPES = {"value": 60, "insert": 14, "delete": 8, "tests": 10, "create": 8}


def weighted(dice, table):
    return dice.choices(list(table), list(table.values()))[0]


class Boom(Exception):
    """The engine's own crash; the log names only the class, which must not look like an error of the server's own."""


class Dice:
    """An engine without model and sandbox. It changes nothing but what `mine` knows, so that losses can be told."""

    def __init__(self, seed):
        self.seed, self.count = seed, 0

    async def warm(self, root, settings, pool):
        """Needs no sandbox."""

    async def prepare(self, root, settings, pool):
        """Needs no sandbox."""

    async def run_tests(self, root, selectors, *, buffers, settings, pool, traced, seconds=0.0):
        """Runs each test that is there, which passes or fails by dice."""
        dice = self.dice("tests")
        await asyncio.sleep(dice.choice((0, 0.01, 0.1)))
        cases = []
        for selector in selectors:
            path, _, name = selector.partition("::")
            text = _text(root, path, buffers) or ""
            found = [each for each in definitions.find_definitions(text, path) if each.name.startswith("test")]
            cases += [Case(id=f"{path}::{e.name}", path=path, line=e.end) for e in found if name in ("", e.name)]
        reach = {case.id: (ReachedFunction(path=case.path, firstlineno=1, name="f0", depth=1),) for case in cases}
        return SuiteReport(
            results=tuple(_verdict(case, dice.choice((None, 1))).cases[0] for case in cases),
            places={case.id: CollectedCase(id=case.id, path=case.path, line=case.line) for case in cases},
            reach=reach if traced else {},
            files=tuple(each for each in selectors if "::" not in each),
            seconds=0.1,
        )

    async def reverify(self, problem, files, *, settings):
        dice = self.dice("reverify")
        await asyncio.sleep(dice.choice((0, 0, 0.02)))
        return _verdict(problem.spec.cases[0], None if dice.random() < 0.75 else 1)

    def dice(self, what):
        self.count += 1
        return random.Random(f"{self.seed}:{self.count}:{what}")

    async def refine(
        self, request, *, settings, emit, report_status=lambda _text: None, user=None, opener=None, pool=None
    ):
        dice = self.dice(getattr(request.target, "selector", request.target))
        number, end = self.count, weighted(dice, ENDS)
        report_status("starting")
        await asyncio.sleep(dice.choice((0, 0, 0.01, 0.05)))
        problem = _problem(request)
        if end == "refuse":
            raise CannotVerifyError("No sandbox can be used here.", remedy="Install bubblewrap.")
        if end == "crash":
            raise Boom
        case = problem.spec.cases[0]
        attempts = [Attempt(number=0, verdict=_verdict(case, 1), error_class="AssertionError", group=ErrorGroup.LOGIC)]
        emit(
            Started(
                problem=problem,
                baseline=attempts[0],
                model="dice",
                preset=settings.preset,
                sandbox="dice",
                attempts=settings.attempts or 5,
            )
        )
        if end == "asks":
            await user.choose(f"Is {number} right?", ("Yes", "No", "The right value is …"))
        if end == "slow":
            await asyncio.sleep(dice.uniform(0.2, 0.6))
        for n in range(1, dice.randint(2, 4)):
            await asyncio.sleep(dice.choice((0, 0, 0.005, 0.03)))
            attempts.append(_attempt(problem, emit, n, f"W{number}", _verdict(case, 1)))
        unsolved = end in ("unsolved", "green")
        if not unsolved:
            attempts.append(_attempt(problem, emit, len(attempts), f"R{number}", _verdict(case, None)))
        after = _after(problem, dice, number, weighted(dice, SHAPES))
        outcome = Outcome(
            solved=not unsolved,
            verified=Verified.PARTIALLY if end == "partial" else Verified.VERIFIED,
            reason=StopReason.ATTEMPTS if unsolved else StopReason.SOLVED,
            message="",
            attempts=tuple(attempts),
            best=len(attempts) - 1,
            before={path: problem.originals.get(path) for path in after},
            after=after,
            evidence=Evidence(sandbox="dice", cases={"user": (1, 1)}),
        )
        if end == "green":
            outcome = replace(outcome, solved=True, reason=StopReason.ALREADY_GREEN, before={}, after={})
        emit(Finished(outcome=outcome))
        return outcome


def _text(root, path, buffers):
    if path in buffers:
        return buffers[path].decode()
    return (root / path).read_bytes().decode() if (root / path).is_file() else None


def _problem(request):
    target, root = request.target, request.root
    path, _, name = getattr(target, "selector", target).partition("::")
    folder, _, file = path.rpartition("/")
    file, name = file.removeprefix("test_"), name.split("::")[-1].removeprefix("test_")
    module, tests = (f"{folder}/{each}".lstrip("/") for each in (file, f"test_{file}"))
    texts = {}
    for each in (module, tests):
        text = _text(root, each, request.buffers)
        if text is not None:
            texts[each] = text
    found = definitions.find_by_qualname(definitions.find_definitions(texts.get(module, ""), module), name)
    if found is None or not VALUE.search("".join(split_lines(texts[module])[found.start - 1 : found.end])):
        raise CannotVerifyError(f"There is no function {name} in {module}.", remedy="Write it.")
    test = definitions.find_by_qualname(definitions.find_definitions(texts.get(tests, ""), tests), f"test_{name}")
    case = Case(id=f"{tests}::test_{name}", path=tests, line=test.end if test else 1)
    return Problem(
        root=root,
        spec=Spec(cases=(case,), selectors=(case.id,)),
        regions=(Region(path=module, qualname=name, start=found.start, end=found.end),),
        originals=texts,
        files=texts,
        buffers=request.buffers,
    )


def _verdict(case, observed):
    if observed is None:
        return Verdict(status=Status.PASSED, cases=(CaseResult(id=case.id, outcome="passed"),), seconds=0.1)
    frames = (Frame(path=case.path, line=case.line, function=case.id.split("::")[-1]),)
    failure = Failure(type="AssertionError", message=f"assert {observed} == 10", frames=frames, text="E assert")
    return Verdict(
        status=Status.FAILED, cases=(CaseResult(id=case.id, outcome="failed", failure=failure),), seconds=0.1
    )


def _attempt(problem, emit, number, value, verdict):
    region = problem.regions[0]
    rows = split_lines(problem.files[region.path])
    body = VALUE.sub(rf"\g<1>{value}", "".join(rows[region.start - 1 : region.end]), count=1)
    return emit_attempt(problem, emit, number, body, verdict, "dice")


def _after(problem, dice, number, shape):
    region = problem.regions[0]
    text = problem.originals[region.path]
    rows = split_lines(text)
    body = VALUE.sub(rf"\g<1>R{number}", "".join(rows[region.start - 1 : region.end]), count=1)
    rows[region.start - 1 : region.end] = split_lines(body)
    after, mark, end = {}, f"# L{number}", main_line_end(text)
    made = [n for n, row in enumerate(rows[:-1]) if re.fullmatch(r"# L\d+", row.rstrip("\r\n"))]
    if shape == "insert":
        rows.insert(dice.randrange(len(rows)), mark + end)
    elif shape == "delete" and made:
        del rows[dice.choice(made)]
    elif shape == "tests" and problem.originals.get(problem.spec.cases[0].path):
        path = problem.spec.cases[0].path
        old = problem.originals[path]
        gap = "" if split_lines(old)[-1].endswith(("\r", "\n")) else main_line_end(old)
        after[path] = old + gap + mark + main_line_end(old)
    elif shape == "create":
        after[f"new_{number}.py"] = mark + "\n"
    return {region.path: "".join(rows), **after}
