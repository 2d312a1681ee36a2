"""The host during the attacks: what they aim at, and whether anything of it changed.

The secret is never told to a program, only its digest: who names it has read it.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import shutil
import socket
import subprocess
import tempfile
import threading
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

VARIABLE = "GREENLOOP_ATTACK_SECRET"
SECRET_NAME = "outside.txt"
_SETTINGS = ("kernel/core_pattern", "kernel/core_uses_pid", "kernel/hostname", "kernel/shmmax", "vm/overcommit_memory")
_LOOKED_AT = ("/tmp", "/var/tmp", "/dev/shm", "/dev/mqueue")

WORKSPACE = {
    "pytest.ini": "[pytest]\n",
    "m.py": "def double(x):\n    return x * 2\n",
    "test_m.py": "from m import double\n\n\ndef test_double():\n    assert double(2) == 4\n",
    "test_attack.py": "from attack import strike\n\n\ndef test_attack():\n    strike()\n",
    "test_after.py": "from after import strike\n\n\ndef test_after():\n    strike()\n",
    "pkg/__init__.py": "",
    "pkg/inner.py": "value = 1\n",
}
_HIDDEN = (".env", "conf/deep/.env.local", "conf/server.pem", ".git/config")


@dataclass(frozen=True, kw_only=True)
class Wants:
    """How much an attack wants: bytes of memory, disk and output, processes, inodes, and seconds."""

    memory: int = 320 << 20
    disk: int = 96 << 20
    output: int = 160 << 20
    processes: int = 80
    inodes: int = 220_000
    seconds: float = 4.0


class Machine:
    """A folder with a workspace and secrets, and servers that answer whoever reaches them."""

    def __init__(self) -> None:
        # Not below /tmp, which a sandbox has one of its own of.
        self.folder = Path(tempfile.mkdtemp(prefix="greenloop-attacks-", dir="/var/tmp"))
        self.folder.chmod(0o755)
        self.secret = "secret-" + secrets.token_hex(16)
        self.root = self.folder / "my project#1"
        self.lay(self.root)
        (self.folder / SECRET_NAME).write_text(self.secret)
        (self.folder / ".ssh").mkdir()
        (self.folder / ".ssh" / "id_rsa").write_text(self.secret)
        self.bystander = subprocess.Popen(["sleep", "3600"])
        self.inherited = [os.open(path, os.O_RDONLY) for path in (self.folder / SECRET_NAME, self.folder)]
        for number in self.inherited:
            os.set_inheritable(number, True)
        self.abstract = "greenloop-attacks-" + uuid.uuid4().hex
        self._sockets = [socket.create_server(("0.0.0.0", 0))]
        self.port = self._sockets[0].getsockname()[1]
        self._sockets.append(socket.create_server(("::1", self.port), family=socket.AF_INET6))
        for name in ("\0" + self.abstract, str(self.folder / "host.sock"), str(self.root / "server.sock")):
            server = socket.socket(socket.AF_UNIX)
            server.bind(name)
            server.listen()
            self._sockets.append(server)
        for path in (self.folder / "host.sock", self.root / "server.sock"):
            path.chmod(0o777)
        udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        udp.bind(("0.0.0.0", 0))
        self.udp = udp.getsockname()[1]
        for server in self._sockets:
            threading.Thread(target=_answer, args=(server,), daemon=True).start()
        threading.Thread(target=_echo, args=(udp,), daemon=True).start()
        self._sockets.append(udp)
        self._numbers = iter(range(1, 1 << 20))

    def lay(self, root: Path) -> None:
        """The workspace's files, and links and secrets in it."""
        texts = {**WORKSPACE, **dict.fromkeys(_HIDDEN, f"KEY={self.secret}\n")}
        for name, text in texts.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        (root / "link").symlink_to(self.folder / SECRET_NAME)
        if root != self.root:
            (root / "server.sock").symlink_to(self.root / "server.sock")

    def control(self) -> tuple[Path, Path]:
        """Where the next control runs, and its home."""
        folder = self.folder / f"control-{next(self._numbers)}"
        return folder, folder.with_name(folder.name + "-home")

    def close(self) -> None:
        self.bystander.kill()
        self.bystander.wait()
        for number in self.inherited:
            os.close(number)
        for server in self._sockets:
            server.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def aim(self, wants: Wants) -> Aim:
        number = next(self._numbers)
        return Aim(
            token=f"glx{uuid.uuid4().hex[:8]}",
            key=0x6C000000 + os.getpid() % 4096 * 4096 + number,
            wants=wants,
            machine=self,
        )


