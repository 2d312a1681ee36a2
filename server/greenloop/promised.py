"""The doctor's rows about the walls: for each back end that works here, each promise and what was tried."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from greenloop import promises, registry, workspace
from greenloop.core.errors import GreenloopError
from greenloop.core.nouns import Environment, Probe
from greenloop.promises import Finding
from greenloop.settings import Settings

# A back end that has not told by then is not waited for.
PATIENCE = 40.0


@dataclass(frozen=True, kw_only=True)
class Tried:
    """What one back end's wall came to: its findings, or why nothing could be tried."""

    name: str
    findings: tuple[Finding, ...] = ()
    reason: str = ""

    @property
    def broken(self) -> list[str]:
        """The promises that do not hold."""
        return [finding.promise for finding in self.findings if finding.held is False]


async def examine(root: Path, settings: Settings, probes: Sequence[Probe]) -> list[Tried]:
    """One after the other, for they would disturb each other's limits. Never raises for what is missing."""
    try:
        environment = await asyncio.to_thread(workspace.environment, root, settings)
    except GreenloopError:
        return []
    wanted = settings.sandbox.kind
    usable = [probe for probe in probes if probe.ok and probe.name != "none" and wanted in ("auto", probe.name)]
    return [await _of(probe, environment, settings) for probe in usable]


async def _of(probe: Probe, environment: Environment, settings: Settings) -> Tried:
    if probe.name == "docker" and not probe.image:
        return Tried(name=probe.name, reason="its image is not here yet; ask again after the first run")
    sandbox = registry.load("sandboxes", probe.name).create(settings)
    try:
        async with asyncio.timeout(PATIENCE):
            return Tried(name=probe.name, findings=tuple(await promises.examine(sandbox, probe, environment)))
    except TimeoutError:
        return Tried(name=probe.name, reason=f"it took longer than {PATIENCE:g} s")
    except (GreenloopError, OSError) as error:
        return Tried(name=probe.name, reason=str(error))


def remedy(name: str, usable: Sequence[str]) -> str:
    """What to do about a wall that does not keep a promise."""
    others = [other for other in usable if other != name]
    instead = f"Use the other one: set sandbox.kind = {others[0]}." if others else "Run only code that you trust."
    return f"{instead} docs/security.md says what is promised; please report this."
