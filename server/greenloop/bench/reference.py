"""A model that answers with the solution, to check the harness and its tasks."""

from __future__ import annotations

import ast
from collections.abc import Callable

from greenloop.bench.tasks import Task
from greenloop.core.records.model import ChatRequest, Reply
from greenloop.core.records.usage import Usage
from greenloop.core.text.tokens import estimate_messages, estimate_tokens

NAME = "reference"


class Reference:
    """Answers every request with the solution of one task."""

    def __init__(self, task: Task) -> None:
        self._text = f"```python\n{_solution_source(task)}\n```\n"

    @property
    def name(self) -> str:
        return NAME

    async def complete(self, request: ChatRequest, on_token: Callable[[str], None]) -> Reply:
        on_token(self._text)
        usage = Usage(prompt_tokens=estimate_messages(request.messages), completion_tokens=estimate_tokens(self._text))
        return Reply(text=self._text, usage=usage, model=NAME)

    def count_tokens(self, text: str) -> int:
        return estimate_tokens(text)

    async def close(self) -> None:
        """Does nothing."""


def _solution_source(task: Task) -> str:
    """The mutated function, where the task names one; else the whole first file of the solution."""
    path, _, qualname = task.function.partition("::")
    if not qualname:
        return next(iter(task.solution.values()), "")
    node: ast.AST = ast.parse(task.solution[path])
    for name in qualname.split("."):
        node = next(
            each
            for each in ast.walk(node)
            if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and each.name == name
        )
    return ast.unparse(node)
