"""What the sandbox closes or bounds, each with the setting that opens it: network, variables, files, rights, sizes."""

from __future__ import annotations

import errno
import os
import re
from fnmatch import fnmatch
from pathlib import Path

from greenloop.faults.known import SERVICES
from greenloop.faults.seen import Fault, Seen, because, is_installed_path

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
_CLOSED = because(
    "the test reaches for the network, which the sandbox closes", "Let tests reach it: sandbox.network = true"
)
# A test that starts its own server and is refused was led to the wrong place by the code.
_SERVES = re.compile(
    r"HTTPServer|socketserver|start_server|create_server|live_server|httpserver|\.listen\(|\.bind\(|uvicorn|TestServer"
)
_VARIABLE = re.compile(
    r"(?:[Ee]nvironment|[Ee]nv(?:ironment)?)[ -][Vv]ar(?:iable)?s?:? ['\"`]?([A-Z][A-Z0-9_]*)"
    r"|\b([A-Z][A-Z0-9_]*)['\"`]? (?:environment|env) var|([A-Z][A-Z0-9_]*) not found\. Declare it as envvar"
)
# What reading an empty file leads to; anything else in the same function has another cause.
_EMPTY = {
    "JSONDecodeError", "EOFError", "KeyError", "IndexError", "NoSectionError", "NoOptionError", "SSLError", "TypeError",
    "ValueError", "ParserError", "EmptyDataError", "UnpicklingError", "StopIteration", "TOMLDecodeError",
}  # fmt: skip
_GIT = re.compile(r"not a git repository|InvalidGitRepositoryError|unable to detect version for|'git', .*status 128")


def check(seen: Seen) -> Fault | None:
    """What of the wall is in the way."""
    if fault := _variable(seen):
        return fault
    if seen.asserted or seen.raised:
        return None
    return _reach(seen) or _git(seen) or _file(seen) or _hidden(seen) or _rights(seen) or _bounds(seen)


# -- network --------------------------------------------------------------------------------------------------------


def _reach(seen: Seen) -> Fault | None:
    if _NETWORK.search(seen.message) or seen.failure.type in {"gaierror", "NameResolutionError"}:
        if seen.network:
            return because("a host could not be reached", "Check the network.")
        return _CLOSED
    if seen.failure.type != "ConnectionRefusedError" and not _REFUSED.search(seen.message):
        return None
    if seen.root is not None and any(_SERVES.search(seen.text(path)) for path in _tests(seen)):
        return None
    host, port = _address(seen)
    if not seen.network and host and not _LOOPBACK.match(host):
        return _CLOSED  # inside, whatever is not this machine itself is refused
    cure = "Start it." if seen.network else "Start it and set sandbox.network = true, or let the test use a stand-in."
    return because(f"the test needs {_service(host, port)}, which does not answer inside the sandbox", cure)


def _tests(seen: Seen) -> set[str]:
    return {frame.path for frame in seen.failure.frames[:1] if not frame.path.startswith("/")}


def _address(seen: Seen) -> tuple[str, str]:
    """Host and port that refused, as far as the message or the line tells."""
    match = _ADDRESS.search(seen.message) or _ADDRESS.search(seen.line())
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


def _variable(seen: Seen) -> Fault | None:
    name = seen.message.strip("'\"")
    asked = any(frame.path.endswith("os.py") or frame.path == "<frozen os>" for frame in seen.failure.frames)
    if not (seen.failure.type == "KeyError" and asked and re.fullmatch(r"[A-Za-z_]\w*", name)):
        match = _VARIABLE.search(seen.message)
        # Said by a library or by a settings module on import; a function may say it to be tested for it.
        elsewhere = is_installed_path(seen.deepest) or seen.importing
        if match is None or seen.asserted or not elsewhere:
            return None
        name = next(group for group in match.groups() if group)
    pass_on = f'sandbox.env = ["{name}"]'
    remedy = f"Pass it on: {pass_on}" if name in os.environ else f"Set it (export {name}=...) and pass it on: {pass_on}"
    if seen.root is not None and (seen.root / ".env").is_file() and ".env*" in seen.masked:
        remedy += '; or, if it is in .env, show that: sandbox.expose = [".env"]'
    return because(f"the environment variable {name} is not set inside the sandbox", remedy)


# -- files ----------------------------------------------------------------------------------------------------------


