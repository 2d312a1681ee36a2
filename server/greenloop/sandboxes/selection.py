"""Selects the back end that runs the tests: the first that passes its self-test and opens.

It must not know what is run in it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from types import ModuleType
from typing import TypeVar

from greenloop.core import entry_points, registry
from greenloop.core.errors import CannotVerifyError, GreenloopError, SandboxBrokenError, SettingsError
from greenloop.core.ports import Sandbox, Session
from greenloop.core.records.sandbox import Limits, SandboxSpec
from greenloop.project.environment import cgroups
from greenloop.project.settings import Settings
from greenloop.sandboxes.pool import SandboxPool

# In order of preference; only the second works on systems other than Linux.
ORDER = ("bubblewrap", "docker")
# On the nodes of a Ray cluster; a part of the laboratory.
CLUSTER = "ray"

ReportStatus = Callable[[str], None]
T = TypeVar("T")


async def choose(settings: Settings, report_status: ReportStatus) -> Sandbox:
    """Returns the first back end that passes its self-test. Raises `CannotVerifyError` with the remedy of each."""

    async def load(kind: str) -> Sandbox:
        sandbox = await _load_tested(kind, settings)
        sandbox.report_status = report_status
        return sandbox

    return await _first(settings, report_status, load)


async def open_first(
    spec: SandboxSpec, settings: Settings, report_status: ReportStatus, pool: SandboxPool
) -> tuple[Sandbox, Session]:
    """Opens the first back end that passes its self-test; the caller releases the session to the pool.

    Raises `CannotVerifyError` with the remedy of each.
    """

    async def open_kind(kind: str) -> tuple[Sandbox, Session]:
        sandbox = await _load_tested(kind, settings, pool)
        sandbox.report_status = report_status
        report_status(f"opening the sandbox ({kind})")
        return sandbox, await pool.open(sandbox, spec)

    return await _first(settings, report_status, open_kind)


async def _first(settings: Settings, report_status: ReportStatus, attempt: Callable[[str], Awaitable[T]]) -> T:
    """The result of the first kind of sandbox that works."""
    kinds = ORDER if settings.sandbox.kind == "auto" else (settings.sandbox.kind,)
    refusals = []
    for kind in kinds:
        report_status(f"looking for a sandbox ({kind})")
        try:
            return await attempt(kind)
        except CannotVerifyError as error:
            refusals.append(error)
            if len(kinds) > 1:
                report_status(f"{kind} cannot be used: {error}")
    if len(refusals) == 1:
        raise refusals[0]
    raise CannotVerifyError(
        "No sandbox can be used here ("
        + "; ".join(f"{kind}: {str(error).rstrip('.')}" for kind, error in zip(kinds, refusals, strict=True))
        + ").",
        remedy=" Or: ".join(error.remedy for error in refusals if error.remedy),
    )


def load_back_end(kind: str) -> ModuleType:
    """The module of a back end. Raises `SettingsError` where it is not installed."""
    if kind == CLUSTER and not registry.has_part("sandboxes", CLUSTER):
        raise SettingsError(
            "Sandboxes on a Ray cluster belong to greenloop's laboratory, which is not installed.",
            remedy=entry_points.INSTALL_LABORATORY,
        )
    return registry.load_part("sandboxes", kind)


async def _load_tested(kind: str, settings: Settings, pool: SandboxPool | None = None) -> Sandbox:
    def make() -> Sandbox:
        back_end: Sandbox = load_back_end(kind).create(settings)
        return back_end

    sandbox = pool.back_end((kind, repr(settings.sandbox)), make) if pool is not None else make()
    probe = await sandbox.probe()
    if not probe.ok:
        raise CannotVerifyError(
            f"{kind}: {probe.detail}" if settings.sandbox.kind != "auto" else probe.detail, remedy=probe.remedy
        )
    return sandbox


async def suggest_other(error: SandboxBrokenError, settings: Settings, failed_kind: str) -> SandboxBrokenError:
    """Adds the other back end to the remedy of an error, where that one is usable; returns the error."""
    for kind in ORDER:
        if kind == failed_kind:
            continue
        try:
            await _load_tested(kind, settings)
        except GreenloopError:
            continue
        error.remedy = f"{kind} works here: set sandbox.kind = {kind} (or --sandbox {kind}). {error.remedy}"
        break
    return error


def clamp_limits(limits: Limits, report_status: ReportStatus) -> Limits:
    """Lowers the memory limit to what this machine or container allows in total; reports limits above that."""
    allowed = cgroups.read_limits()
    if allowed.memory is not None and allowed.memory < limits.memory:
        report_status(
            f"this machine allows {allowed.memory >> 20} MiB of memory in total, less than sandbox.memory = "
            f"{limits.memory >> 20}: tests get only that much"
        )
        limits = replace(limits, memory=allowed.memory)
    if allowed.processes is not None and allowed.processes < limits.processes:
        report_status(
            f"this machine allows {allowed.processes} processes in total, less than sandbox.processes = "
            f"{limits.processes}: tests may fail because of that"
        )
    return limits
