"""Selects the sandbox that the user's settings ask for, and bounds it by what this machine allows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import ModuleType

from greenloop.core import entry_points, registry
from greenloop.core.errors import SandboxBrokenError, SettingsError
from greenloop.project.environment import cgroups
from greenloop.project.settings import Settings
from greenloop_sandbox import Limits, Sandbox, SandboxPool, SandboxSpec, Session, selection

# On the nodes of a Ray cluster; a part of the laboratory.
CLUSTER = "ray"

ReportStatus = Callable[[str], None]


def load_back_end(kind: str) -> ModuleType:
    """The module of a back end. Raises `SettingsError` where it is not installed."""
    if kind == CLUSTER and not registry.has_part("sandboxes", CLUSTER):
        raise SettingsError(
            "Sandboxes on a Ray cluster belong to greenloop's laboratory, which is not installed.",
            remedy=entry_points.INSTALL_LABORATORY,
        )
    return registry.load_part("sandboxes", kind)


def make(kind: str, settings: Settings) -> Sandbox:
    """The back end of this kind, by the user's settings; it has not been tested."""
    back_end: Sandbox = load_back_end(kind).create(settings.sandbox)
    return back_end


async def choose(settings: Settings, report_status: ReportStatus) -> Sandbox:
    """Returns the first back end that passes its self-test. Raises `CannotVerifyError` with the remedy of each."""
    return await selection.choose(settings.sandbox.kind, lambda kind: make(kind, settings), report_status)


async def open_first(
    spec: SandboxSpec, settings: Settings, report_status: ReportStatus, pool: SandboxPool
) -> tuple[Sandbox, Session]:
    """Opens the first back end that passes its self-test; the caller releases the session to the pool.

    Raises `CannotVerifyError` with the remedy of each.
    """

    def make_pooled(kind: str) -> Sandbox:
        return pool.back_end((kind, repr(settings.sandbox)), lambda: make(kind, settings))

    return await selection.open_first(spec, settings.sandbox.kind, make_pooled, report_status, pool)


async def suggest_other(error: SandboxBrokenError, settings: Settings, failed_kind: str) -> SandboxBrokenError:
    """Adds the other back end to the remedy of an error, where that one is usable; returns the error."""
    if settings.sandbox.services:  # that only one back end starts
        return error
    if kind := await selection.find_other(lambda each: make(each, settings), failed_kind):
        error.remedy = f"{kind} works here: set sandbox.kind = {kind} (or --sandbox {kind}). {error.remedy}"
    return error


def clamp_limits(limits: Limits, report_status: ReportStatus, allowed: cgroups.CgroupLimits | None = None) -> Limits:
    """Lowers the memory limit to what this machine or container allows in total; reports limits above that."""
    allowed = allowed or cgroups.read_limits()
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
