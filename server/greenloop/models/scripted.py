"""A model whose answers stand in a file: for tests, demonstrations and protocol checks.

`scripted:FILE`; FILE has one JSON string a line, each one answer, given in that order whatever is asked.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable
from pathlib import Path

from greenloop.core.errors import ModelProblem, UsageProblem
from greenloop.core.nouns import Completion, Reply, Usage
from greenloop.core.tokens import estimate, estimate_messages
from greenloop.settings import Settings


def create(name: str, settings: Settings) -> Scripted:  # noqa: ARG001 - the signature every model shares
    """Raises `UsageProblem` when the file cannot be read or a line of it is not a JSON string."""
    _, _, file = name.partition(":")
    if not file:
        raise UsageProblem("The scripted model needs a file.", remedy="Write it as scripted:FILE.")
    return Scripted(name, Path(file).expanduser(), answers(Path(file).expanduser()))


def answers(path: Path) -> list[str]:
    """The answers in the file, in order; blank lines do not count."""
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageProblem(
            f"The scripted model's file {path} cannot be read: {error}.",
            remedy="Name an existing UTF-8 file with one JSON string a line.",
        ) from error
    return [_answer(path, number, line) for number, line in enumerate(lines, 1) if line.strip()]


def _answer(path: Path, number: int, line: str) -> str:
    try:
        answer = json.loads(line)
    except json.JSONDecodeError as error:
        raise UsageProblem(
            f"Line {number} of the scripted model's file {path} is not JSON: {error}.",
            remedy="Each line must be one JSON string.",
        ) from error
    if not isinstance(answer, str):
        raise UsageProblem(
            f"Line {number} of the scripted model's file {path} is not a JSON string.",
            remedy="Each line must be one JSON string.",
        )
    return answer


class Scripted:
    """Owns the position in the script."""

    def __init__(self, name: str, path: Path, script: list[str]) -> None:
        self._name = name
        self._path = path
        self._script = script
        self._next = 0

    @property
    def name(self) -> str:
        return self._name

    async def complete(self, request: Completion, on_token: Callable[[str], None]) -> Reply:
        """Raises `ModelProblem` when the script has run out."""
        if self._next >= len(self._script):
            raise ModelProblem(
                f"The scripted model ran out: {self._path} has {len(self._script)} lines and all were used.",
                remedy="Add lines to the file, or allow fewer attempts.",
            )
        text = self._script[self._next]
        self._next += 1
        for piece in re.findall(r"\s*\S+|\s+", text):
            # Gives way between pieces, so that a script can be cancelled like a real model.
            await asyncio.sleep(0)
            on_token(piece)
        usage = Usage(prompt_tokens=estimate_messages(request.messages), completion_tokens=estimate(text))
        return Reply(text=text, usage=usage, model=self._name)

    def count_tokens(self, text: str) -> int:
        return estimate(text)

    async def close(self) -> None:
        pass
