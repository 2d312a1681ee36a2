"""The port `TargetAdapter`: targets in files that the tests do not see as they are, such as the cells of a notebook.

Entry points of the group `greenloop.target_adapters` name modules with its functions.
It must not know any kind of such a file.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from greenloop.core import entry_points
from greenloop.core.errors import GreenloopError
from greenloop.core.records.outcome import Outcome
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Target
from greenloop.core.target_kinds import TargetStart
from greenloop.engine.sandbox_spec import build_sandbox_spec, ignore_status, open_session
from greenloop.project import workspace
from greenloop.project.settings import Settings
from greenloop.project.snapshot import Snapshot
from greenloop_sandbox import SandboxSpec, Session

if TYPE_CHECKING:
    from greenloop.engine.refine import RefineRequest  # slow to import
    from greenloop.project.settings import Settings


class Unadapted:
    """An ordinary file's target: the tests see what the user sees."""

    def to_request(self, request: RefineRequest) -> RefineRequest:
        """The request with the target, and the files that stand for the user's in the sandbox."""
        return request

    def adapt_settings(self, settings: Settings) -> Settings:
        return settings

    def label(self, text: str) -> str:
        """A message with places that the user knows."""
        return text

    def label_json(self, value: dict[str, Any]) -> dict[str, Any]:
        return value

    def show(self, outcome: Outcome) -> Outcome:
        """The outcome for display."""
        return outcome

    def to_files(self, outcome: Outcome) -> Outcome:
        """The outcome with the user's files. Raises `WorkspaceError` where a change cannot be put into them."""
        return outcome

    def originals(self, problem: Problem) -> Mapping[str, str | None]:
        """The user's files on which a result depends."""
        return problem.originals

    def to_sandbox(self, files: dict[str, bytes]) -> dict[str, bytes]:
        """The user's files as the tests see them. Raises `UsageError` where they no longer have the target."""
        return files

    @contextmanager
    def relabel_errors(self) -> Iterator[None]:
        """Puts places that the user knows into errors raised inside the block."""
        try:
            yield
        except GreenloopError as error:
            error.args, error.remedy = (self.label(str(error)),), self.label(error.remedy)
            raise


class AdaptedTarget(Unadapted, ABC):
    """A target that an adapter found: each method may translate."""

    @abstractmethod
    def locate(self) -> tuple[Target, str]:
        """The target, and the text in which its lines count."""


class TargetAdapter(Protocol):
    """A kind of file with targets. Reads files, never writes."""

    def owns(self, file: str) -> bool:
        """Is it a file of this kind, by its name?"""

    def adapt(self, root: Path, file: str, rest: str) -> AdaptedTarget:
        """The target that the user typed: `rest` is all after the file. Raises `UsageError`."""

    def of_run(self, root: Path, outcome: Outcome) -> AdaptedTarget | None:
        """The target of a past run; None: not of this kind. Raises `WorkspaceError` where its file changed since."""

    def title(self, root: Path, target: str) -> str:
        """A past run's target as the user types it; unchanged where it is not of this kind."""

    def label_past(self, root: Path, target: str, text: str) -> str:
        """A past run's message with places that still hold."""


UNADAPTED = Unadapted()


def find_adapter(file: str) -> TargetAdapter | None:
    """The adapter that owns a file."""
    return next((adapter for adapter in _adapters() if adapter.owns(file)), None)


def adapt(root: Path, file: str, rest: str) -> Unadapted:
    """The target that the user typed, of whichever kind its file is. Raises `UsageError`."""
    adapter = find_adapter(file)
    return UNADAPTED if adapter is None else adapter.adapt(root, file, rest)


def of_run(root: Path, outcome: Outcome) -> Unadapted:
    """The target of a past run. Raises `WorkspaceError` where an adapted file changed since."""
    return next((found for adapter in _adapters() if (found := adapter.of_run(root, outcome))), UNADAPTED)


def title(root: Path, target: str) -> str:
    """A past run's target as the user types it."""
    for adapter in _adapters():
        target = adapter.title(root, target)
    return target


def label_past(root: Path, target: str, text: str) -> str:
    """A past run's message with places that still hold."""
    for adapter in _adapters():
        text = adapter.label_past(root, target, text)
    return text


def _adapters() -> tuple[TargetAdapter, ...]:
    return entry_points.load_all(entry_points.TARGET_ADAPTERS)


# -- kinds of targets -------------------------------------------------------------------------------------------------


def build_start(
    text: str,
    snapshot: Snapshot,
    session: Session,
    place: SandboxSpec,
    settings: Settings,
    report_status: Callable[[str], None] = ignore_status,
) -> TargetStart:
    """The inputs of a plugin's target."""
    return TargetStart(
        text=text,
        root=snapshot.root,
        buffers=snapshot.buffers,
        text_of=snapshot.text,
        session=session,
        place=place,
        report_status=report_status,
        longest=settings.sandbox.longest,
    )


async def describe_others(start: TargetStart) -> str:
    """Says what may be fixed though every test passes, with the command; "" where there is nothing."""
    return " ".join(filter(None, [await module.describe(start) for module in _find_describing(start.root)]))


async def find_others(root: Path, *, settings: Settings, report_status: Callable[[str], None] = ignore_status) -> str:
    """As `describe_others`, in a sandbox that is opened only where there is something to look for."""
    root = workspace.check_root(root)
    if not await asyncio.to_thread(_find_describing, root):
        return ""
    place = await build_sandbox_spec(root, settings, report_status)
    async with open_session(place, settings) as (_sandbox, session):
        snapshot = Snapshot(root=root, buffers={})
        return await describe_others(build_start("", snapshot, session, place, settings, report_status))


def _find_describing(root: Path) -> list[Any]:
    """The kinds of targets that may find something in this workspace."""
    modules = entry_points.load_all(entry_points.TARGET_KINDS)
    return [module for module in modules if hasattr(module, "describe") and module.is_configured(root)]
