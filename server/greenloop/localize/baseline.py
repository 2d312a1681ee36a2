"""Baseline run before any model call: which target and related tests fail unchanged, why, and what they reach.

A test that fails because of the environment or is flaky is reported here, before any token is spent on it.
It must not know which model or preset the run will use.
"""

from __future__ import annotations

from greenloop.core.errors import UsageError
from greenloop.core.records.spec import TargetKind
from greenloop.core.run_state import Baseline
from greenloop.localize import failing_test, function_target
from greenloop.localize.context import BaselineContext


async def measure_baseline(context: BaselineContext) -> Baseline:
    """Measures the baseline of the target.

    Raises `UsageError` for a target that does not exist and `CannotVerifyError` where nothing can be verified.
    """
    if context.target.kind is TargetKind.TEST and context.aim is not None:
        raise UsageError(
            f"{context.target.selector} is a test; only functions can be improved.",
            remedy="Name the function: file.py::function.",
        )
    if context.target.kind is TargetKind.TEST:
        return await failing_test.measure(context)
    return await function_target.measure(context)
