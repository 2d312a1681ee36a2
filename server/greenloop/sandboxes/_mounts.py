"""What bubblewrap is told to show: pure words, computed from the place, the files of the run and what is hidden.

A word is text, or bytes: content that becomes a descriptor when the program is started.
Host paths keep their own absolute place; everything is read-only but /tmp and the throw-away layer of the workspace.
"""

# Paths are words of a command line here, and links are read by hand.
# ruff: noqa: PTH112, PTH114, PTH115

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from greenloop import guests, inside
from greenloop.core.nouns import Place
from greenloop.sandboxes import _interpreter
from greenloop.sandboxes._hidden import Hidden
from greenloop.sandboxes._identity import Identity, reachable
from greenloop.sandboxes._interpreter import SYSTEM

Word = str | bytes
INSIDE = "/run/greenloop"
_ETC = (
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "alternatives",
    "localtime",
    "timezone",
    "debian_version",
    "os-release",
)
_ETC_NETWORK = ("resolv.conf", "ssl", "pki", "ca-certificates", "nsswitch.conf")
# What mounting takes; the overlay works with the rights of whoever mounted it.
_KEPT = ("CAP_SYS_ADMIN", "CAP_SETPCAP", "CAP_DAC_OVERRIDE", "CAP_FOWNER", "CAP_CHOWN")
MANY = 64  # hidden files above this number share one empty file


def words(
    place: Place,
    identity: Identity,
    *,
    writable: bool,
    files: Mapping[str, bytes],
    hidden: Hidden,
    seccomp: bytes | None,
    hash_seed: int,
    empty: Path | None = None,
    staged: Sequence[Word] | None = None,
) -> list[Word]:
    """Everything between the name of the program and the command.

    `writable`: the workspace is an overlay whose upper layer is thrown away, else it is read-only.
    `empty` is an empty file of the host, needed only when very many files are hidden.
    `staged` are the words for a workspace that was laid out beforehand, files included.
    Raises `CannotVerify` when the place cannot be shown without showing a whole home folder.
    """
    result: list[Word] = [*_wall(identity, seccomp, network=place.network), *_variables(place, hash_seed)]
    result += _furniture(place, identity, staged=staged is not None)
    result += _workspace(place.root, files, writable=writable) if staged is None else staged
    result += _covers(place.root, hidden, files, empty)
    return [*result, "--remount-ro", "/", "--chdir", str(place.root)]


def resident(place: Place, identity: Identity, *, hash_seed: int, staged: Sequence[Word] | None = None) -> list[Word]:
    """The words for a wall that stays: its supervisor keeps the rights with which each run gets mounts of its own.

    They are rights over the wall's own user namespace; the worker gives them up (sandbox/wall.py) and then gets its
    seccomp filter. `staged` are the words for a workspace that was made readable beforehand.
    Raises `CannotVerify` when the place cannot be shown without showing a whole home folder.
    """
    kept = _KEPT if place.network else (*_KEPT, "CAP_NET_ADMIN")
    result: list[Word] = [*_wall(identity, None, network=place.network, kept=kept), *_variables(place, hash_seed)]
    result += _furniture(place, identity, staged=staged is not None)
    result += ["--ro-bind", str(place.root), str(place.root)] if staged is None else staged
    return [*result, "--perms", "0755", "--dir", f"{INSIDE}/layer", "--remount-ro", "/", "--chdir", str(place.root)]


def _furniture(place: Place, identity: Identity, *, staged: bool) -> list[Word]:
    """The system, the interpreter, and greenloop's own files."""
    result: list[Word] = [*_root(identity, disk=place.limits.disk, network=place.network)]
    result += _interpreter.words(place.environment, place.root)
    for name, text in inside.sources().items():
        result += ["--perms", "0444", "--ro-bind-data", text, f"{INSIDE}/{name}"]
    result += ["--perms", "0444", "--ro-bind-data", inside.bundle(INSIDE), f"{INSIDE}/bundle"]
    if lent := guests.archive():
        result += ["--perms", "0444", "--ro-bind-data", lent, f"{INSIDE}/{guests.NAME}"]
    for name, path in inside.borrowed_packages().items():
        if staged or not identity.drop or reachable(str(path), identity):
            result += ["--ro-bind", str(path), f"{INSIDE}/packages/{name}"]
    return result


