"""Builds bubblewrap's arguments from the sandbox spec, the files of the run and the hidden paths.

It starts nothing. An argument is text, or bytes: contents that become a descriptor when bubblewrap is started.
Host paths keep their absolute paths; everything is read-only except /tmp and the throw-away layer of the workspace.
"""

# Paths are command-line arguments here, and links are resolved by hand.
# ruff: noqa: PTH112, PTH114, PTH115

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from greenloop_sandbox import bundled_hypothesis, payload
from greenloop_sandbox.backends import _interpreter
from greenloop_sandbox.backends._identity import Identity, is_reachable
from greenloop_sandbox.backends._interpreter import SYSTEM
from greenloop_sandbox.backends._masking import HiddenPaths
from greenloop_sandbox.records import SandboxSpec, TestRun

Argument = str | bytes
INSIDE = "/run/greenloop"
SYSTEM_PATH = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"
_ETC = (
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "alternatives",
    "localtime",
    "timezone",
    "debian_version",
    "os-release",
    "protocols",
    "services",
    "mime.types",
)
_ETC_NETWORK = ("resolv.conf", "ssl", "pki", "ca-certificates", "nsswitch.conf")
# Needed for mounting; an overlay works with the rights of the process that mounted it.
_CAPABILITIES = ("CAP_SYS_ADMIN", "CAP_SETPCAP", "CAP_DAC_OVERRIDE", "CAP_FOWNER", "CAP_CHOWN")
SHARED_EMPTY_ABOVE = 64  # hidden files above this number share one empty file


def one_shot_arguments(
    spec: SandboxSpec,
    identity: Identity,
    *,
    writable: bool,
    files: Mapping[str, bytes],
    hidden: HiddenPaths,
    seccomp: bytes | None,
    hash_seed: int,
    empty_file: Path | None = None,
    staged: Sequence[Argument] | None = None,
) -> list[Argument]:
    """Every argument between the name of the program and the command.

    `writable`: the workspace is an overlay whose upper layer is thrown away, else it is read-only.
    `empty_file` is an empty file of the host, needed only when very many files are hidden.
    `staged` are the arguments for a workspace that was prepared beforehand, files included.
    Raises `CannotVerifyError` when the interpreter cannot be shown without showing a whole home folder.
    """
    result: list[Argument] = [
        *_isolation_arguments(identity, seccomp, network=spec.network),
        *_variable_arguments(spec, hash_seed),
    ]
    result += _system_arguments(spec, identity, staged=staged is not None)
    result += _workspace_arguments(spec.root, files, writable=writable) if staged is None else staged
    result += _cover_arguments(spec.root, hidden, files, empty_file)
    return [*result, "--remount-ro", "/", "--chdir", str(spec.root)]


def resident_arguments(
    spec: SandboxSpec, identity: Identity, *, hash_seed: int, staged: Sequence[Argument] | None = None
) -> list[Argument]:
    """Arguments for a resident sandbox, whose supervisor keeps the rights to give each run mounts of its own.

    They are rights over the sandbox's own user namespace; the worker gives them up (inside/isolation.py) and then
    installs its seccomp filter. `staged` are the arguments for a workspace that was made readable beforehand.
    Raises `CannotVerifyError` when the interpreter cannot be shown without showing a whole home folder.
    """
    capabilities = _CAPABILITIES if spec.network else (*_CAPABILITIES, "CAP_NET_ADMIN")
    result: list[Argument] = [
        *_isolation_arguments(identity, None, network=spec.network, capabilities=capabilities),
        *_variable_arguments(spec, hash_seed),
    ]
    result += _system_arguments(spec, identity, staged=staged is not None)
    result += ["--ro-bind", str(spec.root), str(spec.root)] if staged is None else staged
    return [*result, "--perms", "0755", "--dir", f"{INSIDE}/layer", "--remount-ro", "/", "--chdir", str(spec.root)]


