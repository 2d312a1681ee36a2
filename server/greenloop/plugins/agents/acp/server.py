"""The agent: its sessions, one prompt at a time in each, on standard input and output."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import acp
from acp.agent.connection import AgentSideConnection
from acp.helpers import update_available_commands
from acp.interfaces import Agent, Client
from acp.schema import (
    AgentCapabilities,
    AvailableCommand,
    AvailableCommandInput,
    ClientCapabilities,
    Implementation,
    InitializeResponse,
    NewSessionResponse,
    PromptCapabilities,
    PromptResponse,
    StopReason,
    UnstructuredCommandInput,
)

from greenloop import __version__
from greenloop.api.pool import SandboxPool
from greenloop.core.errors import GreenloopError
from greenloop.plugins.agents.acp.transport import LineTransport
from greenloop.plugins.agents.acp.turn import Turn
from greenloop.plugins.agents.service import Service
from greenloop.serving.stdio import Outbox, take_stdio

CLEANUP = 5.0  # seconds for the clean-up after the end of the client
COMMANDS = {
    "fix": ("Fix a failing test, write a function from its docstring, or fix all failing tests", "TARGET, or nothing"),
    "improve": ("Make a function that passes its tests faster, smaller or simpler", "TARGET"),
}

log = logging.getLogger(__name__)


@dataclass(kw_only=True)
class AcpSession:
    """A folder that a client works in; `running` is the turn in progress."""

    root: Path
    service: Service
    running: asyncio.Task[StopReason] | None = None


@dataclass(kw_only=True)
class GreenloopAgent:
    """The methods of the protocol, by the SDK's names.

    `roots` are the folders that sessions may name (none: the client decides); `overrides` are settings of the command
    line.
    """

    roots: tuple[Path, ...] = ()
    overrides: Mapping[str, Any] = field(default_factory=dict)
    pool: SandboxPool = field(default_factory=SandboxPool)
    make_turn: Callable[..., Turn] = Turn
    _client: Client | None = None
    _capabilities: ClientCapabilities | None = None
    _sessions: dict[str, AcpSession] = field(default_factory=dict)
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)

    def on_connect(self, conn: Client) -> None:
        self._client = conn

    async def initialize(
        self,
        protocol_version: int,  # noqa: ARG002 - there is one version, and the client decides whether it can use that
        client_capabilities: ClientCapabilities | None = None,
        **_more: Any,
    ) -> InitializeResponse:
        self._capabilities = client_capabilities
        return InitializeResponse(
            protocol_version=acp.PROTOCOL_VERSION,
            agent_capabilities=AgentCapabilities(
                load_session=False, prompt_capabilities=PromptCapabilities(embedded_context=True)
            ),
            agent_info=Implementation(name="greenloop", title="greenloop", version=__version__),
            auth_methods=[],
        )

    async def new_session(self, cwd: str, **_more: Any) -> NewSessionResponse:
        if not Path(cwd).is_absolute():
            raise _invalid(f"The session's folder '{cwd[:200]}' is not an absolute path.")
        service = Service(roots=self.roots or (Path(cwd),), overrides=self.overrides, pool=self.pool)
        try:
            root = service.find_folder(cwd)
        except (GreenloopError, ValueError) as error:  # a path with a null byte is a `ValueError`
            raise _invalid(f"{error} {getattr(error, 'remedy', '')}".strip()) from None
        session_id = uuid.uuid4().hex
        self._sessions[session_id] = AcpSession(root=root, service=service)
        # A task of its own: clients know the session only when they have read the reply.
        telling = asyncio.create_task(self._tell_commands(session_id))
        self._tasks.add(telling)
        telling.add_done_callback(self._tasks.discard)
        return NewSessionResponse(session_id=session_id)

    async def prompt(self, prompt: list[Any], session_id: str, **_more: Any) -> PromptResponse:
        session = self._find(session_id)
        if session.running is not None:
            raise acp.RequestError.invalid_request(
                {"details": "The session still works on an earlier prompt. Cancel that first, or open another session."}
            )
        assert self._client is not None
        turn = self.make_turn(
            service=session.service,
            root=session.root,
            session_id=session_id,
            client=self._client,
            capabilities=self._capabilities,
        )
        session.running = asyncio.create_task(turn.run(prompt))
        try:
            return PromptResponse(stop_reason=await session.running)
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise
            return PromptResponse(stop_reason="cancelled")
        except Exception as error:  # noqa: BLE001 - the request ends here
            # Its words may have the user's code in them.
            log.error("A prompt ended with %s", type(error).__name__)  # noqa: TRY400
            raise acp.RequestError.internal_error({"details": f"Internal error ({type(error).__name__})."}) from None
        finally:
            session.running = None

    async def cancel(self, session_id: str, **_more: Any) -> None:
        session = self._sessions.get(session_id)
        if session is not None and session.running is not None:
            session.running.cancel()

    async def close(self) -> None:
        """Ends all turns, and closes the sandboxes."""
        turns = [session.running for session in self._sessions.values() if session.running is not None]
        for turn in turns:
            turn.cancel()
        await asyncio.gather(*turns, return_exceptions=True)
        await self.pool.close()

    def _find(self, session_id: str) -> AcpSession:
        session = self._sessions.get(session_id)
        if session is None:
            raise _invalid(f"There is no session '{session_id[:100]}'. Open one with session/new.")
        return session

    async def _tell_commands(self, session_id: str) -> None:
        commands = [
            AvailableCommand(
                name=name, description=text, input=AvailableCommandInput(root=UnstructuredCommandInput(hint=hint))
            )
            for name, (text, hint) in COMMANDS.items()
        ]
        with contextlib.suppress(ConnectionError):
            assert self._client is not None
            await self._client.session_update(session_id, update_available_commands(commands))


async def serve(agent: GreenloopAgent) -> None:
    """Serves until the client ends; then nothing of it runs any more."""
    source, sink = take_stdio()
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()

    def give_up() -> None:  # called by the thread that writes
        loop.call_soon_threadsafe(ended.set)

    transport = LineTransport(source, Outbox(sink, on_give_up=give_up))
    connection = AgentSideConnection(cast("Agent", agent), transport, listening=False)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        loop.add_signal_handler(number, ended.set)
    listening = asyncio.create_task(connection.listen())
    ending = asyncio.create_task(ended.wait())
    try:
        await asyncio.wait({listening, ending}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in (listening, ending):
            task.cancel()
        try:
            async with asyncio.timeout(CLEANUP):
                await agent.close()
                await connection.close()
        except TimeoutError:
            log.warning("Cleaning up takes longer than %g s", CLEANUP)


def _invalid(details: str) -> acp.RequestError:
    return acp.RequestError.invalid_params({"details": details})