def _git(seen: Seen) -> Fault | None:
    if not (_GIT.search(seen.message) or _GIT.search(seen.failure.type)):
        return None
    if seen.root is None or not (seen.root / ".git").exists():
        return because("the test needs a git repository, and the workspace is none", "Make it one: git init")
    return because("the test needs the git repository, which is hidden", 'Show it to tests: sandbox.expose = [".git"]')


def _file(seen: Seen) -> Fault | None:
    quoted = re.search(r"\[Errno (\d+)\] [^:]+: '([^']+)'", seen.message)
    number = int(quoted[1]) if quoted else 0
    name = quoted[2] if quoted else ""
    outside = name.startswith("/") and not (seen.root is not None and Path(name).is_relative_to(seen.root))
    if number == errno.EROFS or "Read-only file system" in seen.message:
        return because(
            f"the test writes to {name or 'its own folder'}, which is read-only inside the sandbox",
            "Let the test write to tmp_path.",
        )
    if seen.failure.type not in {"FileNotFoundError", "PermissionError", "OSError"} or not quoted:
        return None
    if any(fnmatch(Path(name).name, pattern) for pattern in _HIDDEN):
        label = Path(name).name
        return because(f"{label} is hidden from tests", f'Show it to them: sandbox.expose = ["{label}"]')
    if number in (errno.EACCES, errno.EPERM) and outside and not name.startswith(("/tmp", "/proc")):  # noqa: S108
        return because(
            f"the test has no right to {name}, which lies outside the workspace", "Let the test use tmp_path instead."
        )
    if number == errno.ENOENT and outside and _is_there(name):
        return because(
            f"{name} lies outside the workspace, and tests see nothing of this machine but that",
            "Put the file into the workspace, or let the test make its own in tmp_path.",
        )
    return None


def _is_there(name: str) -> bool:
    try:
        return os.path.lexists(name)
    except (OSError, ValueError):
        return False


def _hidden(seen: Seen) -> Fault | None:
    """A hidden file is there and empty: whoever reads it stumbles over that later."""
    if seen.failure.type not in _EMPTY or seen.root is None or seen.own is None:
        return None
    for word in re.findall(r"[\"']([^\"'\n]{0,120})[\"']", seen.around()):
        name = word.rstrip("/").rpartition("/")[2]
        if any(fnmatch(name, pattern) for pattern in seen.masked) and _holds(seen.root, name):
            return because(
                f"the test needs {name}, which is hidden from tests (it is empty inside the sandbox)",
                f'Show it to them: sandbox.expose = ["{name}"]',
            )
    return None


def _holds(root: Path, name: str) -> bool:
    return (root / name).exists() or next(root.glob(f"*/{name}"), None) is not None


# -- rights and sizes -----------------------------------------------------------------------------------------------


def _rights(seen: Seen) -> Fault | None:
    # To give a file to a user that the sandbox does not have is "Invalid argument" there.
    invalid = "[Errno 22]" in seen.message and "chown" in seen.line()
    if seen.failure.type != "PermissionError" and not invalid:
        return None
    if re.search(r"\.bind\(|listen|serve|port|Server\(", seen.line()) and "[Errno 13]" in seen.message:
        return because(
            "the test opens a port below 1024, which only root may, and tests never run as root",
            "Let it use port 0, which gives a free one.",
        )
    if "[Errno 1]" in seen.message or invalid:
        return because(
            "the test needs rights of root, and tests never run as root",
            "Mark it to be skipped where os.getuid() is not 0, or let it use a stand-in.",
        )
    return None


def _bounds(seen: Seen) -> Fault | None:
    """A limit that the tests run into by themselves; code under repair may simply never stop."""
    if seen.own is not None and not (seen.by_test or seen.importing):
        return None
    if seen.own is None and seen.failure.type in {"MemoryLimit", "ProcessLimit"}:
        return None  # killed, and nobody knows where
    if "[Errno 28]" in seen.message or "No space left on device" in seen.message:
        return because(
            "the test fills the sandbox's disk (64 MiB)", "Let it write less; there is no setting for this limit."
        )
    if (
        seen.failure.type in {"MemoryError", "_ArrayMemoryError", "MemoryLimit"}
        or "Cannot allocate memory" in seen.message
    ):
        return because(
            "the test needs more memory than it may use", "Allow more (in MiB), for example: sandbox.memory = 4096"
        )
    if (
        seen.failure.type == "ProcessLimit"
        or "can't start new thread" in seen.message
        or (seen.failure.type == "BlockingIOError" and "[Errno 11]" in seen.message)
    ):
        return because(
            "the test starts more processes and threads than it may",
            "Allow more, for example: sandbox.processes = 256",
        )
    return None
