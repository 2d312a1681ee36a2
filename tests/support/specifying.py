"""A problem about one function of a folder, and the tools that spec parts are given."""

from __future__ import annotations

import ast
import random
from pathlib import Path
from typing import Any

from greenloop.core.ports import NoUser, Tools, User
from greenloop.core.python.ast_source import find_definitions, start_line
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Region, Spec


def about(root: Path, text: str, name: str, path: str = "m.py") -> Problem:
    """The problem whose one region is the function `name` of this text."""
    node = next(node for qualname, node in find_definitions(ast.parse(text).body) if qualname == name)
    region = Region(
        path=path, qualname=name, start=start_line(node, text.split("\n")), end=node.end_lineno or node.lineno
    )
    return Problem(root=root, spec=Spec(), regions=(region,), originals={path: text}, files={path: text})


def tools(user: User | None = None, **options: Any) -> Tools:
    return Tools(ask=None, run=None, session=None, user=user or NoUser(), rng=random.Random(0), options=options)


class Answers:
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
