"""A problem about one function of a folder, and the tools that spec parts are given."""

from __future__ import annotations

import ast
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

from greenloop.core.ports import NoUser, Tools, User
from greenloop.core.python.ast_source import find_definitions, start_line
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Region, Spec
from greenloop.core.records.verdict import Status, Verdict
from greenloop.specs import host_checks
from greenloop_sandbox import CaseResult

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
    return Tools(ask=None, run=None, session=None, user=user or NoUser(), rng=random.Random(0), options=options)


async def judge_text(root: Path, text: str, verdict: Verdict, *, final=False, user=None, **options) -> Verdict:
    """The verdict on a text for `f` of `TEXT`: `verdict` in the sandbox, then the checks that need none."""
    problem, part_tools = make_problem(root, TEXT, "f"), make_tools(user, **options)
    spec = problem.spec + await host_checks.collect(problem, part_tools)

    async def run() -> Verdict:
        return verdict

    return await host_checks.judge(replace(problem, spec=spec), {"m.py": text}, part_tools, run, final=final)


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
