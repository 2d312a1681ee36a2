"""Host side of the conversation with a supervisor (inside/supervisor.py), for every back end."""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import signal
from collections.abc import Mapping, Sequence
from dataclasses import asdict, astuple
from pathlib import Path
from typing import Any

from greenloop_sandbox import payload
from greenloop_sandbox.records import Costs, Execution, SandboxSpec, TestRun
from greenloop_sandbox.report.schema import well_formed

BOOT_SECONDS = 30.0  # interpreter start and import of pytest, on a busy machine
GRACE_SECONDS = 5.0  # allowed to the supervisor beyond the run's own deadline
_MAX_STDERR = 16384  # bytes of stderr


class SupervisorError(Exception):
    """The supervisor cannot be used; `str()` is the sentence for the user."""


class Supervisor:
    """A running supervisor process: started, asked any number of times, then ended."""

    def __init__(self, process: asyncio.subprocess.Process, title: str) -> None:
        self._process, self._title = process, title
        self._errors = bytearray()
        self._reading = asyncio.Lock()  # asyncio forgets one of two readers that wait for the same stream
        self._inner_pids: list[int] = []  # the supervisor itself, where other processes lie between it and us
        self._listening = asyncio.create_task(self._listen())

    @classmethod
    async def start(cls, argv: Sequence[str], *, title: str, **options: Any) -> Supervisor:
        """Starts a supervisor. Raises `SupervisorError` when that fails. `options` are those of `subprocess.Popen`."""
        starting = asyncio.ensure_future(
            asyncio.create_subprocess_exec(
                *argv,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                start_new_session=True,
                **options,
            )
        )
        try:
            return cls(await asyncio.shield(starting), title)
        except asyncio.CancelledError:
            # asyncio would kill only the outermost process; the ones inside it would live on.
            with contextlib.suppress(OSError, ValueError):
                await cls(await starting, title).end()
            raise
        except (OSError, ValueError) as error:
            raise SupervisorError(f"{title} could not be started: {error}.") from error

    async def wait_ready(self) -> Mapping[str, Any]:
        """Waits for the supervisor's greeting and returns it. Raises `SupervisorError` when there is none."""
        greeting = await self._reply("ready", BOOT_SECONDS)
        self._inner_pids = descendants(self._process.pid)
        return greeting

    async def ask(self, request: Mapping[str, Any], kind: str, seconds: float) -> Mapping[str, Any]:
        """Sends a request and waits for the reply of that kind. Raises `SupervisorError` for any other answer."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(payload.protocol().pack(request))
            async with asyncio.timeout(seconds):
                await self._process.stdin.drain()
        except (OSError, TimeoutError):
            pass  # its last output, or its silence, says more than a broken pipe
        return await self._reply(kind, seconds)

    @property
    def has_ended(self) -> bool:
        """True if the process has ended, for whatever reason."""
        return self._process.returncode is not None

    def pause(self, *, paused: bool) -> None:
        """Stops the processes inside, or resumes them."""
        for pid in self._inner_pids:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGSTOP if paused else signal.SIGCONT)

    async def end(self) -> None:
        """Kills the supervisor and all it started; returns when they are gone. Safe to call twice."""
        outer = [self._process.pid] if self._process.returncode is None else []
        for pid in outer:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGSTOP)  # so that it starts nothing between the listing and the kill
        inner = [*self._inner_pids, *(descendants(self._process.pid) if outer else ())]
        # From the inside out: an outer process that outlives the inner ones takes their exit status.
        for pid in [*reversed(inner), *outer]:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        await asyncio.gather(self._process.wait(), self._discard_output())
        for _ in range(1000):
            if not any(is_alive(pid) for pid in inner):
                break
            await asyncio.sleep(0.001)
        self._listening.cancel()
        await asyncio.gather(self._listening, return_exceptions=True)

    async def _discard_output(self) -> None:
        """Reads what nobody will read: asyncio's `wait` returns only once all output has been taken from the pipes."""
        assert self._process.stdout is not None
        async with self._reading:
            with contextlib.suppress(OSError):
                while await self._process.stdout.read(1 << 16):
                    pass

    async def _reply(self, kind: str, seconds: float) -> Mapping[str, Any]:
        protocol = payload.protocol()
        stream = self._process.stdout
        assert stream is not None
        seconds *= protocol.load()
        try:
            async with asyncio.timeout(seconds), self._reading:
                header = await stream.readexactly(4)
                message: Mapping[str, Any] = protocol.unpack(await stream.readexactly(protocol.message_size(header)))
        except asyncio.IncompleteReadError:
            raise SupervisorError(await self._exit_reason()) from None
        except TimeoutError:
            raise SupervisorError(f"{self._title} did not answer within {seconds:.0f} s.") from None
        except protocol.ProtocolError as error:
            raise SupervisorError(f"{self._title} sent an invalid answer: {error}.") from error
        if message["kind"] == "broken":
            raise SupervisorError(str(message.get("reason") or f"{self._title} cannot run tests."))
        if message["kind"] != kind:
            raise SupervisorError(f"{self._title} answered {message['kind']!r} where {kind!r} was expected.")
        return message

    async def _exit_reason(self) -> str:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(1.0):
                await self._process.wait()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(0.5):
                await asyncio.shield(self._listening)
        lines = self._errors.decode("utf-8", "replace").strip().splitlines()
        suffix = f": {lines[-1].strip()}" if lines else ""
        return f"{self._title} ended with status {self._process.returncode}{suffix}."

    async def _listen(self) -> None:
        assert self._process.stderr is not None
        while data := await self._process.stderr.read(4096):
            self._errors += data
            del self._errors[:-_MAX_STDERR]


