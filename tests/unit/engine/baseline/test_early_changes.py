"""Which targets one-token changes are tried for while the related tests run."""

from __future__ import annotations

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from greenloop.core.records.attempt import Attempt
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Spec
from greenloop.core.records.verdict import Status, Verdict
from greenloop.engine.baseline.early_changes import EARLY, EarlyChanges
from greenloop_sandbox import Limits


@pytest.mark.parametrize(
    ("seconds", "told"),
    [(0.0, []), (0.3, [EARLY]), (5.0, [EARLY]), (6.5, [])],
    ids=["did not run", "quick", "slow on a busy machine", "as long as the related tests"],
)
async def test_targets_that_end_before_the_related_tests_do(seconds, told):
    async def nothing() -> None:
        pass

    async def open_session() -> Any:
        return SimpleNamespace(warm=nothing, close=nothing)

    statuses: list[str] = []
    early = EarlyChanges(open_session=open_session, encode=lambda _texts: {}, report_status=statuses.append)
    baseline: Any = SimpleNamespace(
        attempt=Attempt(number=0, verdict=Verdict(status=Status.FAILED, seconds=seconds)),
        problem=Problem(root=Path("/w"), spec=Spec(), regions=(), originals={}, files={}),
        outcomes={},
        limits=Limits(),
    )
    early.prepare()
    early.start(baseline)
    if early._working is not None:
        await asyncio.wait_for(early._working, 10)
    await early.stop()
    assert statuses == told
