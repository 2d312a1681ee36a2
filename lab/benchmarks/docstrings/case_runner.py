"""Runs tests over a module in the sandbox, and says of each how it went and what the function gave."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from greenloop.engine import sandbox_spec
from greenloop.project import sandbox_selection
from greenloop.project.settings import Settings
from greenloop_sandbox import CaseResult, SandboxPool, Session, TestRun, case_results

SECONDS = 5.0
PASSED, NEVER = "passed", "never"  # never: it did not end
MAX_VALUE_LENGTH = 500  # characters of a value that are kept


@dataclass(frozen=True, kw_only=True)
class CaseRunner:
    session: Session

    async def run(
        self, files: Mapping[str, str], selectors: Sequence[str], *, seconds: float = SECONDS
    ) -> dict[str, str]:
        """By case id what was seen. Cases that the end of the run kept from beginning are run once more, alone."""
        seen = await self._once(files, selectors, seconds)
        missing = [case for case in selectors if "::" in case and case not in seen]
        if missing and len(missing) < len(selectors):
            seen |= await self._once(files, missing, seconds)
        return {case: seen.get(case, NEVER) for case in dict.fromkeys([*selectors, *seen])}

    async def _once(self, files: Mapping[str, str], selectors: Sequence[str], seconds: float) -> dict[str, str]:
        laid = {path: text.encode() for path, text in files.items()}
        execution = await self.session.run(TestRun(selectors=tuple(selectors), files=laid, seconds=seconds))
        if execution.broken:
            raise RuntimeError(execution.broken)
        ended = [result for result in case_results(execution) if result.outcome != "missing"]
        return {result.id: describe_result(result) for result in ended}


def describe_result(result: CaseResult) -> str:
    """`passed`, the value that the function gave, or the class of what it raised."""
    if result.passed:
        return PASSED
    failure = result.failure
    if failure is None:
        return result.outcome
    if failure.observed is not None:
        return f"= {failure.observed[:MAX_VALUE_LENGTH]}"
    return f"! {failure.type}"


@asynccontextmanager
async def open_runner(root: Path) -> AsyncIterator[CaseRunner]:
    settings, pool = Settings(), SandboxPool()
    place = await sandbox_spec.build_sandbox_spec(root, settings)
    _sandbox, session = await sandbox_selection.open_first(place, settings, sandbox_spec.ignore_status, pool)
    try:
        yield CaseRunner(session=session)
    finally:
        await asyncio.shield(pool.release(session))
        await pool.close()
