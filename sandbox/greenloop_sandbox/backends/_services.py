"""Runs the services that tests connect to, each in a sandbox or containers without network or the user's files.

A sandbox of tests reaches a service by one port of its own loopback: it hands the listening socket to this process,
which passes the bytes of each connection on to the service's Unix socket and opens nothing else.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import os
import re
import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from greenloop_sandbox import payload
from greenloop_sandbox.backends import _mounts, _seccomp, _supervisor
from greenloop_sandbox.backends._launch import open_arguments
from greenloop_sandbox.backends._service_containers import start_container
from greenloop_sandbox.errors import CannotVerifyError
from greenloop_sandbox.records import SandboxSpec, Service

START_SECONDS, END_SECONDS = 60.0, 10.0
ACCOUNT, DISK = 1000, 512 << 20
_NAME = re.compile(r"[A-Za-z_][\w-]{0,62}")


@dataclass(frozen=True, kw_only=True)
class Server:
    """Start of an installed server: a shell script with `$BIN`, `$PORT`, `$ACCOUNT` and `$DATABASE`."""

    title: str
    program: str
    folders: tuple[str, ...]
    package: str
    socket: str
    script: str


SERVERS = {
    "postgres": Server(
        title="PostgreSQL",
        program="postgres",
        folders=("/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", "/usr/bin"),
        package="postgresql",
        socket=".s.PGSQL.{port}",
        script="""
"$BIN/initdb" -D /data/db -U "$ACCOUNT" -A trust -E UTF8 --no-locale -N >&2
[ "$DATABASE" = postgres ] ||
    echo "CREATE DATABASE \\"$DATABASE\\";" | "$BIN/postgres" --single -D /data/db postgres >&2
exec "$BIN/postgres" -D /data/db -k /service -p "$PORT" -c listen_addresses= -c fsync=off
""",
    ),
    "redis": Server(
        title="Redis",
        program="redis-server",
        folders=("/usr/bin", "/usr/local/bin"),
        package="redis-server",
        socket="redis",
        script='exec "$BIN/redis-server" --port 0 --unixsocket /service/redis --save "" --dir /data',
    ),
    "mysql": Server(
        title="MySQL",
        program="mariadbd",
        folders=("/usr/sbin", "/usr/libexec", "/usr/bin"),
        package="mariadb-server",
        socket="mysql",
        script="""
mariadb-install-db --no-defaults --force --datadir=/data/db --auth-root-authentication-method=normal --skip-test-db >&2
cat > /data/start.sql <<END
CREATE DATABASE IF NOT EXISTS \\`$DATABASE\\`;
CREATE OR REPLACE USER '$ACCOUNT'@'%' IDENTIFIED BY '$PASSWORD';
GRANT ALL ON *.* TO '$ACCOUNT'@'%' WITH GRANT OPTION;
END
exec "$BIN/mariadbd" --no-defaults --datadir=/data/db --socket=/service/mysql --skip-networking \\
    --init-file=/data/start.sql
""",
    ),
}


@dataclass
class Running:
    """A service whose server has been started; `holder`, `pid` and `server` as in `start_container`."""

    service: Service
    process: asyncio.subprocess.Process
    reading: asyncio.Task[bytes]
    holder: asyncio.subprocess.Process | None = None
    pid: int = 0
    server: int = 0

    @property
    def title(self) -> str:
        return self.service.image or SERVERS[self.service.kind].title

    @property
    def address(self) -> str:
        """The server's socket, as its sandbox shows it; "" before there is one."""
        name = "socket" if self.holder else SERVERS[self.service.kind].socket.format(port=self.service.port)
        pids = [self.pid] if self.holder else _supervisor.descendants(self.process.pid)
        return next(filter(os.path.exists, (f"/proc/{pid}/root/service/{name}" for pid in pids)), "")

    @property
    def has_ended(self) -> bool:
        return self.process.returncode is not None or bool(self.server and not _supervisor.is_alive(self.server))

    async def connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_unix_connection(self.address)

    async def wait_ready(self) -> None:
        """Raises `CannotVerifyError` where the server does not come up."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(START_SECONDS):
                while not self.has_ended:
                    with contextlib.suppress(OSError):
                        (await self.connect())[1].close()
                        return
                    await asyncio.sleep(0.05)
        problem = f"did not answer within {START_SECONDS:.0f} s"
        if self.has_ended:
            lines = (await self.reading).decode("utf-8", "replace").strip().splitlines()
            problem = f"ended when it was started: {lines[-1] if lines else 'it wrote nothing'}"
        alone = f"docker run {self.title}" if self.service.image else SERVERS[self.service.kind].program
        raise CannotVerifyError(f"{self.title} (`sandbox.services`) {problem}.", remedy=f"Try `{alone}` alone.")

    async def end(self) -> None:
        if self.holder is not None and self.holder.stdin is not None:
            self.holder.stdin.close()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(END_SECONDS):
                    await asyncio.gather(self.process.wait(), self.holder.wait())
        if self.process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                self.process.kill()  # its sandbox ends with it
        await self.process.wait()
        self.reading.cancel()
        await asyncio.gather(self.reading, return_exceptions=True)


@dataclass(kw_only=True)
class Services:
    """The services of one sandbox of tests, and what passes its connections on."""

    program: str
    services: Sequence[Service]
    seconds: float = START_SECONDS
    _running: list[Running] = field(default_factory=list)
    _listening: list[asyncio.Server] = field(default_factory=list)
    _control: socket.socket | None = None

    @property
    def ended(self) -> list[str]:
        """The names of those that have ended by themselves."""
        return [each.title for each in self._running if each.has_ended or not each.address]

    async def start(self) -> None:
        """Starts all. Raises `CannotVerifyError` where a server is not installed or does not come up."""
        try:
            for service in self.services:
                self._running.append(await _start(self.program, service, self.seconds))
            await asyncio.gather(*(each.wait_ready() for each in self._running))
        except BaseException:
            await asyncio.shield(self.end())
            raise

    def arguments(self, descriptors: list[int]) -> list[str]:
        """The supervisor's arguments; its end of the channel is added to the descriptors."""
        if not self.services:
            return []
        self._control, theirs = socket.socketpair()
        descriptors.append(theirs.detach())
        return ["--services", ",".join(map(str, (descriptors[-1], *(each.port for each in self.services))))]

    async def connect(self) -> None:
        """Takes the listening sockets of a supervisor that is ready, and passes connections on from now on."""
        if self._control is None:
            return
        with self._control as control:
            control.settimeout(1.0)
            _message, numbers, _flags, _from = socket.recv_fds(control, 1, len(self._running))
        self._control = None
        for each, number in zip(self._running, numbers, strict=True):
            listener = socket.socket(fileno=number)
            listener.setblocking(False)
            relay = functools.partial(payload.relay().relay, each.connect)
            self._listening.append(await asyncio.start_server(relay, sock=listener))

    async def end(self) -> None:
        """Ends all; nothing is left on the host."""
        for server in self._listening:
            server.close()
        if self._control is not None:
            self._control.close()
        await asyncio.gather(*(each.end() for each in self._running))


