"""The port for code that tests cannot run yet: names that only a test uses, and modules that cannot be imported.

An entry point of the group `greenloop.incomplete_code` names a module like `IncompleteCode`. Without one, a test that
cannot be collected is refused. This module must not know how code is completed.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from greenloop.core import entry_points
from greenloop.core.records.spec import Region
from greenloop.core.run_state import Baseline
from greenloop.localize.context import BaselineContext
from greenloop.localize.regions import TextOf
from greenloop_sandbox import Execution, Failure

Measure = Callable[[BaselineContext], Awaitable[Baseline]]
Stubs = tuple[Mapping[str, str], tuple[Region, ...]]  # texts by path, and the regions that they add


class IncompleteCode(Protocol):
    """The functions of a module that completes code for the baseline."""

    def find_stubs(
        self,
        failures: Sequence[Failure],
        text_of: TextOf,
        root: Path,
        test_path: str,
        *,
        patterns: Sequence[str] | None = None,
    ) -> Stubs | None:
        """Returns stubs for the names that must be written first; None where the failures have another cause."""

    async def measure_completed(
        self, context: BaselineContext, execution: Execution, measure: Measure
    ) -> Baseline | None:
        """Returns the baseline of a target that cannot be collected, by `measure` over completed code, or None."""


def find_stubs(context: BaselineContext, failures: Sequence[Failure], text_of: TextOf) -> Stubs | None:
    """The stubs of the first module that has some."""
    root, path = context.snapshot.root, context.target.path
    found = (each.find_stubs(failures, text_of, root, path, patterns=context.patterns) for each in _modules())
    return next((stubs for stubs in found if stubs), None)


async def measure_completed(context: BaselineContext, execution: Execution, measure: Measure) -> Baseline | None:
    """The baseline of the first module that completes the code."""
    for module in _modules():
        if baseline := await module.measure_completed(context, execution, measure):
            return baseline
    return None


def _modules() -> Sequence[IncompleteCode]:
    return entry_points.load_all(entry_points.INCOMPLETE_CODE)
