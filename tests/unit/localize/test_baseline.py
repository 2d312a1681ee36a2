"""Targets that have no baseline."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from greenloop.core.aims import Aim
from greenloop.core.errors import UsageError
from greenloop.core.records.spec import TargetKind
from greenloop.localize.baseline import measure_baseline


async def test_a_test_cannot_be_made_faster():
    target = SimpleNamespace(kind=TargetKind.TEST, selector="test_m.py::test_f")
    context: Any = SimpleNamespace(target=target, aim=Aim(requirement="improve"))
    with pytest.raises(UsageError, match=r"test_m\.py::test_f is a test") as refused:
        await measure_baseline(context)
    assert "Name the function" in refused.value.remedy
