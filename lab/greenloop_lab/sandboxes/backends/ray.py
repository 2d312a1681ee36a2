"""Sandboxes on the nodes of a Ray cluster, for suites that take minutes: their cases are split by measured time.

Each node isolates with its own back end; lab/docs/scaling.md says what the nodes need.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any

from greenloop.core.errors import CannotVerifyError
from greenloop.project.settings import SandboxSettings, Settings
from greenloop_lab.sandboxes.cluster import connection
from greenloop_lab.sandboxes.cluster.session import NAME, ClusterSession
from greenloop_sandbox import Probe, SandboxSpec

parse_address = connection.parse_address

log = logging.getLogger(__name__)


def create(settings: SandboxSettings) -> RaySandbox:
    return RaySandbox(Settings(sandbox=settings))


class RaySandbox:
    """The back end on a cluster."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self.report_status: Callable[[str], None] = log.debug

    @property
    def name(self) -> str:
        return NAME

    async def probe(self) -> Probe:
        """Connects to the cluster, where the settings name this back end. Never raises."""
        if self._settings.sandbox.kind != NAME:
            return Probe(name=NAME, ok=False, detail="not asked for", remedy="Set sandbox.kind = ray.")
        try:
            ray = await self._connect()
        except CannotVerifyError as error:
            return Probe(name=NAME, ok=False, detail=str(error), remedy=error.remedy)
        nodes = [node for node in ray.nodes() if node["Alive"] and node["Resources"].get("CPU")]
        processors = int(sum(node["Resources"]["CPU"] for node in nodes))
        if not processors:
            return Probe(
                name=NAME,
                ok=False,
                detail="no node of the cluster has a processor",
                remedy="Add one: `ray start --address=HOST:PORT`.",
            )
        return Probe(name=NAME, ok=True, detail=f"processors: {processors}, nodes: {len(nodes)}")

    async def open(self, spec: SandboxSpec) -> ClusterSession:
        """Raises `CannotVerifyError` where no node can open a sandbox, with the remedy."""
        session = ClusterSession(await self._connect(), spec, self._settings, self.report_status)
        await session.open()
        return session

    async def _connect(self) -> Any:
        return await asyncio.to_thread(connection.connect, self._settings.sandbox.cluster)
