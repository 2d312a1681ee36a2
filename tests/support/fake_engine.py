"""A project and a home of its own for each test of the command line, and an engine that does what the test says."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from greenloop.api import testing
from greenloop.core.events import Checked, Event, Finished, Looked, Planned, Proposed, Started, Tested, Token
from greenloop.core.records.attempt import Attempt, Draft, Move
from greenloop.core.records.model import Role, Usage
from greenloop.core.records.outcome import Evidence, Outcome, StopReason, Verified
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Case, Region, Spec
from greenloop.core.records.verdict import ErrorGroup, Status, Verdict
from greenloop.engine import after_run, refine
from greenloop.engine.history.store import History
from greenloop_sandbox import CaseResult, Failure, Frame

BEFORE = "def double(x):\n    return x + 1\n"
AFTER = "def double(x):\n    return x * 2\n"
TEST = "from m import double\n\n\ndef test_double():\n    assert double(5) == 10\n"
CASE = "test_m.py::test_double"


def verdict(status: Status) -> Verdict:
    if status is Status.PASSED:
        return Verdict(status=status, cases=(CaseResult(id=CASE, outcome="passed", seconds=0.01),))
    frames = (Frame(path="test_m.py", line=5, function="test_double"),)
    failure = Failure(type="AssertionError", message="assert 6 == 10\x1b[2J", frames=frames, text="E assert 6 == 10")
    return Verdict(status=status, cases=(CaseResult(id=CASE, outcome="failed", failure=failure),))


def attempt(number: int, status: Status = Status.FAILED) -> Attempt:
    red = status is not Status.PASSED
    return Attempt(
        number=number,
        parent=number - 1 if number else None,
        verdict=verdict(status),
        draft=Draft(parent=number - 1, move=Move.DRAFT, role=Role.DRAFTER) if number else None,
        model="scripted" if number else "",
        error_class="AssertionError" if red else "",
        group=ErrorGroup.LOGIC if red else None,
        usage=Usage(prompt_tokens=100, completion_tokens=20, model_seconds=1.0, test_seconds=0.1)
        if number
        else Usage(),
    )


def tampered(number: int) -> Attempt:
    """A faked pass: every case of it is green."""
    faked = replace(verdict(Status.PASSED), status=Status.TAMPERED, reason=f"{CASE} does not fail as it must.")
    return replace(attempt(number), verdict=faked, error_class="Tampered", group=ErrorGroup.TAMPERING)


def solved(root: Path, **changes: Any) -> Outcome:
    values: dict[str, Any] = {
        "solved": True,
        "verified": Verified.VERIFIED,
        "reason": StopReason.SOLVED,
        "message": "Verified in bubblewrap: 1/1 target tests pass, no other tests affected (3 checked), proven apart 1/1.",
        "attempts": (attempt(0), attempt(1), attempt(2, Status.PASSED)),
        "best": 2,
        "before": {"m.py": BEFORE},
        "after": {"m.py": AFTER},
        "usage": Usage(prompt_tokens=200, completion_tokens=40),
        "evidence": Evidence(sandbox="bubblewrap", cases={"user": (1, 1)}),
    }
    return Outcome(**{**values, **changes})


def unsolved(reason: StopReason = StopReason.ATTEMPTS, **changes: Any) -> Outcome:
    values: dict[str, Any] = {
        "solved": False,
        "verified": Verified.UNVERIFIED,
        "reason": reason,
        "message": "Not solved after 1 attempt.",
        "attempts": (attempt(0), attempt(1)),
        "best": 1,
    }
    return Outcome(**{**values, **changes})


class FakeEngine:
    """Stands where `greenloop.engine.refine` does its work; keeps a history as the real one does.

    A test may replace its functions.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.result: Outcome | BaseException = solved(root)
        self.red: list[str] = [CASE]
        self.others = ""
        self.again = Status.PASSED
        self.meanwhile: Callable[[], Any] = lambda: None
        self.requests: list[Any] = []
        self.settings: list[Any] = []
        self.reverified: list[dict[str, bytes]] = []
        self.hang_after: int | None = None

    def late(self, name: str) -> Callable[..., Any]:
        """Calls the function that has this name then."""

        def call(*about: Any, **more: Any) -> Any:
            return getattr(self, name)(*about, **more)

        return call

    def events(self, attempts: Sequence[Attempt]) -> list[Event]:
        spec = Spec(cases=(Case(id=CASE, path="test_m.py", line=4),), selectors=(CASE,))
        problem = Problem(
            root=self.root,
            spec=spec,
            regions=(Region(path="m.py", qualname="double", start=1, end=2),),
            originals={"m.py": BEFORE, "test_m.py": TEST},
            files={"m.py": BEFORE, "test_m.py": TEST},
        )
        events: list[Event] = [
            Started(
                problem=problem,
                baseline=attempts[0],
                model="scripted",
                preset="plain",
                sandbox="bubblewrap",
                attempts=5,
            )
        ]
        for item in attempts[1:]:
            assert item.draft is not None
            events += [
                Planned(attempt=item.number, draft=item.draft, model="scripted", prompt_tokens=100),
                *(Looked(attempt=item.number, look=look) for look in item.looks),
                Token(attempt=item.number, text="def", count=1),
                Proposed(attempt=item.number, answer="def", usage=item.usage),
                Checked(attempt=item.number, error_class="", message=""),
                Tested(attempt=item),
            ]
        return events

    async def refine(
        self, request, *, settings, emit, report_status=lambda _text: None, user=None, model=None, pool=None
    ) -> Outcome:
        self.requests.append(request)
        self.settings.append(settings)
        report_status("opening the sandbox (bubblewrap)")
        if isinstance(self.result, BaseException):
            raise self.result
        if self.result.reason in (StopReason.ALREADY_GREEN, StopReason.ENVIRONMENT):
            emit(Finished(outcome=self.result))
            return self.result
        history = History.open()
        run = history.start_run(self.root, str(request.target), preset="plain", model="scripted", sandbox="bubblewrap")
        for number, event in enumerate(self.events(self.result.attempts)):
            if number == self.hang_after:
                await asyncio.Event().wait()
            emit(event)
        outcome = Outcome(**{**vars(self.result), "run": run})
        history.finish_run(run, outcome)
        history.close()
        self.meanwhile()
        emit(Finished(outcome=outcome))
        return outcome

    async def reverify(self, problem, files, *, settings) -> Verdict:
        self.reverified.append(dict(files))
        return verdict(self.again)

    async def find_others(self, _root, *, settings) -> str:
        return self.others

    async def list_failing_tests(self, root, folder, *, settings, report_status=lambda _text: None) -> list[str]:
        return self.red


@pytest.fixture
def project(tmp_path, monkeypatch):
    for name in ("STATE", "CONFIG", "CACHE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name.lower()))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PYTHONPATH", str(Path(refine.__file__).parents[1]))
    for name in ("GREENLOOP_MODEL", "NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    root = tmp_path / "a project"
    (root / "sub").mkdir(parents=True)
    (tmp_path / "home").mkdir()
    (root / "pyproject.toml").write_text("[project]\nname = 'a'\n")
    (root / "m.py").write_text(BEFORE)
    (root / "test_m.py").write_text(TEST)
    monkeypatch.chdir(root)
    return root


@pytest.fixture
def fake(project, monkeypatch):
    made = FakeEngine(project)
    monkeypatch.setattr(refine, "refine", made.late("refine"))
    monkeypatch.setattr(after_run, "reverify", made.late("reverify"))
    monkeypatch.setattr(testing, "list_failing_tests", made.late("list_failing_tests"))
    monkeypatch.setattr(testing, "find_others", made.late("find_others"))
    return made