def bare(
    root: Path, identity: Identity, *, writable: bool, seccomp: bytes | None, staged: Sequence[Word] | None = None
) -> list[Word]:
    """The same wall around one folder, without an interpreter: what the self-test needs."""
    result: list[Word] = [*_wall(identity, seccomp, network=False), "--setenv", "PATH", "/usr/bin:/bin"]
    result += _root(identity, disk=1 << 20, network=False)
    result += _workspace(root, {}, writable=writable) if staged is None else staged
    return [*result, "--remount-ro", "/", "--chdir", str(root)]


def _wall(identity: Identity, seccomp: bytes | None, *, network: bool, kept: Sequence[str] = ()) -> Iterator[Word]:
    yield from ("--unshare-all", "--unshare-user", "--disable-userns", "--assert-userns-disabled")
    if network:
        yield "--share-net"
    yield from ("--die-with-parent", "--new-session", "--as-pid-1", "--clearenv", "--hostname", "sandbox")
    yield from ("--cap-drop", "ALL", "--uid", str(identity.uid), "--gid", str(identity.gid))
    for capability in kept:
        yield from ("--cap-add", capability)
    if seccomp is not None:
        yield from ("--seccomp", seccomp)


def _variables(place: Place, hash_seed: int) -> Iterator[str]:
    environment = place.environment
    values = {
        "PATH": f"{environment.executable.parent}:{environment.prefix / 'bin'}:/usr/local/bin:/usr/bin:/bin",
        "HOME": "/tmp",  # noqa: S108 (the sandbox's own; the supervisor makes a fresh home for each run below it)
        "LANG": "C.UTF-8",
        guests.VARIABLE: f"{INSIDE}/{guests.NAME}",
        "USER": "user",
        "LOGNAME": "user",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONNOUSERSITE": "1",
        "PYTHONHASHSEED": str(hash_seed % 4294967296),
        **dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS"), "1"),
    }
    if environment.prefix != environment.base:
        values["VIRTUAL_ENV"] = str(environment.prefix)
    for name, value in {**values, **place.variables}.items():
        yield from ("--setenv", name, value)


def _root(identity: Identity, *, disk: int, network: bool) -> Iterator[Word]:
    """The system's own folders, made-up accounts, and private /proc, /dev and /tmp."""
    yield from ("--ro-bind", "/usr", "/usr")
    for name in SYSTEM:
        path = f"/{name}"
        if os.path.islink(path):
            yield from ("--symlink", os.readlink(path), path)
        elif os.path.isdir(path):
            yield from ("--ro-bind", path, path)
    for name in _ETC + (_ETC_NETWORK if network else ()):
        yield from ("--ro-bind-try", os.path.realpath(f"/etc/{name}"), f"/etc/{name}")
    accounts = {
        "passwd": f"user:x:{identity.uid}:{identity.gid}::/tmp:/bin/sh\nnobody:x:65534:65534::/:/bin/false\n",
        "group": f"user:x:{identity.gid}:\nnogroup:x:65534:\n",
        "hosts": _hosts(),
    }
    for name, text in accounts.items():
        yield from ("--perms", "0444", "--ro-bind-data", text.encode(), f"/etc/{name}")
    yield from ("--proc", "/proc", "--remount-ro", "/proc", "--dev", "/dev")
    yield from ("--perms", "1777", "--size", str(16 << 20), "--tmpfs", "/dev/shm", "--remount-ro", "/dev")  # noqa: S108
    yield from ("--perms", "1777", "--size", str(disk), "--tmpfs", "/tmp")  # noqa: S108


