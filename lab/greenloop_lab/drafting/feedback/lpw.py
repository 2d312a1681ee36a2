"""The planner of LPW (arXiv 2411.14503), and where a run first leaves its plan.

Before any code: a plan, and for every shown test the values that its variables are to have, the plan's verification. A
verification that does not end with what its test wants is asked for once more, and is not used if it still does not.
After a failure the failing test is traced, and the first value that is not the plan's is reported: variable, line,
expected and observed. Stages that `planner.skip` may leave out: `verification` and `divergence`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field

from greenloop.core.ports import Tools
from greenloop.core.records.attempt import Attempt, FeedbackNote
from greenloop.core.records.model import Usage
from greenloop.core.records.problem import Problem
from greenloop.drafting.feedback._failing_lines import attempt_sources
from greenloop.drafting.feedback._value_diff import shorten
from greenloop_lab.drafting.feedback import runtime_trace
from greenloop_lab.drafting.feedback._critic import worth_asking
from greenloop_lab.drafting.feedback._divergence import RAISED, Divergence, first_divergence
from greenloop_lab.drafting.feedback._expected_values import Expected, contradictions, parse_expected
from greenloop_lab.drafting.feedback._plans import (
    EMPTY,
    ShownTest,
    ask_planner,
    is_skipped,
    make_note,
    read_plan,
    shown_tests,
)
from greenloop_sandbox.report.traces import line_traces

STAGES = ("verification", "divergence")
TOKENS = 400  # of a verification
VALUE = 100  # maximum characters of one value that is told


@dataclass(frozen=True, kw_only=True)
class VerifiedPlan:
    """A plan with the values that it expects by test; `unparsable` is the answer that could not be read."""

    plan: str
    expected: Mapping[str, Expected] = field(default_factory=dict)
    usage: Usage = Usage()
    unparsable: str = ""

    def verification(self, tests: Sequence[ShownTest]) -> str:
        """The expected values in rows below their tests."""
        shown = [(test, self.expected[test.case]) for test in tests if test.case in self.expected]
        rows = [[test.text, *(f"    {name} = {value}" for name, value in pairs)] for test, pairs in shown]
        return "\n".join(row for each in rows for row in each)


async def describe(problem: Problem, attempts: Sequence[Attempt], tools: Tools) -> FeedbackNote:
    """A verified plan for the user's own code; the first divergence from it for an attempt that was run."""
    return await describe_with_plans(problem, attempts, tools, temperatures=(0.0,))


async def describe_with_plans(
    problem: Problem, attempts: Sequence[Attempt], tools: Tools, *, temperatures: Sequence[float]
) -> FeedbackNote:
    """As `describe`, with a plan for each temperature."""
    if attempts[-1].number:
        return await _describe_divergence(problem, attempts, tools)
    made = [await make_plan(problem, attempts[0], tools, temperature) for temperature in temperatures]
    plans = list({each.plan: each for each in made if each.plan}.values())
    tests = shown_tests(problem)
    artefacts: dict[str, str] = {}
    hints = []
    for number, each in enumerate(plans, 1):
        suffix = f" {number}" if len(plans) > 1 else ""
        verification = each.verification(tests)
        artefacts |= {f"plan{suffix}": each.plan, f"verification{suffix}": verification}
        hints.append(f"{each.plan}\n\nExpected values:\n{verification}" if verification else each.plan)
    unparsable = "" if plans and all(each.plan for each in made) else made[-1].unparsable
    unparsable = unparsable or next((each.unparsable for each in plans if each.unparsable), "")
    expected = [{case: list(pairs) for case, pairs in each.expected.items()} for each in plans]
    return make_note(hints, artefacts, sum((each.usage for each in made), Usage()), unparsable, expected=expected)


