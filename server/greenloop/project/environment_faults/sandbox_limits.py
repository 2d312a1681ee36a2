"""Faults caused by the sandbox (network, variables, files, permissions, resources)."""

from __future__ import annotations

import errno
import os
import re
from fnmatch import fnmatch
from pathlib import Path

from greenloop.project.environment_faults.observation import Fault, ObservedFailure, is_installed_path, make_fault
from greenloop.project.environment_faults.tables import SERVICES

_HIDDEN = (".env*", "*.pem", "*.key", ".git", ".netrc", "credentials*")
_NETWORK = re.compile(
    r"Temporary failure in name resolution|Name or service not known|nodename nor servname|Network is unreachable"
    r"|getaddrinfo failed|No address associated|Failed to resolve|Name resolution|No route to host"
    r"|couldn't connect to 'https?://"
)
_REFUSED = re.compile(
    r"Connection refused|Errno 111|Connect call failed|Cannot connect to host|All connection attempts failed"
)
_ADDRESS = re.compile(
    r"host='(?P<a>[\w.-]+)', port=(?P<b>\d+)|server at \"(?P<c>[\w./-]+)\"(?: \([\w.:]+\))?, port (?P<d>\d+)"
    r"|\(['\"](?P<e>[\w.-]*)['\"], (?P<f>\d+)\)|\b(?P<g>[A-Za-z][\w.-]*|\d+\.\d+\.\d+\.\d+):(?P<h>\d{2,5})\b"
)
_LOOPBACK = re.compile(r"localhost|127\.|::1|0\.0\.0\.0|/")
_CLOSED = make_fault("the test needs network access, which the sandbox blocks", "Allow it: sandbox.network = true")
# If a test starts its own server and the connection is refused, the code used the wrong address.
_SERVES = re.compile(
    r"HTTPServer|socketserver|start_server|create_server|live_server|httpserver|\.listen\(|\.bind\(|uvicorn|TestServer"
)
_VARIABLE = re.compile(
    r"(?:[Ee]nvironment|[Ee]nv(?:ironment)?)[ -][Vv]ar(?:iable)?s?:? ['\"`]?([A-Z][A-Z0-9_]*)"
    r"|\b([A-Z][A-Z0-9_]*)['\"`]? (?:environment|env) var|([A-Z][A-Z0-9_]*) not found\. Declare it as envvar"
)
# Errors caused by reading an empty file; any other error in the same function has another cause.
_EMPTY = {
    "JSONDecodeError", "EOFError", "KeyError", "IndexError", "NoSectionError", "NoOptionError", "SSLError", "TypeError",
    "ValueError", "ParserError", "EmptyDataError", "UnpicklingError", "StopIteration", "TOMLDecodeError",
}  # fmt: skip
_GIT = re.compile(r"not a git repository|InvalidGitRepositoryError|unable to detect version for|'git', .*status 128")


def check(seen: ObservedFailure) -> Fault | None:
    """The fault if a restriction of the sandbox is in the way."""
    if fault := _variable(seen):
        return fault
    if seen.is_assertion or seen.is_raised_by_project:
        return None
    return _reach(seen) or _git(seen) or _file(seen) or _hidden(seen) or _rights(seen) or _bounds(seen)


# -- network --------------------------------------------------------------------------------------------------------


def _reach(observed: ObservedFailure) -> Fault | None:
    if _NETWORK.search(observed.message) or observed.failure.type in {"gaierror", "NameResolutionError"}:
        if observed.network:
            return make_fault("a host could not be reached", "Check the network.")
        return _CLOSED
    if observed.failure.type != "ConnectionRefusedError" and not _REFUSED.search(observed.message):
        return None
    if observed.root is not None and any(_SERVES.search(observed.text(path)) for path in _tests(observed)):
        return None
    host, port = _address(observed)
    if not observed.network and host and not _LOOPBACK.match(host):
        return _CLOSED  # inside the sandbox every address but this machine's own is refused
    remedy = "Start it." if observed.network else "Start it and set sandbox.network = true, or use a test double."
    return make_fault(f"the test needs {_service(host, port)}, which is not reachable inside the sandbox", remedy)


def _tests(observed: ObservedFailure) -> set[str]:
    return {frame.path for frame in observed.failure.frames[:1] if not frame.path.startswith("/")}


def _address(observed: ObservedFailure) -> tuple[str, str]:
    """The host and port that refused the connection, if the message or the source line names them."""
    match = _ADDRESS.search(observed.message) or _ADDRESS.search(observed.nearby_lines())
    if match is None:
        return "", ""
    host, port = [part for part in match.groups() if part is not None]
    return host, port


def _service(host: str, port: str) -> str:
    if not port:
        return "a service"
    name = SERVICES.get(port)
    return f"{name} at {host}:{port}" if name else f"a service at {host}:{port}"


# -- variables ------------------------------------------------------------------------------------------------------


def _variable(observed: ObservedFailure) -> Fault | None:
    name = observed.message.strip("'\"")
    from_environ = any(frame.path.endswith("os.py") or frame.path == "<frozen os>" for frame in observed.failure.frames)
    if not (observed.failure.type == "KeyError" and from_environ and re.fullmatch(r"[A-Za-z_]\w*", name)):
        match = _VARIABLE.search(observed.message)
        # Counts only from a library or a module being imported; a function may raise this as tested behaviour.
        outside_functions = is_installed_path(observed.innermost_path) or observed.is_import
        if match is None or observed.is_assertion or not outside_functions:
            return None
        name = next(group for group in match.groups() if group)
    pass_on = f'sandbox.env = ["{name}"]'
    remedy = (
        f"Pass it to the tests: {pass_on}"
        if name in os.environ
        else f"Set it (export {name}=...) and pass it to the tests: {pass_on}"
    )
    if observed.root is not None and (observed.root / ".env").is_file() and ".env*" in observed.masked:
        remedy += '; or, if it is in .env, expose that file: sandbox.expose = [".env"]'
    return make_fault(f"the environment variable {name} is not set inside the sandbox", remedy)


