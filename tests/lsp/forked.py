"""Servers without their start: a process that has imported a script's modules forks itself, and the child runs it.

Run by itself it is that process: `python forked.py LINK SCRIPT`. Each message on the link is JSON (`arguments`,
`environment`, `folder`) with four descriptors: the child's standard input, output and error, and one on which its
number is told, and its exit status when it is over.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import types
from collections.abc import Mapping
from pathlib import Path

MOST = 1 << 20  # bytes of one message


class Forks:
    """Starts a script as often as wanted; what it imports is imported once.

    The process that does so ends with this one, and is nobody's child: tests look at what descends from them.
    """

    def __init__(self, script: Path, environment: Mapping[str, str]) -> None:
        self._link, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            command = [sys.executable, __file__, str(theirs.fileno()), str(script)]
            subprocess.run(command, pass_fds=[theirs.fileno()], env=environment, check=True)

    async def start(self, *arguments: str, environment: Mapping[str, str], folder: str, limit: int) -> Forked:
        """`limit` is that of the streams, in bytes."""
        (inside, mine), (out, written), (errors, said) = os.pipe(), os.pipe(), os.pipe()
        life, told = socket.socketpair()
        message = {"arguments": arguments, "environment": dict(environment), "folder": folder}
        try:
            socket.send_fds(self._link, [json.dumps(message).encode()], [inside, written, said, told.fileno()])
        finally:
            told.close()
            for fd in (inside, written, said):
                os.close(fd)
        return await Forked.listen(life, mine, out, errors, limit)


class Forked:
    """As much of `asyncio.subprocess.Process` as tests need."""

    pid: int
    stdin: asyncio.StreamWriter
    stdout: asyncio.StreamReader
    stderr: asyncio.StreamReader
    _life: asyncio.StreamWriter  # nothing is said there; without it the connection would be closed

    def __init__(self) -> None:
        self.returncode: int | None = None
        self._transports: list[asyncio.BaseTransport] = []

    @classmethod
    async def listen(cls, life: socket.socket, mine: int, out: int, errors: int, limit: int) -> Forked:
        self = cls()
        loop = asyncio.get_running_loop()
        self.stdout, self.stderr = await self._read(out, limit), await self._read(errors, limit)
        # asyncio has no other name for a protocol that knows when a writer must wait.
        transport, protocol = await loop.connect_write_pipe(
            lambda: asyncio.streams.FlowControlMixin(loop), os.fdopen(mine, "wb", 0)
        )
        self.stdin = asyncio.StreamWriter(transport, protocol, None, loop)
        self._transports.append(transport)
        words, self._life = await asyncio.open_connection(sock=life)
        self._transports.append(self._life.transport)
        self.pid = int(await words.readline())
        self._over = asyncio.create_task(self._last(words))
        return self

    async def _read(self, fd: int, limit: int) -> asyncio.StreamReader:
        loop = asyncio.get_running_loop()
        reader = asyncio.StreamReader(limit, loop)
        transport, _protocol = await loop.connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader, loop=loop), os.fdopen(fd, "rb", 0)
        )
        self._transports.append(transport)
        return reader

    async def _last(self, words: asyncio.StreamReader) -> int:
        self.returncode = int(await words.readline())
        return self.returncode

    async def wait(self) -> int:
        code = await asyncio.shield(self._over)
        self.stdin.close()
        return code

    def send_signal(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def close(self) -> None:
        """After the last look at what it wrote."""
        for transport in self._transports:
            transport.close()


# -- the process that forks ----------------------------------------------------------------------------------------


def main(number: int, script: str) -> None:
    if os.fork() != 0:
        return
    link = socket.socket(fileno=number)
    code = compile(Path(script).read_text(), script, "exec")
    exec(code, {"__name__": "imported", "__file__": script})
    alarm, rung = os.pipe()
    for fd in (alarm, rung):
        os.set_blocking(fd, False)
    signal.set_wakeup_fd(rung)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    lives: dict[int, socket.socket] = {}
    while True:
        ready = select.select([link, alarm], [], [])[0]
        if link in ready:
            data, fds, _flags, _address = socket.recv_fds(link, MOST, 4)
            if not data:
                return  # the tests are over; each child ends when its standard input does
            pid = os.fork()
            if pid == 0:
                signal.set_wakeup_fd(-1)
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                for fd in (alarm, rung, link.detach(), *(life.detach() for life in lives.values())):
                    os.close(fd)
                _become(script, json.loads(data), fds)
                exec(code, vars(sys.modules["__main__"]))
                return
            lives[pid] = socket.socket(fileno=fds.pop())
            lives[pid].send(b"%d\n" % pid)
            for fd in fds:
                os.close(fd)
        if alarm in ready:
            os.read(alarm, 4096)
        _tell(lives)


def _become(script: str, wanted: dict, fds: list[int]) -> None:
    for target, fd in enumerate(fds[:3]):
        os.dup2(fd, target)
    for fd in fds:
        os.close(fd)
    os.environ.clear()
    os.environ.update(wanted["environment"])
    os.chdir(wanted["folder"])
    sys.argv = [script, *wanted["arguments"]]
    module = sys.modules["__main__"] = types.ModuleType("__main__")
    module.__file__ = script


def _tell(lives: dict[int, socket.socket]) -> None:
    """Says of each child that is over how it ended."""
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if pid == 0:
            return
        with lives.pop(pid) as life, contextlib.suppress(BrokenPipeError):
            life.send(b"%d\n" % os.waitstatus_to_exitcode(status))


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
