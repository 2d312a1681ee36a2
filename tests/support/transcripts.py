"""Runs of the embedded model that are kept and played again: tests/transcripts/NAME/.

`about.toml` says which preset works on which small projects (the first on which the run shows what it is kept for is
taken), `answers.jsonl` holds what the model said, `expected.json` how the run went.
A prompt that changes is a request without an answer: `scripts/transcripts.py record NAME` records it anew.
"""

from __future__ import annotations

import json
import shutil
import sys
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from greenloop.core.events import Event, Planned, Tested
from greenloop.core.ports import Model
from greenloop.core.records.attempt import Attempt
from greenloop.core.records.model import ChatRequest, InfillRequest, Role
from greenloop.core.records.outcome import Outcome
from greenloop.engine import refine
from greenloop.engine.presets import find_preset
from greenloop.models.roles import Models
from greenloop.plugins.recordings.providers import replay
from greenloop.project import configuration, settings

HERE = Path(__file__).parents[1] / "transcripts"
PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"  # prompts may name it
TARGETS = tomllib.loads((HERE / "projects.toml").read_text(encoding="utf-8"))


@dataclass(frozen=True, kw_only=True)
class Transcript:
    """One definition."""

    name: str
    about: str
    preset: str
    projects: tuple[str, ...]
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def answers(self) -> Path:
        return HERE / self.name / "answers.jsonl"

    @property
    def expected(self) -> Path:
        return HERE / self.name / "expected.json"

    @property
    def recorded(self) -> bool:
        return self.answers.exists() and self.expected.exists()


@dataclass(frozen=True, kw_only=True)
class Played:
    """One run: what the model was asked, in order, which model each attempt was planned for, and the outcome."""

    project: str
    asked: list[ChatRequest | InfillRequest]
    models: list[str]
    attempts: list[Attempt]
    outcome: Outcome

    @property
    def roles(self) -> list[str]:
        return [str(request.role) for request in self.asked]

    @property
    def prompts(self) -> list[str]:
        """Every message of each question, as one text."""
        return [
            "\n".join(message.content for message in request.messages)
            for request in self.asked
            if isinstance(request, ChatRequest)
        ]

    @property
    def scores(self) -> list[float]:
        return [attempt.verdict.score for attempt in self.attempts]

    def summary(self) -> dict[str, Any]:
        """What must come out the same again."""
        return {
            "project": self.project,
            "attempts": [step(attempt) for attempt in self.attempts],
            "asked": self.roles,
            "reason": str(self.outcome.reason),
            "solved": self.outcome.solved,
            "best": self.outcome.best,
        }


def step(attempt: Attempt) -> str:
    """`refiner refine of 1: failed AssertionError 4/6`."""
    draft, verdict = attempt.draft, attempt.verdict
    assert draft is not None
    result = f"{verdict.status} {attempt.error_class}".strip()
    return f"{draft.role} {draft.move} of {attempt.parent}: {result} {verdict.passed}/{verdict.total}"


def load() -> dict[str, Transcript]:
    """Every definition by name."""
    found = {}
    for path in sorted(HERE.glob("*/about.toml")):
        told = tomllib.loads(path.read_text(encoding="utf-8"))
        found[path.parent.name] = Transcript(name=path.parent.name, **{**told, "projects": tuple(told["projects"])})
    return found


async def play(transcript: Transcript, project: str, folder: Path, python: Path, model: Model) -> Played:
    """One run of it in the empty `folder`, with the Python at `python`; each role has its own name for the model.

    Raises `ModelError` where a replay lacks an answer.
    """
    root = folder / project
    shutil.copytree(HERE / "projects" / project, root)
    keys = {
        "preset": transcript.preset,
        "model.kind": "small",
        "sandbox.kind": "bubblewrap",
        "interpreter": str(python),
    }
    keys |= {f"{role}.model": str(role) for role in Role}
    found, warnings = configuration.load(None, command_line={**keys, **transcript.settings}, environ={})
    assert not warnings, warnings
    asked: list[ChatRequest | InfillRequest] = []
    model = heard(model, asked)
    events: list[Event] = []
    outcome = await refine.refine(
        refine.RefineRequest(root=root, target=TARGETS[project]),
        settings=found,
        emit=events.append,
        harness=refine.Harness(
            preset=find_preset(transcript.preset, harness=True),
            models=Models(settings=found, opened={str(role): model for role in Role}),
            history=folder / "history.db",
        ),
    )
    return Played(
        project=project,
        asked=asked,
        models=[event.model for event in events if isinstance(event, Planned)],
        attempts=[event.attempt for event in events if isinstance(event, Tested)],
        outcome=outcome,
    )


def replayed(answers: Path) -> Model:
    """The model that says again what was kept."""
    return replay.create(f"replay:{answers}", settings.Settings())


def heard(model: Model, asked: list[ChatRequest | InfillRequest]) -> Model:
    """The model, with what it is asked written down."""

    def listening(ask: Callable[..., Any]) -> Callable[..., Any]:
        async def listen(request: ChatRequest | InfillRequest, on_token: Callable[[str], None]) -> Any:
            asked.append(request)
            return await ask(request, on_token)

        return listen

    for name in ("complete", "infill"):
        if hasattr(model, name):
            setattr(model, name, listening(getattr(model, name)))
    return model


def kept(transcript: Transcript) -> dict[str, Any]:
    """The recorded course of the run."""
    told: dict[str, Any] = json.loads(transcript.expected.read_text(encoding="utf-8"))
    return told
