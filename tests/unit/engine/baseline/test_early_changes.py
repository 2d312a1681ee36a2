"""Which targets one-token changes are tried for while the related tests run."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from greenloop.engine.baseline import early_changes
from greenloop.engine.baseline.early_changes import EARLY, EarlyChanges
from greenloop_sandbox import Limits


@pytest.mark.parametrize(
    ("seconds", "told"),
    [(0.0, []), (0.3, [EARLY]), (5.0, [EARLY]), (6.5, [])],
    ids=["did not run", "quick", "slow on a busy machine", "as long as the related tests"],
)
async def test_targets_that_end_before_the_related_tests_do(monkeypatch, seconds, told):
    async def nothing() -> None:
        pass

    async def open_session() -> Any:
        return SimpleNamespace(warm=nothing, close=nothing)

    monkeypatch.setattr(early_changes, "mutants", lambda *_arguments: iter(()))
    statuses: list[str] = []
    early = EarlyChanges(open_session=open_session, encode=lambda _texts: {}, report_status=statuses.append)
    baseline: Any = SimpleNamespace(
        attempt=SimpleNamespace(verdict=SimpleNamespace(seconds=seconds)),
        problem=SimpleNamespace(spec=None, suspects=()),
        outcomes={},
        limits=Limits(),
    )
    early.prepare()
    early.start(baseline)
    if early._working is not None:
        await asyncio.wait_for(early._working, 10)
    await early.stop()
    assert statuses == told
