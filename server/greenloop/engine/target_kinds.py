"""Prepares targets of kinds that plugins add, and asks them what is wrong where every test passes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from greenloop.core import entry_points
from greenloop.core.target_kinds import TargetStart
from greenloop.engine.sandbox_spec import build_sandbox_spec, ignore_status, open_session
from greenloop.project import workspace
from greenloop.project.settings import Settings
from greenloop.project.snapshot import Snapshot
from greenloop_sandbox import SandboxSpec, Session


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
    modules = entry_points.load_all(entry_points.TARGET_KINDS)
    sentences = [await module.describe(start) for module in modules if hasattr(module, "describe")]
    return " ".join(filter(None, sentences))


async def find_others(root: Path, *, settings: Settings, report_status: Callable[[str], None] = ignore_status) -> str:
    """As `describe_others`, in a sandbox that is opened for it."""
    root = workspace.check_root(root)
    place = await build_sandbox_spec(root, settings, report_status)
    async with open_session(place, settings) as (_sandbox, session):
        snapshot = Snapshot(root=root, buffers={})
        return await describe_others(build_start("", snapshot, session, place, settings, report_status))
