"""Asks a planner, reads plans in its answers, and makes notes of what it wrote before any code.

The field `plans` of a note on the user's own code has the texts that drafts keep to (`search/published/planned.py`);
`artefacts` has everything that was written on the way, by name, for the user; `unparsable` what could not be read.
"""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from greenloop.core import registry
from greenloop.core.errors import SettingsError
from greenloop.core.ports import Tools
from greenloop.core.python.ast_source import FUNCTIONS, parse_module
from greenloop.core.records.attempt import Attempt, FeedbackNote
from greenloop.core.records.model import Reply, Role, Usage
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Case
from greenloop.drafting.feedback._critic import LINE, ask
from greenloop.drafting.feedback._value_diff import shorten
from greenloop_lab.drafting.feedback._critic import FIELD, WORDS

STEPS = 10  # lines of a plan that are kept
SHORTEST = 20  # characters of a sentence that may be a plan
TESTS = 4  # tests that a planner is shown with their code
ROWS = 6  # lines of one test
TEXT_ROWS = 20  # rows of pseudocode that are kept
PLAN_TOKENS = 240
EMPTY = "an empty answer"

_FENCED = re.compile(r"^[ \t]*(`{3,}|~{3,}).*?(?:^[ \t]*\1[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_STEP = re.compile(
    r"^\s*(?:(?:\*\*)?(?:step\s*)?\d{1,2}\s*[.):]|[-*•](?=\s)|(?:\*\*)?step\s*\d{1,2})(?:\*\*)?\s*(\S.*)$",
    re.IGNORECASE,
)


@dataclass(frozen=True, kw_only=True)
class ShownTest:
    """A test that a planner is shown, as text."""

    case: str
    text: str


def is_skipped(tools: Tools, stage: str) -> bool:
    """Do the settings leave out this stage of a planner (`planner.skip`)?

    Raises `SettingsError` for a stage that no planner has.
    """
    skipped = tools.options.get("planner.skip", ())
    if skipped:
        parts = [registry.load_part("feedback", name) for name in registry.list_parts("feedback")]
        stages = sorted({each for part in parts for each in getattr(part, "STAGES", ())})
        if unknown := [name for name in skipped if name not in stages]:
            raise SettingsError(f"No planner has a stage '{unknown[0]}'.", remedy=f"Choose of: {', '.join(stages)}.")
    return stage in skipped


async def ask_planner(
    problem: Problem,
    attempt: Attempt,
    tools: Tools,
    name: str,
    *,
    tokens: int = PLAN_TOKENS,
    temperature: float = 0.0,
    **values: str,
) -> Reply:
    """The planner's reply to the template `name`, which may use the tests and the user's instruction, too."""
    values = {"tests": list_tests(shown_tests(problem)), "instruction": problem.instruction, **values}
    return await ask(problem, attempt, tools, name, tokens=tokens, role=Role.PLANNER, temperature=temperature, **values)


def read_plan(answer: str) -> str:
    """The steps of a plan, numbered, or its prose in one paragraph; "" where an answer holds neither."""
    prose = _FENCED.sub("", answer)
    matches = map(_STEP.match, prose.split("\n"))
    steps = dict.fromkeys(" ".join(match[1].replace("**", "").split())[:LINE] for match in matches if match)
    if rows := [step for step in steps if step][:STEPS]:
        return "\n".join(f"{number}. {step}" for number, step in enumerate(rows, 1))
    paragraph = shorten(prose, WORDS)
    return paragraph if len(paragraph) >= SHORTEST else ""


def read_text(answer: str) -> str:
    """An answer as it is, without its fences and with a bounded number of rows, such as pseudocode."""
    rows = [row.rstrip()[:LINE] for row in answer.split("\n") if row.strip() and not row.lstrip().startswith("```")]
    text = "\n".join(rows[:TEXT_ROWS])
    return text if len(text) >= SHORTEST else ""