async def make_plan(problem: Problem, attempt: Attempt, tools: Tools, temperature: float) -> VerifiedPlan:
    """Asks for a plan and its verification; a part that cannot be read is left out."""
    reply = await ask_planner(problem, attempt, tools, "plan", temperature=temperature)
    plan, tests = read_plan(reply.text), shown_tests(problem)
    if not plan or not tests or is_skipped(tools, "verification"):
        return VerifiedPlan(plan=plan, usage=reply.usage, unparsable="" if plan else reply.text or EMPTY)
    verified = await ask_planner(problem, attempt, tools, "lpw_verify", tokens=TOKENS, plan=plan, wrong="")
    expected, usage = parse_expected(verified.text, tests), reply.usage + verified.usage
    if wrong := contradictions(expected, tests):
        rows = [_refute(*each) for each in wrong]
        text = "\n".join(["An earlier answer was wrong.", *rows])
        verified = await ask_planner(problem, attempt, tools, "lpw_verify", tokens=TOKENS, plan=plan, wrong=text)
        expected, usage = {**expected, **parse_expected(verified.text, tests)}, usage + verified.usage
        refuted = {test.case for test, _value, _wanted in contradictions(expected, tests)}
        expected = {case: pairs for case, pairs in expected.items() if case not in refuted}
    return VerifiedPlan(
        plan=plan, expected=expected, usage=usage, unparsable="" if expected else verified.text or EMPTY
    )


def _refute(test: ShownTest, value: str, wanted: str) -> str:
    end = f"ends with {value}" if value else "has no `return`"
    return f"For `{test.text}` it {end}, but the test wants {wanted}."


async def _describe_divergence(problem: Problem, attempts: Sequence[Attempt], tools: Tools) -> FeedbackNote:
    """Traces the first failing test whose values the plan expects, and tells where they part."""
    newest = attempts[-1]
    expected = expected_values(attempts)
    failing = [case.id for case in newest.verdict.cases if not case.passed and case.id in expected]
    watched = runtime_trace.watched_definitions(problem, newest) if failing else []
    if not watched or not worth_asking(attempts) or is_skipped(tools, "divergence"):
        return FeedbackNote(text="")
    case = failing[0]
    execution = await tools.run(newest, runtime_trace.selectors(problem, case), [lines for lines, _node in watched])
    usage = Usage(test_seconds=execution.seconds)
    trace = None if execution.broken else line_traces(execution).get(case)
    divergence = first_divergence(expected[case], trace) if trace else None
    if divergence is None:
        return FeedbackNote(text="", usage=usage)
    test = next((test.text for test in shown_tests(problem) if test.case == case), case)
    text = render_divergence(problem, newest, divergence, test)
    fields = {"divergence": {"case": case, **asdict(divergence)}, "artefacts": {"first divergence": text}}
    return FeedbackNote(text=text, fields=fields, usage=usage)


def expected_values(attempts: Sequence[Attempt]) -> dict[str, Expected]:
    """The values that the plan of the newest attempt expects, by test; none without a plan."""
    hint = attempts[-1].draft.hint if attempts[-1].draft else ""
    for note in attempts[0].notes:
        plans, expected = note.fields.get("plans", ()), note.fields.get("expected", ())
        if hint and hint in plans:
            values = expected[list(plans).index(hint)] if expected else {}
            return {case: [(str(name), str(value)) for name, value in pairs] for case, pairs in values.items()}
    return {}


def render_divergence(problem: Problem, attempt: Attempt, divergence: Divergence, test: str) -> str:
    """Sentences with the test, the statement, and both values."""
    rows = attempt_sources(problem, attempt).get(divergence.path, "").split("\n")
    statement = rows[divergence.line - 1].strip() if 0 < divergence.line <= len(rows) else ""
    place = f"line {divergence.line} of {divergence.path}, `{shorten(statement, VALUE)}`"
    name, expected = divergence.variable, shorten(divergence.expected, VALUE)
    observed = shorten(divergence.observed, VALUE)
    what = "the result" if name == "return" else f"`{name}`"
    if divergence.observed.startswith(RAISED):
        seen = f"{observed.removeprefix(RAISED)} is raised"
    elif divergence.observed:
        seen = f"{what} is {observed}"
    else:
        seen = f"{what} ends without that value"
    difference = f"the plan expects {what} to be {expected}, but {seen}"
    return f"In the test `{test}` the code first leaves the plan at {place}: {difference}."
