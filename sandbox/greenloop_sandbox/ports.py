"""The protocols of a sandbox: a back end, an open session, and what the user decides about them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from greenloop_sandbox.records import Execution, Probe, SandboxSpec, TestRun


class Session(Protocol):
    """An open sandbox. `run` never raises because of a candidate; cancelling it kills the candidate's process tree.

    `warm` prepares the first run in advance, `pause` stops using the machine until the next run; neither raises. A back
    end that keeps nothing between runs inherits them.
    """

    @property
    def name(self) -> str: ...

    async def run(self, run: TestRun) -> Execution: ...

    async def warm(self) -> None:
        return

    async def pause(self) -> None:
        return

    async def close(self) -> None:
        return


class Sandbox(Protocol):
    """A back end that isolates code. `probe` is the self-test; `open` raises `CannotVerifyError` with the remedy.

    `report_status` receives progress messages while a slow one opens.
    """

    report_status: Callable[[str], None]

    @property
    def name(self) -> str: ...

    async def probe(self) -> Probe: ...

    async def open(self, place: SandboxSpec) -> Session: ...


class SelectionSettings(Protocol):
    """The user's decisions about back ends: image and runtime of a container engine, consent to no isolation."""

    @property
    def image(self) -> str: ...

    @property
    def runtime(self) -> str: ...

    @property
    def unsafe(self) -> bool: ...
