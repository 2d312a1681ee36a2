"""Uses the baseline of a workspace's last request again where the next one is about the same target and files.

It is kept with the workspace's sandbox, for ten minutes: tests may also depend on the time or on what is outside.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from time import monotonic
from typing import Any

from greenloop.core.run_state import Baseline
from greenloop.localize.context import BaselineContext
from greenloop.project.snapshot import read_stamps
from greenloop_sandbox import SandboxPool

LONGEST = 600.0  # seconds for which a baseline counts
AGAIN = "reusing the results of the last run: no file has changed"


@dataclass(frozen=True, kw_only=True)
class _Kept:
    basis: object
    baseline: Baseline
    until: float


@dataclass(kw_only=True)
class KnownBaseline:
    """Baseline that is known for the target of one request before it is measured. `clock` returns seconds.

    Without a pool of other requests none is known.
    """

    context: BaselineContext
    pool: SandboxPool | None
    clock: Callable[[], float] = monotonic
    _basis: object = None

    async def find(self) -> Baseline | None:
        """Returns the baseline of the last request, with its measurement for this one; None where it does not count."""
        if self.pool is None:
            return None
        self._basis = await asyncio.to_thread(_basis, self.context)
        kept = self.pool.remembered.get(self.context.place.root)
        if not isinstance(kept, _Kept) or self._basis is None or kept.basis != self._basis or self.clock() > kept.until:
            return None
        self.context.report_status(AGAIN)
        measurement = kept.baseline.measurement
        return replace(kept.baseline, measurement=measurement and replace(measurement, context=self.context))

    def keep(self, baseline: Baseline) -> None:
        """Keeps a baseline that was measured after `find`, instead of the workspace's last one."""
        if self.pool is not None and self._basis is not None and not baseline.has_result:
            until = self.clock() + LONGEST
            self.pool.remembered[self.context.place.root] = _Kept(basis=self._basis, baseline=baseline, until=until)


def _basis(context: BaselineContext) -> Any:
    """All that a baseline depends on, or None where that is too much to look at. Blocking."""
    environment, settings = context.place.environment, context.settings
    stamps = read_stamps((context.place.root, *environment.extra))
    if stamps is None or context.known_fault is not None:
        return None
    packages = [path.stat().st_mtime_ns for path in sorted(environment.prefix.glob("lib*/python*/*-packages"))]
    return (
        context.target,
        context.comment,
        context.aim,
        context.place,
        replace(settings, model="", preset="", attempts=0),  # which a baseline does not depend on
        dict(context.snapshot.buffers),
        packages,
        stamps,
    )
