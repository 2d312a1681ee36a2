"""A run without a sandbox: the real prompts, roles and ledger, models faked, the tests decided by a table."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from double_problem import BASELINE, PROBLEM, judge_files, make_answer
from greenloop.core.deadline import Deadline
from greenloop.core.events import Planned, Started
from greenloop.core.ports import NoUser
from greenloop.core.records.model import ChatRequest, Reply, Role, Usage
from greenloop.core.records.outcome import Outcome
from greenloop.core.records.problem import Problem
from greenloop.core.run_state import Baseline
from greenloop.engine.loop import loop
from greenloop.engine.model_calls import ModelCalls
from greenloop.engine.presets import find_preset
from greenloop.engine.run_parts import RunParts
from greenloop.engine.run_workspace import RunWorkspace
from greenloop.engine.steps import Steps
from greenloop.models.roles import Models
from greenloop.project import configuration

SECRET = "correct horse battery"


class FakeModel:
    """A model that writes its requests into a common list and its answers from another.

    `slots` are those that it says it has; `most` is how many requests were under way at once; `usage` is of each answer.
    """

    def __init__(self, name: str, log: list[tuple[str, ChatRequest]], answers: list[str]) -> None:
        self.name = name
        self.slots = 1
        self.most = self._open = 0
        self.usage = Usage(prompt_tokens=1, completion_tokens=1)
        self.log = log
        self.answers = answers

    async def complete(self, request: ChatRequest, on_token) -> Reply:
        self.log.append((self.name, request))
        self._open += 1
        self.most = max(self.most, self._open)
        await asyncio.sleep(0)  # the others of the round come in
        self._open -= 1
        text = self.answers.pop(0) if request.role in (Role.DRAFTER, Role.REFINER) else "Think again."
        return Reply(text=text, usage=self.usage, model=self.name)

    def count_tokens(self, text: str) -> int:
        return len(text) // 4

    async def close(self) -> None:
        """Nothing to close."""


class SimulatedRun:
    """One run; answers that are one line are expressions to return."""

    def __init__(self, answers: list[str], problem: Problem = PROBLEM, **told: Any) -> None:
        names = {f"fake/{letter}" for letter in "abcdefg"}
        self.problem = problem
        self.log: list[tuple[str, ChatRequest]] = []
        self.texts: list[str] = []  # that were run, one an execution
        answers = [text if "\n" in text else make_answer(text) for text in answers]
        found, warnings = configuration.load(
            None, command_line={"model": "fake/a", "model.kind": "small", **told}, environ={}
        )
        assert warnings == []
        self.models = Models(settings=found, opened={name: FakeModel(name, self.log, answers) for name in names})
        preset = find_preset(found.preset)
        calls = ModelCalls(settings=found, preset=preset, models=self.models, secrets=(SECRET,))
        self.parts = RunParts(
            context=SimpleNamespace(
                settings=found,
                target=SimpleNamespace(path="m.py"),
                snapshot=SimpleNamespace(root=Path()),
                session=None,
                place=SimpleNamespace(network=False),
                report_status=None,
                aim=None,
                prepared=None,
                deadline=Deadline(),
            ),
            baseline=Baseline(problem=problem, attempt=BASELINE, outcomes={}),
            workspace=RunWorkspace(context=None, sandbox=None, trusted=""),
            preset=find_preset(found.preset),
            calls=calls,
            conversation=None,
            user=NoUser(),
            failed={},
        )
        self.planned: list[str] = []

    async def run(self) -> Outcome:
        async def verify(files: Mapping[str, str]):
            self.texts.append(files["m.py"])
            return judge_files(files)

        drafter = await self.parts.calls.drafter()
        parts = replace(Steps(parts=self.parts).for_loop(self.emit, verify), verify=verify, glance=verify)
        started = Started(
            problem=self.problem, baseline=BASELINE, model=drafter.name, preset="", sandbox="", attempts=5
        )
        return await loop.refine(self.parts.state, started, parts, self.emit)

    def emit(self, event) -> None:
        if isinstance(event, Planned):
            self.planned.append(event.model)

    @property
    def asked(self) -> list[str]:
        return [name.removeprefix("fake/") for name, _request in self.log]

    @property
    def temperatures(self) -> list[float]:
        return [request.temperature for _name, request in self.log if request.role is not Role.CRITIC]
