"""A model that knows the solution: it checks the harness and its tasks, not a model."""

from __future__ import annotations

import ast
from collections.abc import Callable

from greenloop.bench.tasks import Task
from greenloop.core.nouns import Completion, Reply, Usage
from greenloop.core.tokens import estimate, estimate_messages

NAME = "reference"


class Reference:
    """Answers with the solution of one task, whatever is asked."""

    def __init__(self, task: Task) -> None:
        self._text = f"```python\n{_solution(task)}\n```\n"

    @property
    def name(self) -> str:
        return NAME

    async def complete(self, request: Completion, on_token: Callable[[str], None]) -> Reply:
        on_token(self._text)
        usage = Usage(prompt_tokens=estimate_messages(request.messages), completion_tokens=estimate(self._text))
        return Reply(text=self._text, usage=usage, model=NAME)

    def count_tokens(self, text: str) -> int:
        return estimate(text)

    async def close(self) -> None:
        """Nothing is open."""


def _solution(task: Task) -> str:
    """The function that is broken, where the task says which; else the whole of the first file."""
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
