"""Model that reads its answers from a file, for tests, demonstrations and protocol checks.

`scripted:FILE`; FILE has one JSON string per line, each one an answer, given in that order whatever the request.
A line `{"infill": "text"}` answers an infill; without such lines the model does not support infills.
A line `{"calls": [["read", {"path": "m.py"}]], "text": ""}` calls tools; without such lines the model takes none.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from greenloop.core.errors import ModelError, UsageError
from greenloop.core.records.model import ChatRequest, InfillRequest, Reply, ToolCall, Usage
from greenloop.core.text.tokens import estimate_messages, estimate_tokens
from greenloop.project.settings import Settings

REMEDY = 'Each line must be one JSON string, {"infill": "text"}, or {"calls": [["name", {}]]}.'


@dataclass(frozen=True, kw_only=True)
class ScriptedAnswer:
    """A line of the file; `fills`: it answers an infill."""

    text: str
    fills: bool = False
    calls: tuple[ToolCall, ...] = ()


def create(name: str, settings: Settings) -> Scripted:  # noqa: ARG001 - the signature that all models share
    """Makes the model. Raises `UsageError` when the file cannot be read or a line of it is not an answer."""
    _, _, file = name.partition(":")
    if not file:
        raise UsageError("The scripted model needs a file.", remedy="Write it as scripted:FILE.")
    path = Path(file).expanduser()
    script = answers(path)
    return (InfillingScripted if any(answer.fills for answer in script) else Scripted)(name, path, script)


def answers(path: Path) -> list[ScriptedAnswer]:
    """The answers in the file, in order; blank lines do not count."""
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            f"The scripted model's file {path} cannot be read: {error}.",
            remedy="Name an existing UTF-8 file with one JSON string a line.",
        ) from error
    return [_answer(path, number, line) for number, line in enumerate(lines, 1) if line.strip()]


def _answer(path: Path, number: int, line: str) -> ScriptedAnswer:
    try:
        answer = json.loads(line)
    except json.JSONDecodeError as error:
        raise UsageError(
            f"Line {number} of the scripted model's file {path} is not JSON: {error}.",
            remedy=REMEDY,
        ) from error
    if isinstance(answer, str):
        return ScriptedAnswer(text=answer)
    if isinstance(answer, dict) and isinstance(answer.get("infill"), str):
        return ScriptedAnswer(text=answer["infill"], fills=True)
    try:
        calls = [(name, json.dumps(arguments)) for name, arguments in answer["calls"]]
        return ScriptedAnswer(
            text=str(answer.get("text", "")),
            calls=tuple(
                ToolCall(id=f"call_{number}_{index}", name=str(name), arguments=arguments)
                for index, (name, arguments) in enumerate(calls)
            ),
        )
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise UsageError(
            f"Line {number} of the scripted model's file {path} is not an answer.",
            remedy=REMEDY,
        ) from error


class Scripted:
    """Owns two positions in the script: one among the chat answers, one among the infills."""

    def __init__(self, name: str, path: Path, script: list[ScriptedAnswer]) -> None:
        self._name = name
        self._path = path
        self._script = {kind: [answer for answer in script if answer.fills is kind] for kind in (False, True)}
        self._next = {False: 0, True: 0}

    @property
    def name(self) -> str:
        return self._name

    @property
    def calls_tools(self) -> bool:
        return any(answer.calls for answer in self._script[False])

    async def complete(self, request: ChatRequest, on_token: Callable[[str], None]) -> Reply:
        """Raises `ModelError` when the script has run out."""
        return await self._say(False, estimate_messages(request.messages), on_token)

    def count_tokens(self, text: str) -> int:
        return estimate_tokens(text)

    async def close(self) -> None:
        pass

    async def _say(self, fills: bool, prompt_tokens: int, on_token: Callable[[str], None]) -> Reply:
        script, position = self._script[fills], self._next[fills]
        if position >= len(script):
            lines = "lines that fill holes" if fills else "lines"
            raise ModelError(
                f"The scripted model ran out: {self._path} has {len(script)} {lines} and all were used.",
                remedy="Add lines to the file, or allow fewer attempts.",
            )
        answer = script[position]
        text = answer.text
        self._next[fills] += 1
        for piece in re.findall(r"\s*\S+|\s+", text):
            # Yields to the event loop between pieces, so that a script can be cancelled like a real model.
            await asyncio.sleep(0)
            on_token(piece)
        usage = Usage(prompt_tokens=prompt_tokens, completion_tokens=estimate_tokens(text))
        return Reply(text=text, usage=usage, model=self._name, calls=answer.calls)


class InfillingScripted(Scripted):
    """A script with infills."""

    async def infill(self, request: InfillRequest, on_token: Callable[[str], None]) -> Reply:
        """Raises `ModelError` when the script has no more infills."""
        return await self._say(True, estimate_tokens(request.prefix) + estimate_tokens(request.suffix), on_token)
