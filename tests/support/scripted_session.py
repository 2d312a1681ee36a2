"""A session with one scripted execution, and a problem and tools around it."""

from __future__ import annotations

import random
from pathlib import Path

from greenloop.core.ports import NoUser, Tools
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Spec
from greenloop_sandbox import TestRun


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


async def ask(completion):
    raise AssertionError(completion)


def make_tools(session):
    return Tools(ask=ask, run=ask, session=session, user=NoUser(), rng=random.Random(0))