@dataclass(frozen=True, kw_only=True)
class Stage:
    """A question of a planner before any code, by the name that `planner.skip` gives it."""

    name: str
    template: str
    read: Callable[[str], str] = read_plan  # what is kept of an answer; "" where it cannot be read
    is_first: bool = True  # may it be asked where no earlier stage wrote anything?


async def ask_stages(
    problem: Problem, attempt: Attempt, tools: Tools, stages: Sequence[Stage], *, tokens: int = PLAN_TOKENS
) -> tuple[dict[str, str], Usage, str]:
    """Asks the planner for each stage; returns the texts by name, the usage, and the first answer that was unreadable.

    Each stage sees the texts of the earlier ones.
    """
    artefacts: dict[str, str] = {}
    usage, unparsable = Usage(), ""
    for stage in stages:
        if not (stage.is_first or artefacts):
            continue
        earlier = join_artefacts(artefacts)
        reply = await ask_planner(problem, attempt, tools, stage.template, tokens=tokens, earlier=earlier)
        usage += reply.usage
        if text := stage.read(reply.text):
            artefacts[stage.name] = text
        else:
            unparsable = unparsable or reply.text or EMPTY
    return artefacts, usage, unparsable


def join_artefacts(artefacts: Mapping[str, str]) -> str:
    """Joins the texts of the stages so far, each below its name."""
    return "\n\n".join(f"{name.capitalize()}:\n{text}" for name, text in artefacts.items())


def make_note(
    plans: Sequence[str],
    artefacts: Mapping[str, str],
    usage: Usage,
    unparsable: str = "",
    *,
    is_complete: bool = False,
    **fields: object,
) -> FeedbackNote:
    """A note with what a planner wrote, without a text: plans reach the model with the drafts.

    `is_complete`: no plan was asked for, so that it is no fault if there is none.
    """
    kept = {name: text for name, text in artefacts.items() if text}
    if unparsable or not (plans or is_complete):
        fields |= {"unparsable": shorten(unparsable, FIELD) or EMPTY}
    return FeedbackNote(text="", fields={"plans": tuple(plans), "artefacts": kept, **fields}, usage=usage)


def shown_tests(problem: Problem) -> list[ShownTest]:
    """The first tests of the specification with their statements."""
    cases = [case for case in problem.spec.cases if case.executed]
    return [ShownTest(case=case.id, text=_test_text(problem, case)) for case in cases[:TESTS]]


def list_tests(tests: Sequence[ShownTest]) -> str:
    return "\n".join(f"Test {number}: {test.text}" for number, test in enumerate(tests, 1))


def _test_text(problem: Problem, case: Case) -> str:
    """The statements of a test, in one row where it has a single one; its name where they are not known."""
    name = shorten(case.id.rpartition("::")[2], LINE)
    if case.source:
        return shorten(case.source, LINE)
    text = problem.spec.files.get(case.path) or problem.files.get(case.path) or ""
    module = parse_module(text)
    nodes = [] if isinstance(module, SyntaxError) else list(ast.walk(module))
    node = next((node for node in nodes if isinstance(node, FUNCTIONS) and _begins_at(node, case.line)), None)
    if node is None:
        return _example(text, case.line) or name
    rows = text.split("\n")[node.body[0].lineno - 1 : node.end_lineno]
    rows = [row[:LINE] for row in textwrap.dedent("\n".join(rows)).split("\n") if row.strip()]
    shown = rows[:ROWS] + (["…"] if len(rows) > ROWS else [])
    head = f"{name}: " if "[" in case.id else ""
    return f"{head}{shown[0]}" if len(shown) == 1 else "\n".join([name, *(f"    {row}" for row in shown)])


def _begins_at(node: ast.AST, line: int) -> bool:
    decorators = getattr(node, "decorator_list", ())
    return line in (getattr(node, "lineno", 0), *(item.lineno for item in decorators))


def _example(text: str, line: int) -> str:
    """The doctest example at this line with what it has to print."""
    rows = [row.strip() for row in text.split("\n")[line - 1 : line + 1]] if line > 0 else []
    return " gives ".join(rows).removeprefix(">>> ") if rows and rows[0].startswith(">>> ") else ""
