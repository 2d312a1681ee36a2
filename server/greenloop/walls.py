"""Which back end runs the tests: the first that passes its self-test and opens, and which other one could.

It must not know what is run in it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from greenloop import cgroups, registry
from greenloop.core.errors import CannotVerify, GreenloopError, SandboxBroke
from greenloop.core.nouns import Limits, Place
from greenloop.core.ports import Sandbox, Session
from greenloop.keeper import Keeper
from greenloop.settings import Settings

# By preference; on other systems than Linux only the second can work.
ORDER = ("bubblewrap", "docker")

Say = Callable[[str], None]


async def choose(settings: Settings, say: Say) -> Sandbox:
    """The first that passes its self-test. Raises `CannotVerify` with each one's remedy."""
    sandbox, _session = await _first(settings, say, None, None)
    return sandbox


async def opened(place: Place, settings: Settings, say: Say, keeper: Keeper) -> tuple[Sandbox, Session]:
    """The first that passes its self-test and can be opened for this place; the caller releases it to the keeper.

    Raises `CannotVerify` with each one's remedy.
    """
    sandbox, session = await _first(settings, say, place, keeper)
    assert session is not None
    return sandbox, session


async def _first(
    settings: Settings, say: Say, place: Place | None, keeper: Keeper | None
) -> tuple[Sandbox, Session | None]:
    kinds = ORDER if settings.sandbox.kind == "auto" else (settings.sandbox.kind,)
    refusals = []
    for kind in kinds:
        say(f"looking for a sandbox ({kind})")
        try:
            sandbox = await _tested(kind, settings, keeper)
            sandbox.say = say
            if place is None or keeper is None:
                return sandbox, None
            say(f"opening the sandbox ({kind})")
            return sandbox, await keeper.open(sandbox, place)
        except CannotVerify as error:
            refusals.append(error)
            if len(kinds) > 1:
                say(f"{kind} cannot be used: {error}")
    if len(refusals) == 1:
        raise refusals[0]
    raise CannotVerify(
        "No sandbox can be used here ("
        + "; ".join(f"{kind}: {error}" for kind, error in zip(kinds, refusals, strict=True))
        + ").",
        remedy=" Or: ".join(error.remedy for error in refusals if error.remedy),
    )


async def _tested(kind: str, settings: Settings, keeper: Keeper | None = None) -> Sandbox:
    def make() -> Sandbox:
        found: Sandbox = registry.load("sandboxes", kind).create(settings)
        return found

    sandbox = keeper.back_end((kind, repr(settings.sandbox)), make) if keeper is not None else make()
    probe = await sandbox.probe()
    if not probe.ok:
        raise CannotVerify(
            f"{kind}: {probe.detail}" if settings.sandbox.kind != "auto" else probe.detail, remedy=probe.remedy
        )
    return sandbox


async def with_another(error: SandboxBroke, settings: Settings, broken: str) -> SandboxBroke:
    """The error of a back end that broke in the middle, with the other one as its remedy where that is usable."""
    for kind in ORDER:
        if kind == broken:
            continue
        try:
            await _tested(kind, settings)
        except GreenloopError:
            continue
        error.remedy = f"{kind} works here: set sandbox.kind = {kind} (or --sandbox {kind}). {error.remedy}"
        break
    return error


def fitting(limits: Limits, say: Say) -> Limits:
    """The limits, none of them more than this machine or container allows in all; says once what was cut."""
    found = cgroups.allowed()
    if found.memory is not None and found.memory < limits.memory:
        say(
            f"this container allows {found.memory >> 20} MiB of memory in all, less than sandbox.memory = "
            f"{limits.memory >> 20}: tests get no more than that"
        )
        limits = replace(limits, memory=found.memory)
    if found.processes is not None and found.processes < limits.processes:
        say(
            f"this container allows {found.processes} processes in all, less than sandbox.processes = "
            f"{limits.processes}: tests may fail for want of them"
        )
    return limits
