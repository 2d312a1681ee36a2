"""A session with one scripted execution, and a problem and tools around it."""

from __future__ import annotations

import random
from pathlib import Path

from greenloop.core.ports import NoUser, Tools
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Case, Spec
from greenloop.core.verification_inputs import VerificationInputs
from greenloop_sandbox import Limits, TestRun

OLD, NEW = {"m.py": "def f(n):\n    return n\n"}, {"m.py": "def f(n):\n    return n + 1\n"}
CASES = tuple(Case(id=f"test_m.py::test_{name}", path="test_m.py", line=1) for name in "abc")


class ScriptedSession:
    """A session that answers every run with the same execution and remembers what it was asked."""

    name = "scripted"

    def __init__(self, execution):
        self.execution = execution
        self.asked: list[TestRun] = []

    async def run(self, run):
        self.asked.append(run)
        return self.execution

    async def close(self):
        """Nothing is open."""


def make_problem(text, path, **more):
    return Problem(root=Path(), originals={path: text}, files={path: text}, **{"regions": (), "spec": Spec(), **more})


def make_inputs(outcomes) -> VerificationInputs:
    """The inputs of a verification of `NEW` by the three cases."""
    return VerificationInputs(
        problem=make_problem(OLD["m.py"], "m.py", spec=Spec(cases=CASES, selectors=("test_m.py",))),
        outcomes=outcomes,
        limits=Limits(),
        suite_seconds=1,
        encode=lambda texts: {path: text.encode() for path, text in texts.items()},
    )


async def ask(completion):
    raise AssertionError(completion)


def make_tools(session):
    return Tools(ask=ask, run=ask, session=session, user=NoUser(), rng=random.Random(0))