async def run_once(
    supervisor: Supervisor, spec: SandboxSpec, run: TestRun, *, files: Mapping[str, bytes] | None = None, **fields: Any
) -> Execution:
    """Waits for the supervisor, has it run the tests once and checks the report's seals.

    `files` are sent with the request; back ends that mount the files leave them out.
    Raises `SupervisorError` when the sandbox fails; after cancelling, the caller must end the supervisor.
    """
    key = secrets.token_bytes(32)
    await supervisor.wait_ready()
    message = await supervisor.ask(
        run_request(spec, run, key, files=files, **fields), "done", run.seconds + GRACE_SECONDS
    )
    return read_execution(message, key)


def run_request(
    spec: SandboxSpec,
    run: TestRun,
    key: bytes,
    *,
    files: Mapping[str, bytes] | None = None,
    root: str = "",
    **fields: Any,
) -> dict[str, Any]:
    """The request for this run; `root` is given where the workspace's path inside differs from the host's."""
    profile = run.profile and {"lines": list(map(astuple, run.profile.lines)), "memory": run.profile.memory}
    message: dict[str, Any] = payload.protocol().run_request(
        key,
        **{
            **vars(spec.limits),
            **vars(run),
            "root": root or str(spec.root),
            "start": spec.start,
            "watch": list(map(astuple, run.watch)),
            "statements": list(map(astuple, run.statements)),
            "profile": profile,
            "inspect": run.inspect and asdict(run.inspect),
            "apart": run.apart and asdict(run.apart),
            "files": files or {},
            **fields,
        },
    )
    return message


def read_execution(message: Mapping[str, Any], key: bytes) -> Execution:
    """Reads the supervisor's reply. Raises `SupervisorError` when its fields do not follow the protocol."""
    try:
        killed = str(message["killed"])
        records = payload.protocol().open_report(message["report"], key, complete=not killed)
        return Execution(
            records=tuple(record if well_formed(record) else {"kind": "forged", "seq": -1} for record in records),
            status=None if message["status"] is None else int(message["status"]),
            killed=killed,
            output=str(message["output"]),
            leftover=int(message["leftover"]),
            seconds=float(message["seconds"]),
            silent=float(message.get("silent", 0.0)),
            costs=_read_costs(message.get("costs")),
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise SupervisorError(f"The sandbox's reply has no valid {error}.") from error


def _read_costs(costs: Mapping[str, Any] | None) -> Costs | None:
    if costs is None:
        return None
    return Costs(
        calls=tuple(map(float, costs["calls"])),
        imports=float(costs["imports"]),
        fixtures=float(costs["fixtures"]),
        elapsed=float(costs["elapsed"]),
        processor=float(costs["processor"]),
        peak=int(costs["peak"]),
    )


def descendants(pid: int) -> list[int]:
    """All descendants of a process, parents first, as /proc lists them; empty where there is no /proc."""
    pids: list[int] = []
    pending = [pid]
    while pending:
        parent = pending.pop()
        try:
            threads = list(Path(f"/proc/{parent}/task").iterdir())
        except OSError:
            continue
        for thread in threads:
            with contextlib.suppress(OSError):
                children = [int(word) for word in (thread / "children").read_text().split()]
                pids += children
                pending += children
    return pids


def is_alive(pid: int) -> bool:
    """True if the process exists and is not a zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[0] not in b"ZX"
    except (OSError, IndexError):
        return False