def _system_arguments(spec: SandboxSpec, identity: Identity, *, staged: bool) -> list[Argument]:
    """Shows the system, the interpreter, and greenloop's own files."""
    result: list[Argument] = [*_root_arguments(identity, disk=spec.limits.disk, network=spec.network)]
    result += _interpreter.mount_arguments(spec.environment, spec.root)
    files = {**payload.sources(), "bundle": payload.bundle(INSIDE)}
    if hypothesis := bundled_hypothesis.archive():
        files[bundled_hypothesis.NAME] = hypothesis
    for name, data in files.items():
        # Written, not mounted: the root becomes read-only in the end, and fifty mounts would take a while.
        result += ["--perms", "0444", "--file", data, f"{INSIDE}/{name}"]
    for name, path in payload.borrowed_packages().items():
        if staged or not identity.drops_root or is_reachable(str(path), identity):
            result += ["--ro-bind", str(path), f"{INSIDE}/packages/{name}"]
    return result


def selftest_arguments(
    root: Path, identity: Identity, *, writable: bool, seccomp: bytes | None, staged: Sequence[Argument] | None = None
) -> list[Argument]:
    """Arguments for a sandbox around one folder, without an interpreter, as the self-test needs it."""
    result: list[Argument] = [
        *_isolation_arguments(identity, seccomp, network=False),
        *("--setenv", "PATH", "/usr/bin:/bin"),
        *_root_arguments(identity, disk=1 << 20, network=False),
    ]
    result += _workspace_arguments(root, {}, writable=writable) if staged is None else staged
    return [*result, "--remount-ro", "/", "--chdir", str(root)]


def _isolation_arguments(
    identity: Identity, seccomp: bytes | None, *, network: bool, capabilities: Sequence[str] = ()
) -> Iterator[Argument]:
    yield from ("--unshare-all", "--unshare-user", "--disable-userns", "--assert-userns-disabled")
    if network:
        yield "--share-net"
    yield from ("--die-with-parent", "--new-session", "--as-pid-1", "--clearenv", "--hostname", "sandbox")
    yield from ("--cap-drop", "ALL", "--uid", str(identity.uid), "--gid", str(identity.gid))
    for capability in capabilities:
        yield from ("--cap-add", capability)
    if seccomp is not None:
        yield from ("--seccomp", seccomp)


def _variable_arguments(spec: SandboxSpec, hash_seed: int) -> Iterator[str]:
    for name, value in variables(spec, hash_seed).items():
        yield from ("--setenv", name, value)


def variables(spec: SandboxSpec, hash_seed: int) -> dict[str, str]:
    """The environment variables of tests."""
    environment = spec.environment
    values = {
        "PATH": f"{environment.executable.parent}:{environment.prefix / 'bin'}:{SYSTEM_PATH}",
        **payload.variables(hash_seed),
        bundled_hypothesis.PATH_VARIABLE: f"{INSIDE}/{bundled_hypothesis.NAME}",
        "USER": "user",
        "LOGNAME": "user",
    }
    if environment.prefix != environment.base:
        values["VIRTUAL_ENV"] = str(environment.prefix)
    return {**values, **spec.variables}


def _root_arguments(identity: Identity, *, disk: int, network: bool) -> Iterator[Argument]:
    """Shows the system's folders, made-up accounts, and private /proc, /dev and /tmp."""
    yield from system_folders()
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


def system_folders() -> Iterator[str]:
    """Shows /usr, and the other folders of the system as they are: most are links."""
    yield from ("--ro-bind", "/usr", "/usr")
    for name in SYSTEM:
        path = f"/{name}"
        if os.path.islink(path):
            yield from ("--symlink", os.readlink(path), path)
        elif os.path.isdir(path):
            yield from ("--ro-bind", path, path)


def _hosts() -> str:
    """The text of /etc/hosts: the host's own names for its loopback addresses, and the sandbox's."""
    try:
        with Path("/etc/hosts").open(encoding="utf-8", errors="replace") as stream:
            lines = [line.partition("#")[0].split() for line in stream.read(1 << 18).splitlines()]
    except OSError:
        lines = []
    entries = [fields for fields in lines if len(fields) > 1 and (fields[0] == "::1" or fields[0].startswith("127."))]
    if not any("localhost" in fields for fields in entries):
        entries = [["127.0.0.1", "localhost"], ["::1", "localhost"]]
    return "".join(f"{' '.join(fields)}\n" for fields in [*entries, ["127.0.0.1", "sandbox"]])


