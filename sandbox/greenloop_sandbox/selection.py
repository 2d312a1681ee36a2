"""Chooses the back end that runs the tests: the first that passes its self-test and opens.

It must not know what is run in it. `make` returns the back end of a kind; it raises `CannotVerifyError` for one that
cannot be made.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

from greenloop_sandbox.errors import CannotVerifyError, GreenloopError
from greenloop_sandbox.pool import SandboxPool
from greenloop_sandbox.ports import Sandbox, Session
from greenloop_sandbox.records import SandboxSpec

# In order of preference; only the second works on systems other than Linux.
ORDER = ("bubblewrap", "docker")
AUTO = "auto"

Make = Callable[[str], Sandbox]
ReportStatus = Callable[[str], None]
T = TypeVar("T")


async def choose(kind: str, make: Make, report_status: ReportStatus) -> Sandbox:
    """Returns the back end of this kind; for `auto`, the first that passes its self-test.

    Raises `CannotVerifyError` with the remedy of each.
    """

    async def load(each: str) -> Sandbox:
        return await _make_tested(each, make, report_status, names_kind=kind != AUTO)

    return await _first(kind, report_status, load)


async def open_first(
    spec: SandboxSpec, kind: str, make: Make, report_status: ReportStatus, pool: SandboxPool
) -> tuple[Sandbox, Session]:
    """Opens the back end of this kind, as `choose` does; the caller releases the session to the pool."""

    async def open_kind(each: str) -> tuple[Sandbox, Session]:
        sandbox = await _make_tested(each, make, report_status, names_kind=kind != AUTO)
        report_status(f"opening the sandbox ({each})")
        return sandbox, await pool.open(sandbox, spec)

    return await _first(kind, report_status, open_kind)


async def find_other(make: Make, failed_kind: str) -> str:
    """The kind of another back end that works here, or ""."""
    for kind in ORDER:
        if kind == failed_kind:
            continue
        try:
            await _make_tested(kind, make, lambda _text: None, names_kind=False)
        except GreenloopError:
            continue
        return kind
    return ""


async def _first(kind: str, report_status: ReportStatus, attempt: Callable[[str], Awaitable[T]]) -> T:
    """The result of the first kind of sandbox that works."""
    kinds = ORDER if kind == AUTO else (kind,)
    refusals = []
    for each in kinds:
        report_status(f"looking for a sandbox ({each})")
        try:
            return await attempt(each)
        except CannotVerifyError as error:
            refusals.append(error)
            if len(kinds) > 1:
                report_status(f"{each} cannot be used: {error}")
    if len(refusals) == 1:
        raise refusals[0]
    raise CannotVerifyError(
        "No sandbox can be used here ("
        + "; ".join(f"{each}: {str(error).rstrip('.')}" for each, error in zip(kinds, refusals, strict=True))
        + ").",
        remedy=" Or: ".join(error.remedy for error in refusals if error.remedy),
    )


async def _make_tested(kind: str, make: Make, report_status: ReportStatus, *, names_kind: bool) -> Sandbox:
    sandbox = make(kind)
    sandbox.report_status = report_status
    probe = await sandbox.probe()
    if not probe.ok:
        raise CannotVerifyError(f"{kind}: {probe.detail}" if names_kind else probe.detail, remedy=probe.remedy)
    return sandbox
