"""Place where the tests of a request run: the workspace's sandbox spec, and the first usable sandbox."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

from greenloop.core import entry_points
from greenloop.core.errors import SandboxBrokenError, SettingsError
from greenloop.project import hidden, sandbox_selection, workspace
from greenloop.project.environment import interpreters
from greenloop.project.settings import Settings
from greenloop_sandbox import Limits, Sandbox, SandboxPool, SandboxSpec, Service, Session


def ignore_status(_text: str) -> None:
    """Ignores a status line."""


async def choose_sandbox(
    root: Path,
    settings: Settings,
    report_status: Callable[[str], None] = ignore_status,
    tests: Sequence[str] = (),
) -> tuple[Sandbox, SandboxSpec]:
    """Returns the first sandbox that passes its self-test, and its spec.

    Raises `CannotVerifyError` with the remedy of each where none does.
    """
    place = await build_sandbox_spec(root, settings, report_status, tests=tests)
    return await sandbox_selection.choose(settings, report_status), place


@asynccontextmanager
async def open_session(
    place: SandboxSpec,
    settings: Settings,
    report_status: Callable[[str], None] = ignore_status,
    pool: SandboxPool | None = None,
) -> AsyncIterator[tuple[Sandbox, Session]]:
    """The first sandbox that can be used, and a session of the pool in it; without a pool it is closed at the end.

    Raises `CannotVerifyError` where no sandbox can be used, and where it breaks, with another one as the remedy.
    """
    shared = pool or SandboxPool()
    try:
        sandbox, session = await sandbox_selection.open_first(place, settings, report_status, shared)
        try:
            yield sandbox, session
        except SandboxBrokenError as error:
            raise await sandbox_selection.suggest_other(error, settings, sandbox.name) from error
        finally:
            await asyncio.shield(shared.release(session))
    finally:
        if pool is None:
            await shared.close()


async def build_sandbox_spec(
    root: Path,
    settings: Settings,
    report_status: Callable[[str], None] = ignore_status,
    variables: Mapping[str, str] | None = None,
    tests: Sequence[str] = (),
) -> SandboxSpec:
    """Describes where these tests run: the workspace, its interpreter, masked files, limits, variables beyond the
    settings'.

    Raises `CannotVerifyError` without an interpreter, `SettingsError` for a service that is not known.
    """
    environment = await asyncio.to_thread(interpreters.find_environment, root, settings, tests=tests)
    report_status(f"tests run with {interpreters.describe_environment(environment, root)}")
    if other := interpreters.describe_disagreement(environment, root, os.environ):
        report_status(other)
    services, addresses = await asyncio.to_thread(_find_services, root, settings.sandbox.services)
    place = SandboxSpec(
        root=root,
        environment=environment,
        masked=await asyncio.to_thread(hidden.masked_patterns, settings, root),
        limits=Limits(
            seconds=settings.sandbox.seconds,
            memory=settings.sandbox.memory << 20,
            processes=settings.sandbox.processes,
        ),
        image=settings.sandbox.image,
        network=settings.sandbox.network,
        variables=dict(addresses)
        | {name: os.environ[name] for name in settings.sandbox.env if name in os.environ}
        | dict(variables or {}),
        services=services,
        start=workspace.find_start(root, interpreters.common_folder(tests)),
    )
    return replace(place, limits=sandbox_selection.clamp_limits(place.limits, report_status))


def _find_services(root: Path, wanted: Sequence[str]) -> tuple[tuple[Service, ...], Mapping[str, str]]:
    """The services that the tests connect to, and the variables with their addresses, from the plugin that knows them.

    An entry point of the group `greenloop.services` names a module with this function.
    """
    if not wanted:
        return (), {}
    if (module := next(iter(entry_points.load_all(entry_points.SERVICES)), None)) is None:
        raise SettingsError(
            f"`sandbox.services` names {wanted[0]}, and nothing that finds services is installed.",
            remedy="Install greenloop again, with its plugins.",
        )
    found: tuple[tuple[Service, ...], Mapping[str, str]] = module.find_services(root, wanted)
    return found