def addresses() -> str:
    """One reserved address (RFC 5737, RFC 3849) of each address family that this machine is configured for."""
    reserved = []
    for family, loopback, address in (
        (socket.AF_INET, "127.0.0.1", "192.0.2.1"),
        (socket.AF_INET6, "::1", "2001:db8::1"),
    ):
        with contextlib.suppress(OSError):
            socket.getaddrinfo(loopback, 0, family, flags=socket.AI_ADDRCONFIG)
            reserved.append(address)
    return ",".join(reserved)


# -- the workspace ----------------------------------------------------------------------------------------------


def _workspace_arguments(root: Path, files: Mapping[str, bytes], *, writable: bool) -> list[Argument]:
    root_path = str(root)
    if writable:
        result: list[Argument] = ["--overlay-src", root_path, "--tmp-overlay", root_path]
        for name, data in sorted(files.items()):
            result += ["--perms", _mode(root / name), "--file", data, f"{root_path}/{name}"]
        return result
    result = ["--ro-bind", root_path, root_path]
    rebuilt_folders = sorted({_nearest_existing(root, name) for name in files if not os.path.lexists(root / name)})
    for folder in rebuilt_folders:  # parents first
        result += _rebuild_folder(folder)
    for name, data in sorted(files.items()):
        result += ["--perms", _mode(root / name), "--ro-bind-data", data, f"{root_path}/{name}"]
    for folder in rebuilt_folders:
        result += ["--remount-ro", folder]
    return result


def _rebuild_folder(folder: str) -> Iterator[str]:
    """Replaces a folder by a tmpfs with the same entries, so that names can be added; a read-only bind allows none."""
    yield from ("--perms", "0755", "--size", str(1 << 20), "--tmpfs", folder)
    with os.scandir(folder) as entries:
        for entry in sorted(entries, key=lambda entry: entry.name):
            if entry.is_symlink():
                yield from ("--symlink", os.readlink(entry.path), entry.path)
            elif entry.is_dir() or entry.is_file():
                yield from ("--ro-bind", entry.path, entry.path)


def _nearest_existing(root: Path, name: str) -> str:
    folder = (root / name).parent
    while folder != root and not folder.is_dir():
        folder = folder.parent
    return str(folder)


def _mode(path: Path) -> str:
    try:
        return f"{(path.stat().st_mode & 0o755) | 0o644:04o}"
    except OSError:
        return "0644"


def follow_links(root: Path, run: TestRun) -> TestRun:
    """The run with the files that its links lead to, inside the workspace; Python finds them by both names.

    Raises `ValueError` as `check_paths`.
    """
    files, check_path, real_root = {}, payload.protocol().check_path, root.resolve()
    for name, data in run.files.items():
        real = (real_root / check_path(name)).resolve()
        files[real.relative_to(real_root).as_posix() if real.is_relative_to(real_root) else name] = data
    check_paths(root, [*sorted(files), *run.without])
    return run if files.keys() == run.files.keys() else replace(run, files=files)


def check_paths(root: Path, files: Sequence[str]) -> None:
    """Raises `ValueError` for a path that leaves the workspace or leads through a link or a file."""
    for name in files:
        payload.protocol().check_path(name)
        current = root
        *parents, file_name = name.split("/")
        for part in parents:
            current /= part
            if current.is_symlink() or (os.path.lexists(current) and not current.is_dir()):
                raise ValueError(f"{current} is not a regular folder")
        current /= file_name
        if current.is_symlink() or current.is_dir():
            raise ValueError(f"{current} is not a regular file")


def _cover_arguments(
    root: Path, hidden: HiddenPaths, files: Mapping[str, bytes], empty_file: Path | None
) -> Iterator[Argument]:
    for name in hidden.folders:
        folder = str(root / name)
        yield from ("--perms", "0755", "--size", "4096", "--tmpfs", folder, "--remount-ro", folder)
    covered = [name for name in hidden.files if name not in files]
    for name in covered:
        if empty_file is not None and len(covered) > SHARED_EMPTY_ABOVE:
            yield from ("--ro-bind", str(empty_file), str(root / name))
        else:
            yield from ("--perms", "0444", "--ro-bind-data", b"", str(root / name))