def _hosts() -> str:
    """The host's own names for its loopback addresses, and the sandbox's."""
    try:
        with Path("/etc/hosts").open(encoding="utf-8", errors="replace") as stream:
            lines = [line.partition("#")[0].split() for line in stream.read(1 << 18).splitlines()]
    except OSError:
        lines = []
    named = [words for words in lines if len(words) > 1 and (words[0] == "::1" or words[0].startswith("127."))]
    if not any("localhost" in words for words in named):
        named = [["127.0.0.1", "localhost"], ["::1", "localhost"]]
    return "".join(f"{' '.join(words)}\n" for words in [*named, ["127.0.0.1", "sandbox"]])


def addresses() -> str:
    """Of each family that this machine is configured for, one address that is nobody's (RFC 5737, RFC 3849)."""
    found = []
    for family, own, nobodys in (
        (socket.AF_INET, "127.0.0.1", "192.0.2.1"),
        (socket.AF_INET6, "::1", "2001:db8::1"),
    ):
        with contextlib.suppress(OSError):
            socket.getaddrinfo(own, 0, family, flags=socket.AI_ADDRCONFIG)
            found.append(nobodys)
    return ",".join(found)


# -- the workspace ----------------------------------------------------------------------------------------------


def _workspace(root: Path, files: Mapping[str, bytes], *, writable: bool) -> list[Word]:
    top = str(root)
    if writable:
        result: list[Word] = ["--overlay-src", top, "--tmp-overlay", top]
        for name, data in sorted(files.items()):
            result += ["--perms", _mode(root / name), "--file", data, f"{top}/{name}"]
        return result
    result = ["--ro-bind", top, top]
    rebuilt = sorted({_nearest(root, name) for name in files if not os.path.lexists(root / name)})
    for folder in rebuilt:  # parents first
        result += _rebuilt(folder)
    for name, data in sorted(files.items()):
        result += ["--perms", _mode(root / name), "--ro-bind-data", data, f"{top}/{name}"]
    for folder in rebuilt:
        result += ["--remount-ro", folder]
    return result


def _rebuilt(folder: str) -> Iterator[str]:
    """A folder that new names can be added to, with everything it has: a read-only bind has no room for them."""
    yield from ("--perms", "0755", "--size", str(1 << 20), "--tmpfs", folder)
    with os.scandir(folder) as entries:
        for entry in sorted(entries, key=lambda entry: entry.name):
            if entry.is_symlink():
                yield from ("--symlink", os.readlink(entry.path), entry.path)
            elif entry.is_dir() or entry.is_file():
                yield from ("--ro-bind", entry.path, entry.path)


def _nearest(root: Path, name: str) -> str:
    folder = (root / name).parent
    while folder != root and not folder.is_dir():
        folder = folder.parent
    return str(folder)


def _mode(path: Path) -> str:
    try:
        return f"{(path.stat().st_mode & 0o755) | 0o644:04o}"
    except OSError:
        return "0644"


def check(root: Path, files: Sequence[str]) -> None:
    """Raises `ValueError` for a path that leaves the workspace, or that a link or a file stands in the way of."""
    for name in files:
        inside.protocol().check_path(name)
        here = root
        *parents, last = name.split("/")
        for part in parents:
            here /= part
            if here.is_symlink() or (os.path.lexists(here) and not here.is_dir()):
                raise ValueError(f"{here} is no plain folder")
        here /= last
        if here.is_symlink() or here.is_dir():
            raise ValueError(f"{here} is no plain file")


def _covers(root: Path, hidden: Hidden, files: Mapping[str, bytes], empty: Path | None) -> Iterator[Word]:
    for name in hidden.folders:
        folder = str(root / name)
        yield from ("--perms", "0755", "--size", "4096", "--tmpfs", folder, "--remount-ro", folder)
    covered = [name for name in hidden.files if name not in files]
    for name in covered:
        if empty is not None and len(covered) > MANY:
            yield from ("--ro-bind", str(empty), str(root / name))
        else:
            yield from ("--perms", "0444", "--ro-bind-data", b"", str(root / name))