@dataclass(frozen=True, kw_only=True)
class Aim:
    """What one attack is told. `token` names whatever it leaves, at most 15 characters for a process's name."""

    token: str
    key: int
    wants: Wants
    machine: Machine

    def text(self) -> str:
        """The module `aim`."""
        machine = self.machine
        values: dict[str, object] = {
            "token": self.token,
            "key": self.key,
            **vars(self.wants),
            "port": machine.port,
            "udp": machine.udp,
            "free": _free_port(),
            "address": _address(),
            "abstract": machine.abstract,
            "socket": str(machine.folder / "host.sock"),
            "engine": os.environ.get("DOCKER_HOST", "").removeprefix("unix://") or str(machine.folder / "host.sock"),
            "folder": str(machine.folder),
            "outside": str(machine.folder / SECRET_NAME),
            "secret_name": SECRET_NAME,
            "bystander": machine.bystander.pid,
            "host_command": "sleep\0003600",
            "host": os.uname().nodename,
        }
        lines = [f"{name} = {value!r}" for name, value in values.items()]
        digest = hashlib.sha256(machine.secret.encode()).hexdigest()
        return "\n".join(lines) + _SECRET.format(digest=digest)


_SECRET = """
import hashlib, re


class Missed(Exception):
    pass


def secret(data):
    found = re.findall(rb"secret-[0-9a-f]{{32}}", data)
    if {digest!r} not in [hashlib.sha256(one).hexdigest() for one in found]:
        raise Missed
"""


class Watch:
    """What must be the same after an attack as before it; `changes` names what is not."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._before = self._state()

    def changes(self, aim: Aim) -> list[str]:
        found = [name for name, value in self._state().items() if value != self._before[name]]
        found += [f"process {pid}" for pid in _processes(aim.token)]
        for folder in _LOOKED_AT:
            if os.path.isdir(folder):
                found += [f"{folder}/{name}" for name in os.listdir(folder) if aim.token in name]
        for kind in ("shm", "sem", "msg"):
            lines = Path("/proc/sysvipc", kind).read_text().splitlines()[1:]
            found += [f"System V {kind}" for line in lines if int(line.split()[0]) == aim.key]
        return found

    def _state(self) -> Mapping[str, object]:
        settings = {name: Path("/proc/sys", name).read_text() for name in _SETTINGS}
        devices = {name: os.stat(name).st_mode for name in ("/dev/null", "/dev/zero", "/dev/tty")}
        return {**settings, **devices, "files of the host": _files(self._machine.folder), "niceness": os.nice(0)}


def _files(folder: Path) -> dict[str, object]:
    """Kind, mode, time and content of everything there."""
    found: dict[str, object] = {}
    for top, folders, names in os.walk(folder):
        for name in (*folders, *names):
            path = Path(top, name)
            seen = path.lstat()
            plain = path.is_file() and not path.is_symlink()
            found[str(path)] = (
                seen.st_mode,
                seen.st_uid,
                seen.st_mtime_ns if plain else 0,
                path.read_bytes() if plain else None,
            )
    return found


def _processes(token: str) -> list[int]:
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            told = Path("/proc", name, "comm").read_text() + Path("/proc", name, "cmdline").read_text()
        except (OSError, UnicodeDecodeError):
            continue
        if token in told:
            found.append(int(name))
    return found


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


def _address() -> str:
    """An address of this machine that is not the loopback's, where it has one."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as talk:
        try:
            talk.connect(("192.0.2.1", 9))
        except OSError:
            return "127.0.0.1"
        return talk.getsockname()[0]


def _answer(server: socket.socket) -> None:
    _until_closed(lambda: _greet(server))


def _greet(server: socket.socket) -> None:
    talk, _ = server.accept()
    with talk:
        talk.sendall(b"secret")


def _echo(server: socket.socket) -> None:
    _until_closed(lambda: server.sendto(b"secret", server.recvfrom(512)[1]))


def _until_closed(action: Callable[[], object]) -> None:
    while True:
        try:
            action()
        except OSError:
            return
