"""A client and an engine for turns of an agent: the one answers at once, the other says what it would have found."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import acp
from acp.schema import (
    AllowedOutcome,
    ClientCapabilities,
    DeniedOutcome,
    FileSystemCapabilities,
    ReadTextFileResponse,
    RequestPermissionResponse,
)

from greenloop.core.events import Looked, Started, Tested
from greenloop.core.records.attempt import Attempt
from greenloop.core.records.model import ModelKind
from greenloop.core.records.outcome import Outcome, StopReason, Verified
from greenloop.core.records.verdict import Status, Verdict
from greenloop.engine import refine as engine
from greenloop.plugins.agents.acp.turn import Turn
from greenloop.plugins.agents.service import Service
from spec_problem import make_problem

WRONG = "def f(x):\n    return x + 1\n\n\ndef g():\n    return 0\n"
RIGHT = WRONG.replace("x + 1", "x * 2")
FILES = ClientCapabilities(fs=FileSystemCapabilities(read_text_file=True, write_text_file=True))


class FakeClient:
    """Shows updates, answers permissions with `answer`, and has the texts of `buffers`."""

    def __init__(self, answer: str = "apply", buffers: dict[str, str] | None = None) -> None:
        self.answer, self.buffers = answer, buffers or {}
        self.updates: list[Any] = []
        self.asked: list[list[Any]] = []
        self.shown: list[Any] = []
        self.ignored: set[str] = set()

    async def session_update(self, _session: str, update: Any) -> None:
        self.updates.append(update)

    async def request_permission(self, session_id: str, tool_call: Any, options: list[Any]) -> Any:
        self.asked.append(options)
        self.shown.append(tool_call)
        if self.answer == "never":
            await asyncio.Event().wait()
        if self.answer == "error":
            raise acp.RequestError.internal_error()
        chosen = next((option for option in options if option.option_id == self.answer), None)
        if chosen is None:
            return RequestPermissionResponse(outcome=DeniedOutcome(outcome="cancelled"))
        return RequestPermissionResponse(outcome=AllowedOutcome(outcome="selected", option_id=chosen.option_id))

    async def read_text_file(self, session_id: str, path: str) -> ReadTextFileResponse:
        if path not in self.buffers:
            raise acp.RequestError.resource_not_found(path)
        return ReadTextFileResponse(content=self.buffers[path])

    async def write_text_file(self, session_id: str, path: str, content: str) -> None:
        if Path(path).name not in self.ignored:
            self.buffers[path] = content

    @property
    def said(self) -> str:
        return "".join(each.content.text for each in self.updates if each.session_update == "agent_message_chunk")

    @property
    def reported(self) -> list[str]:
        """What tool calls were changed to say."""
        changes = [each for each in self.updates if each.session_update == "tool_call_update"]
        return [part.content.text for each in changes for part in each.content or ()]

    def calls(self, kind: str) -> list[tuple[str, str]]:
        """The titles of the tool calls of a kind, with their last status."""
        found = [each for each in self.updates if each.session_update == "tool_call" and each.kind == kind]
        return [(call.title, self._last_status(call)) for call in found]

    def _last_status(self, call: Any) -> str:
        changes = [each for each in self.updates if getattr(each, "tool_call_id", "") == call.tool_call_id]
        return [each.status for each in changes if each.status][-1]


class FakeEngine:
    """Finds what it is told to; `results` are the outcomes, in order, the last one again."""

    def __init__(self, root: Path, *results: Outcome | Exception) -> None:
        self.problem = make_problem(root, WRONG, "f")
        self.results = list(results)
        self.requests: list[engine.RefineRequest] = []
        self.reverified: list[dict[str, bytes]] = []
        self.passes_again = True
        self.before_end = lambda: None

    async def refine(
        self, request: engine.RefineRequest, *, emit: Any, report_status: Any, user: Any, **_more: Any
    ) -> Outcome:
        self.requests.append(request)
        self.user = user
        result = self.results.pop(0) if len(self.results) > 1 else self.results[0]
        if isinstance(result, Exception):
            raise result
        report_status("running the tests")
        report_status("running the tests")
        started = {"model": "openai/gpt-5.1", "kind": ModelKind.CAPABLE, "preset": "p", "sandbox": "s", "attempts": 1}
        emit(Started(problem=self.problem, baseline=result.attempts[0], **started))
        for attempt in result.attempts[1:]:
            for look in attempt.looks:
                emit(Looked(attempt=attempt.number, look=look))
            emit(Tested(attempt=attempt))
        self.before_end()
        return result

    async def reverify(self, _problem: Any, files: dict[str, bytes], *, settings: Any) -> Verdict:
        self.reverified.append(files)
        return Verdict(status=Status.PASSED if self.passes_again else Status.FAILED)


def found(before: dict[str, str | None] | None = None, after: dict[str, str] | None = None, **fields: Any) -> Outcome:
    made = (
        Attempt(number=0, verdict=Verdict(status=Status.FAILED)),
        Attempt(number=1, verdict=Verdict(status=Status.PASSED)),
    )
    given: dict[str, Any] = {
        "solved": True,
        "verified": Verified.VERIFIED,
        "reason": StopReason.SOLVED,
        "message": "Verified.",
    }
    given = {"attempts": made, **given, **fields}
    given["best"] = given["attempts"][-1].number
    return Outcome(before=before or {"m.py": WRONG}, after=after or {"m.py": RIGHT}, **given)


def turn(
    root: Path, client: FakeClient, capabilities: ClientCapabilities | None = None, patience: float = 10.0
) -> Turn:
    given: dict[str, Any] = {"client": client, "capabilities": capabilities, "patience": patience}
    return Turn(service=Service(roots=(root,)), root=root, session_id="s", **given)


async def ask(
    root: Path,
    client: FakeClient,
    text: str = "fix m.py::f",
    capabilities: ClientCapabilities | None = None,
    patience: float = 10.0,
) -> str:
    return await turn(root, client, capabilities, patience).run([acp.text_block(text)])