# -- files ----------------------------------------------------------------------------------------------------------


def _git(observed: ObservedFailure) -> Fault | None:
    if not (_GIT.search(observed.message) or _GIT.search(observed.failure.type)):
        return None
    if observed.root is None or not (observed.root / ".git").exists():
        return make_fault("the test needs a git repository, and the workspace is not one", "Create one: git init")
    return make_fault(
        "the test needs the git repository, which is hidden from tests", 'Expose it: sandbox.expose = [".git"]'
    )


def _file(observed: ObservedFailure) -> Fault | None:
    errno_match = re.search(r"\[Errno (\d+)\] [^:]+: '([^']+)'", observed.message)
    error_number = int(errno_match[1]) if errno_match else 0
    filename = errno_match[2] if errno_match else ""
    is_outside = filename.startswith("/") and not (
        observed.root is not None and Path(filename).is_relative_to(observed.root)
    )
    if error_number == errno.EROFS or "Read-only file system" in observed.message:
        return make_fault(
            f"the test writes to {filename or 'its own folder'}, which is read-only inside the sandbox",
            "Make the test write to tmp_path.",
        )
    if observed.failure.type not in {"FileNotFoundError", "PermissionError", "OSError"} or not errno_match:
        return None
    if any(fnmatch(Path(filename).name, pattern) for pattern in _HIDDEN):
        label = Path(filename).name
        return make_fault(f"{label} is hidden from tests", f'Expose it: sandbox.expose = ["{label}"]')
    if error_number in (errno.EACCES, errno.EPERM) and is_outside and not filename.startswith(("/tmp", "/proc")):  # noqa: S108
        return make_fault(
            f"the test has no permission for {filename}, which is outside the workspace",
            "Make the test use tmp_path instead.",
        )
    if error_number == errno.ENOENT and is_outside and _is_there(filename):
        return make_fault(
            f"{filename} is outside the workspace, and tests can see only the workspace",
            "Put the file into the workspace, or make the test create its own in tmp_path.",
        )
    return None


def _is_there(name: str) -> bool:
    try:
        return os.path.lexists(name)
    except (OSError, ValueError):
        return False


def _hidden(observed: ObservedFailure) -> Fault | None:
    """A masked file exists inside the sandbox but is empty, so that the code reading it fails later."""
    if observed.failure.type not in _EMPTY or observed.root is None or observed.own_frame is None:
        return None
    for literal in re.findall(r"[\"']([^\"'\n]{0,120})[\"']", observed.surrounding_source()):
        name = literal.rstrip("/").rpartition("/")[2]
        if any(fnmatch(name, pattern) for pattern in observed.masked) and _holds(observed.root, name):
            return make_fault(
                f"the test needs {name}, which is hidden from tests (it is empty inside the sandbox)",
                f'Expose it: sandbox.expose = ["{name}"]',
            )
    return None


def _holds(root: Path, name: str) -> bool:
    return (root / name).exists() or next(root.glob(f"*/{name}"), None) is not None


# -- rights and sizes -----------------------------------------------------------------------------------------------


def _rights(observed: ObservedFailure) -> Fault | None:
    # `chown` to a user that does not exist in the sandbox fails with "Invalid argument".
    invalid_chown = "[Errno 22]" in observed.message and "chown" in observed.nearby_lines()
    if observed.failure.type != "PermissionError" and not invalid_chown:
        return None
    if re.search(r"\.bind\(|listen|serve|port|Server\(", observed.nearby_lines()) and "[Errno 13]" in observed.message:
        return make_fault(
            "the test opens a port below 1024, which needs root, and tests never run as root",
            "Use port 0, which picks a free one.",
        )
    if "[Errno 1]" in observed.message or invalid_chown:
        return make_fault(
            "the test needs root privileges, and tests never run as root",
            "Skip it unless os.getuid() is 0, or use a test double.",
        )
    return None


def _bounds(observed: ObservedFailure) -> Fault | None:
    """A resource limit that the tests hit themselves; the code under repair may simply never stop."""
    if observed.own_frame is not None and not (observed.is_in_tests or observed.is_import):
        return None
    if observed.own_frame is None and observed.failure.type in {"MemoryLimit", "ProcessLimit"}:
        return None  # killed at an unknown place
    if "[Errno 28]" in observed.message or "No space left on device" in observed.message:
        return make_fault(
            "the test fills the sandbox's disk (64 MiB)", "Make it write less; there is no setting for this limit."
        )
    if (
        observed.failure.type in {"MemoryError", "_ArrayMemoryError", "MemoryLimit"}
        or "Cannot allocate memory" in observed.message
    ):
        return make_fault(
            "the test exceeds the memory limit", "Allow more (in MiB), for example: sandbox.memory = 4096"
        )
    if (
        observed.failure.type == "ProcessLimit"
        or "can't start new thread" in observed.message
        or (observed.failure.type == "BlockingIOError" and "[Errno 11]" in observed.message)
    ):
        return make_fault(
            "the test exceeds the limit of processes and threads",
            "Allow more, for example: sandbox.processes = 256",
        )
    return None
