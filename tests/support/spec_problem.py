"""A problem about one function of a folder, and the tools that spec parts are given."""

from __future__ import annotations

import ast
import random
from pathlib import Path
from typing import Any

from greenloop.core.deadline import Deadline
from greenloop.core.ports import NoUser, Tools, User
from greenloop.core.python.ast_source import find_definitions, start_line
from greenloop.core.records.attempt import Attempt
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Region, Spec
from greenloop.core.records.verdict import Status, Verdict
from greenloop.core.requirements import Start, Trial, judge
from greenloop.core.run_state import Baseline
from greenloop.core.verification_inputs import VerificationInputs
from greenloop.engine.requirements import Requirements
from greenloop_sandbox import CaseResult, Limits

TEXT = 'def f(x):\n    """F."""\n    raise NotImplementedError\n'
LONG = 'import os\n\n\ndef f(x):\n    """F."""\n    y = x\n    return eval("y")\n'
PASSED = Verdict(status=Status.PASSED, cases=(CaseResult(id="t", outcome="passed"),))
FAILED = Verdict(status=Status.FAILED, cases=(CaseResult(id="t", outcome="failed"),))


def make_problem(root: Path, text: str, name: str, path: str = "m.py") -> Problem:
    """The problem whose one region is the function `name` of this text."""
    node = next(node for qualname, node in find_definitions(ast.parse(text).body) if qualname == name)
    region = Region(
        path=path, qualname=name, start=start_line(node, text.split("\n")), end=node.end_lineno or node.lineno
    )
    return Problem(root=root, spec=Spec(), regions=(region,), originals={path: text}, files={path: text})


def make_tools(user: User | None = None, **options: Any) -> Tools:
    """The tools of a run with these settings `spec.*`."""
    named = {f"spec.{name}": value for name, value in options.items()}
    return Tools(ask=None, run=None, session=None, user=user or NoUser(), rng=random.Random(0), options=named)


async def judge_text(
    root: Path, text: str, verdict: Verdict, *, own=TEXT, final=False, user=None, **options
) -> Verdict:
    """The verdict on a text for `f` of `own`: `verdict` in the sandbox, then the requirements of the settings."""
    baseline = await begin_configured(make_problem(root, own, "f"), make_tools(user, **options))
    trial = make_trial(baseline.problem, {"m.py": text}, is_final=final)
    return await judge(baseline.requirements, trial, verdict)


def make_inputs(problem: Problem) -> VerificationInputs:
    encode = lambda texts: {path: text.encode() for path, text in texts.items()}  # noqa: E731
    return VerificationInputs(problem=problem, outcomes={}, limits=Limits(), suite_seconds=1.0, encode=encode)


def make_trial(problem: Problem, files=None, *, is_final=False) -> Trial:
    return Trial(inputs=make_inputs(problem), files=files or problem.files, is_final=is_final)


def make_start(problem: Problem, **options: Any) -> Start:
    """The beginning of a run with these settings `spec.*`."""
    return Start(trial=make_trial(problem), tools=make_tools(**options))


def make_requirements(problem: Problem, tools: Tools | None = None) -> Requirements:
    return Requirements(
        inputs=lambda: make_inputs(problem),
        tools=tools or make_tools(),
        deadline=Deadline(),
        report_status=lambda _line: None,
    )


async def begin_configured(problem: Problem, tools: Tools) -> Baseline:
    """The baseline with what the settings require."""
    baseline = Baseline(problem=problem, attempt=Attempt(number=0, verdict=FAILED), outcomes={})
    return await make_requirements(problem, tools).begin_configured(baseline)


class AnsweringUser:
    """A user that answers in order, and keeps the questions; None is no answer."""

    def __init__(self, *answers: str | None) -> None:
        self.answers = list(answers)
        self.questions: list[str] = []

    def _next(self, question: str) -> str | None:
        self.questions.append(question)
        return self.answers.pop(0)

    async def confirm(self, question: str) -> bool | None:
        answer = self._next(question)
        return None if answer is None else answer == "Yes"

    async def choose(self, question: str, options) -> str | None:
        answer = self._next(question)
        assert answer is None or answer in options
        return answer

    async def correct(self, question: str, text: str) -> str | None:
        return self._next(question)
