"""The engine as the server uses it, imported at the first run, in a thread."""

from __future__ import annotations

import asyncio
import gc
import importlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

from greenloop.api.pool import SandboxPool
from greenloop.api.settings import Settings
from greenloop.core.records.outcome import Outcome
from greenloop.core.records.problem import Problem
from greenloop.core.records.verdict import Verdict

if TYPE_CHECKING:
    from greenloop.api.engine import RefineRequest
    from greenloop.api.testing import SuiteReport


class RunEngine(Protocol):
    """Interface of the module `greenloop.api.engine`, or of a stand-in with the same functions."""

    async def refine(self, request: RefineRequest, **options: Any) -> Outcome: ...

    async def warm(self, root: Path, settings: Settings, pool: SandboxPool) -> None: ...

    async def reverify(self, problem: Problem, files: Mapping[str, bytes], *, settings: Settings) -> Verdict: ...

    async def run_tests(self, root: Path, selectors: Sequence[str], **options: Any) -> SuiteReport: ...

    async def prepare(self, root: Path, settings: Settings, pool: SandboxPool) -> None: ...


class Engines:
    """The engine, and the pool of sandboxes that its runs share."""

    def __init__(self, engine: RunEngine | None = None) -> None:
        self.pool = SandboxPool()
        self._engine = engine

    async def engine(self) -> RunEngine:
        """The engine; its first import takes one to two seconds and happens off the event loop."""
        if self._engine is None:
            self._engine = cast("RunEngine", await asyncio.to_thread(importlib.import_module, "greenloop.api.engine"))
            # Imported objects live as long as the process; without this every collection traverses them (30 ms).
            gc.freeze()
        return self._engine
