"""The host's end of the conversation with a supervisor (sandbox/runner.py), whatever wall stands around it."""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import signal
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from greenloop import inside
from greenloop.core.nouns import Execution, Place, Run
from greenloop.core.shapes import well_formed

BOOT_SECONDS = 30.0  # interpreter start and import of pytest, on a busy machine
GRACE_SECONDS = 5.0  # what the supervisor may need beyond the run's own deadline
_KEPT = 16384  # bytes of stderr


class Lost(Exception):
    """The supervisor cannot be used; `str()` is the sentence."""


class Supervisor:
    """A running supervisor process: started, asked any number of times, then ended."""

    def __init__(self, process: asyncio.subprocess.Process, title: str) -> None:
        self._process, self._title = process, title
        self._errors = bytearray()
        self._inner: list[int] = []  # the supervisor itself, where other processes stand between it and us
        self._listening = asyncio.create_task(self._listen())

    @classmethod
    async def start(cls, argv: Sequence[str], *, title: str, **options: Any) -> Supervisor:
        """Raises `Lost` when the program cannot be started. `options` are those of `subprocess.Popen`."""
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
            # asyncio would kill the outermost process alone; the ones inside it would live on.
            with contextlib.suppress(OSError, ValueError):
                await cls(await starting, title).end()
            raise
        except (OSError, ValueError) as error:
            raise Lost(f"{title} could not be started: {error}.") from error

    async def ready(self) -> Mapping[str, Any]:
        """The supervisor's greeting. Raises `Lost` when there is none."""
        greeting = await self._reply("ready", BOOT_SECONDS)
        self._inner = descendants(self._process.pid)
        return greeting

    async def ask(self, request: Mapping[str, Any], kind: str, seconds: float) -> Mapping[str, Any]:
        """Sends a request and waits for the reply of that kind. Raises `Lost` instead of any other answer."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(inside.protocol().pack(request))
            async with asyncio.timeout(seconds):
                await self._process.stdin.drain()
        except (OSError, TimeoutError):
            pass  # its last words, or its silence, say more than a broken pipe
        return await self._reply(kind, seconds)

    @property
    def ended(self) -> bool:
        """Whether the process is over, whoever ended it."""
        return self._process.returncode is not None

    def pause(self, *, on: bool) -> None:
        """Stops the processes inside, or lets them go on."""
        for pid in self._inner:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGSTOP if on else signal.SIGCONT)

    async def end(self) -> None:
        """Kills the supervisor and all it started; returns when they are gone. Safe to call twice."""
        outer = [self._process.pid] if self._process.returncode is None else []
        for pid in outer:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGSTOP)  # so that it starts nothing between the look and the kill
        tree = [*self._inner, *(descendants(self._process.pid) if outer else ())]
        # From the inside out: an outer process that outlives the inner ones takes their exit status.
        for pid in [*reversed(tree), *outer]:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        await self._process.wait()
        for _ in range(1000):
            if not any(alive(pid) for pid in tree):
                break
            await asyncio.sleep(0.001)
        self._listening.cancel()
        await asyncio.gather(self._listening, return_exceptions=True)

    async def _reply(self, kind: str, seconds: float) -> Mapping[str, Any]:
        protocol = inside.protocol()
        stream = self._process.stdout
        assert stream is not None
        try:
            async with asyncio.timeout(seconds):
                head = await stream.readexactly(4)
                message: Mapping[str, Any] = protocol.unpack(await stream.readexactly(protocol.length(head)))
        except asyncio.IncompleteReadError:
            raise Lost(await self._why()) from None
        except TimeoutError:
            raise Lost(f"{self._title} did not answer within {seconds:.0f} s.") from None
        except protocol.ProtocolError as error:
            raise Lost(f"{self._title} answered rubbish: {error}.") from error
        if message["kind"] == "broken":
            raise Lost(str(message.get("reason") or f"{self._title} cannot run tests."))
        if message["kind"] != kind:
            raise Lost(f"{self._title} answered {message['kind']!r} where {kind!r} was expected.")
        return message

    async def _why(self) -> str:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(1.0):
                await self._process.wait()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(0.5):
                await asyncio.shield(self._listening)
        lines = self._errors.decode("utf-8", "replace").strip().splitlines()
        last = f": {lines[-1].strip()}" if lines else ""
        return f"{self._title} ended with status {self._process.returncode}{last}."

    async def _listen(self) -> None:
        assert self._process.stderr is not None
        while data := await self._process.stderr.read(4096):
            self._errors += data
            del self._errors[:-_KEPT]


async def run_once(
    supervisor: Supervisor, place: Place, run: Run, *, files: Mapping[str, bytes] | None = None, **more: Any
) -> Execution:
    """Waits for the supervisor, has it run the tests once and checks the report's seals.

    `files` travel with the request; back ends that lay files by mounts leave them out.
    Raises `Lost` when the sandbox fails; cancelling it leaves the supervisor to the caller, who must end it.
    """
    key = secrets.token_bytes(32)
    await supervisor.ready()
    message = await supervisor.ask(request(place, run, key, files=files, **more), "done", run.seconds + GRACE_SECONDS)
    return execution(message, key)


def request(
    place: Place, run: Run, key: bytes, *, files: Mapping[str, bytes] | None = None, root: str = "", **more: Any
) -> dict[str, Any]:
    """The message that asks for this run; `root` where the workspace lies elsewhere inside than on the host."""
    message: dict[str, Any] = inside.protocol().run_request(
        key=key,
        root=root or str(place.root),
        selectors=run.selectors,
        seconds=run.seconds,
        memory=place.limits.memory,
        disk=place.limits.disk,
        output=place.limits.output,
        processes=place.limits.processes,
        collect=run.collect,
        trace=run.trace,
        watch=[(lines.path, lines.start, lines.end) for lines in run.watch],
        baseline=run.baseline,
        files=files,
        without=run.without,
        oracle=run.oracle,
        **more,
    )
    return message


def execution(message: Mapping[str, Any], key: bytes) -> Execution:
    """The supervisor's reply as a noun. Raises `Lost` when its fields are not what the protocol says."""
    try:
        killed = str(message["killed"])
        records = inside.protocol().open_report(message["report"], key, whole=not killed)
        return Execution(
            records=tuple(record if well_formed(record) else {"kind": "forged", "seq": -1} for record in records),
            status=None if message["status"] is None else int(message["status"]),
            killed=killed,
            output=str(message["output"]),
            leftover=int(message["leftover"]),
            seconds=float(message["seconds"]),
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise Lost(f"The sandbox's reply has no usable {error}.") from error


def descendants(pid: int) -> list[int]:
    """All processes below this one, parents first, as /proc tells; empty where there is no /proc."""
    found: list[int] = []
    todo = [pid]
    while todo:
        parent = todo.pop()
        try:
            threads = list(Path(f"/proc/{parent}/task").iterdir())
        except OSError:
            continue
        for thread in threads:
            with contextlib.suppress(OSError):
                children = [int(word) for word in (thread / "children").read_text().split()]
                found += children
                todo += children
    return found


def alive(pid: int) -> bool:
    """Whether the process exists and is no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[0] not in b"ZX"
    except (OSError, IndexError):
        return False