def find_program(server: Server) -> Path:
    """The newest installed program of a server. Raises `CannotVerifyError` where there is none."""
    found = [path for folder in server.folders for path in Path("/").glob(f"{folder[1:]}/{server.program}")]
    if not found:
        raise CannotVerifyError(
            f"{server.title} is not installed, and `sandbox.services` names it.",
            remedy=f"Install it (on Debian: `apt-get install {server.package}`), or name an image (`docker:IMAGE`).",
        )
    return max(found, key=lambda path: [int(word) for word in re.findall(r"\d+", str(path))])


async def _start(program: str, service: Service, seconds: float) -> Running:
    if service.image:
        try:
            async with asyncio.timeout(seconds):
                process, holder, pid, server_pid = await start_container(service)
        except TimeoutError:
            raise CannotVerifyError(f"{service.image} was not started within {seconds:.0f} s.") from None
        return Running(service, process, asyncio.create_task(_read_errors(process)), holder, pid, server_pid)
    server = SERVERS[service.kind]
    found = find_program(server)
    descriptors: list[int] = []
    values = (service.user, service.password, service.database)
    user, password, database = (value if _NAME.fullmatch(value) else service.kind for value in values)
    variables = {
        "BIN": str(found.parent), "PORT": str(service.port), "ACCOUNT": user, "PASSWORD": password,
        "DATABASE": database, "HOME": "/data", "LC_ALL": "C", "PATH": "/usr/bin:/bin:/usr/sbin:/sbin",
    }  # fmt: skip
    try:
        argv = open_arguments([program, *_arguments(variables), "/bin/sh", "-ec", server.script], descriptors)
        process = await asyncio.create_subprocess_exec(
            *argv,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
            pass_fds=descriptors,
            start_new_session=True,
            env={},
            cwd="/",
        )
    finally:
        for number in descriptors:
            os.close(number)
    return Running(service, process, asyncio.create_task(_read_errors(process)))


def _arguments(variables: Mapping[str, str]) -> list[str | bytes]:
    """Bubblewrap's arguments for a server: the system read-only, its data in memory, no network."""
    account = f"service:x:{ACCOUNT}:{ACCOUNT}::/data:/bin/sh\n".encode()
    arguments: list[str | bytes] = ["--unshare-all", "--die-with-parent", "--new-session", "--clearenv"]
    arguments += ["--uid", str(ACCOUNT), "--gid", str(ACCOUNT), *_mounts.system_folders()]
    for path in ("/etc/ld.so.cache", "/etc/alternatives", "/etc/mysql"):
        arguments += ["--ro-bind-try", path, path]
    arguments += ["--ro-bind-data", account, "/etc/passwd", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"]  # noqa: S108
    arguments += ["--size", str(DISK), "--tmpfs", "/data", "--tmpfs", "/service", "--chdir", "/data"]
    if (filters := _seccomp.program()) is not None:
        arguments += ["--seccomp", filters]
    for name, value in variables.items():
        arguments += ["--setenv", name, value]
    return arguments


async def _read_errors(process: asyncio.subprocess.Process) -> bytes:
    """Reads what a server complains of until it ends; returns the last part."""
    assert process.stderr is not None
    kept = b""
    while data := await process.stderr.read(4096):
        kept = (kept + data)[-4096:]
    return kept


def refuse(spec: SandboxSpec, name: str) -> None:
    """Raises `CannotVerifyError` for a back end that starts no services, where some are wanted."""
    if spec.services:
        raise CannotVerifyError(
            f"`sandbox.services` does not work with {name}.",
            remedy='Use bubblewrap: sandbox.kind = "bubblewrap", or remove the setting.',
        )
