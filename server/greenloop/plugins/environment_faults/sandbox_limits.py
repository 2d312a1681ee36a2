"""Faults caused by the sandbox (network, variables, files, permissions, resources)."""

from __future__ import annotations

import os
import re
from fnmatch import fnmatch
from pathlib import Path

from greenloop.plugins.environment_faults.observation import ObservedFailure, is_installed_path
from greenloop.plugins.environment_faults.rows import Row
from greenloop.plugins.environment_faults.tables import SERVICES

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
    r"host='([\w.-]+)', port=(\d+)|server at \"([\w./-]+)\"(?: \([\w.:]+\))?, port (\d+)"
    r"|\(['\"]([\w.-]*)['\"], (\d+)\)|\b([A-Za-z][\w.-]*|\d+\.\d+\.\d+\.\d+):(\d{2,5})\b"
)
_LOOPBACK = re.compile(r"localhost|127\.|::1|0\.0\.0\.0|/")
# Settings that start a service.
_TITLES = {
    "PostgreSQL": "postgres", "Redis": "redis", "MySQL": "mysql", "RabbitMQ": "docker:rabbitmq",
    "MongoDB": "docker:mongo", "Elasticsearch": "docker:elasticsearch", "memcached": "docker:memcached",
}  # fmt: skip
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


def _is_unreachable(observed: ObservedFailure) -> bool:
    return bool(_NETWORK.search(observed.message)) or observed.failure.type in {"gaierror", "NameResolutionError"}


def _refusing_service(observed: ObservedFailure, _match: re.Match[str]) -> dict[str, str] | None:
    """The service that refused the connection, as far as the message or the source line names it."""
    if observed.failure.type != "ConnectionRefusedError" and not _REFUSED.search(observed.message):
        return None
    tests = [frame.path for frame in observed.failure.frames[:1] if not frame.path.startswith("/")]
    if observed.root is not None and any(_SERVES.search(observed.text(path)) for path in tests):
        return None
    match = _ADDRESS.search(observed.message) or _ADDRESS.search(observed.nearby_lines())
    host, port = [part for part in match.groups() if part is not None] if match else ("", "")
    service = f"{SERVICES.get(port, 'a service')} at {host}:{port}" if port else "a service"
    return {"service": service, "host": host}


def setting_for(service: str) -> str:
    """The setting that would start a service, by its title; "" where there is none."""
    name = next((name for title, name in _TITLES.items() if service.startswith(title)), "")
    return f'sandbox.services = ["{name}"]' if name else ""


def _startable_service(observed: ObservedFailure, match: re.Match[str]) -> dict[str, str] | None:
    """The service that refused the connection, where greenloop could start it."""
    values = _refusing_service(observed, match)
    setting = setting_for(values["service"]) if values and _LOOPBACK.match(values["host"]) else ""
    return {**values, "setting": setting} if values and setting else None


def _is_blocked(observed: ObservedFailure, match: re.Match[str]) -> bool:
    if observed.network or _is_unreachable(observed):
        return not observed.network
    # Inside the sandbox every address but this machine's own is refused.
    service = _refusing_service(observed, match)
    return service is not None and service["host"] != "" and not _LOOPBACK.match(service["host"])


def _variable(observed: ObservedFailure, _match: re.Match[str]) -> dict[str, str] | None:
    name = observed.message.strip("'\"")
    from_environ = any(frame.path.endswith("os.py") or frame.path == "<frozen os>" for frame in observed.failure.frames)
    if not (observed.failure.type == "KeyError" and from_environ and re.fullmatch(r"[A-Za-z_]\w*", name)):
        match = _VARIABLE.search(observed.message)
        # Counts only from a library or a module being imported; a function may raise this as tested behaviour.
        outside_functions = is_installed_path(observed.innermost_path) or observed.is_import
        if match is None or observed.is_assertion or not outside_functions:
            return None
        name = next(group for group in match.groups() if group)
    is_hidden = observed.root is not None and (observed.root / ".env").is_file() and ".env*" in observed.masked
    or_expose = '; or, if it is in .env, expose that file: sandbox.expose = [".env"]' if is_hidden else ""
    return {"name": name, "or_expose": or_expose}


def _set_variable(observed: ObservedFailure, match: re.Match[str]) -> dict[str, str] | None:
    values = _variable(observed, match)
    return values if values and values["name"] in os.environ else None


def _needs_git(observed: ObservedFailure) -> bool:
    return bool(_GIT.search(observed.message) or _GIT.search(observed.failure.type))


def _file(error_numbers: str) -> str:
    return rf"\[Errno (?:{error_numbers})\] [^:]+: '(?P<file>[^']+)'"


def _is_denied(observed: ObservedFailure) -> bool:
    return observed.failure.type in {"FileNotFoundError", "PermissionError", "OSError"}


def _hidden_file(observed: ObservedFailure, match: re.Match[str]) -> dict[str, str] | None:
    name = Path(match["file"]).name
    return {"name": name} if _is_denied(observed) and any(fnmatch(name, pattern) for pattern in _HIDDEN) else None


def _is_outside(observed: ObservedFailure, match: re.Match[str]) -> bool:
    is_inside = observed.root is not None and Path(match["file"]).is_relative_to(observed.root)
    return _is_denied(observed) and match["file"].startswith("/") and not is_inside


def _is_forbidden(observed: ObservedFailure, match: re.Match[str]) -> bool:
    return _is_outside(observed, match) and not match["file"].startswith(("/tmp", "/proc"))  # noqa: S108


def _is_unseen(observed: ObservedFailure, match: re.Match[str]) -> bool:
    try:
        return _is_outside(observed, match) and os.path.lexists(match["file"])
    except (OSError, ValueError):
        return False


def _empty_file(observed: ObservedFailure, _match: re.Match[str]) -> dict[str, str] | None:
    """A masked file exists inside the sandbox but is empty, so that the code reading it fails later."""
    root = observed.root
    if observed.failure.type not in _EMPTY or root is None or observed.own_frame is None:
        return None
    literals = re.findall(r"[\"']([^\"'\n]{0,120})[\"']", observed.surrounding_source())
    for name in (literal.rstrip("/").rpartition("/")[2] for literal in literals):
        is_masked = any(fnmatch(name, pattern) for pattern in observed.masked)
        if is_masked and ((root / name).exists() or next(root.glob(f"*/{name}"), None) is not None):
            return {"name": name}
    return None


def _opens_low_port(observed: ObservedFailure, _match: re.Match[str]) -> bool:
    is_server = re.search(r"\.bind\(|listen|serve|port|Server\(", observed.nearby_lines())
    return observed.failure.type == "PermissionError" and bool(is_server)


def _needs_root(observed: ObservedFailure, match: re.Match[str]) -> bool:
    # `chown` to a user that does not exist in the sandbox fails with "Invalid argument".
    return observed.failure.type == "PermissionError" if match[1] == "1" else "chown" in observed.nearby_lines()


def _is_limit_of_tests(observed: ObservedFailure) -> bool:
    """Did the tests themselves hit a resource limit? The code under repair may simply never stop."""
    if observed.own_frame is None:  # a kill says nothing about the place
        return observed.failure.type not in {"MemoryLimit", "ProcessLimit"}
    return observed.is_in_tests or observed.is_import


def _exceeds_memory(observed: ObservedFailure, _match: re.Match[str]) -> bool:
    is_error = observed.failure.type in {"MemoryError", "_ArrayMemoryError", "MemoryLimit"}
    return (is_error or "Cannot allocate memory" in observed.message) and _is_limit_of_tests(observed)


def _exceeds_processes(observed: ObservedFailure, _match: re.Match[str]) -> bool:
    is_error = observed.failure.type == "ProcessLimit" or "can't start new thread" in observed.message
    is_error |= observed.failure.type == "BlockingIOError" and "[Errno 11]" in observed.message
    return is_error and _is_limit_of_tests(observed)


# fmt: off
VARIABLE_ROWS: list[Row[ObservedFailure]] = [
    Row("", "the environment variable {name} is not set inside the sandbox",
        'Pass it to the tests: sandbox.env = ["{name}"]{or_expose}', _set_variable),
    Row("", "the environment variable {name} is not set inside the sandbox",
        'Set it (export {name}=...) and pass it to the tests: sandbox.env = ["{name}"]{or_expose}', _variable),
]
ROWS: list[Row[ObservedFailure]] = [
    Row("", "a host could not be reached", "Check the network.",
        lambda observed, _match: observed.network and _is_unreachable(observed)),
    Row("", "the test needs network access, which the sandbox blocks", "Allow it: sandbox.network = true", _is_blocked),
    Row("", "the test needs {service}, which is not reachable inside the sandbox", "Start it.",
        lambda observed, match: _refusing_service(observed, match) if observed.network else None),
    Row("", "the test needs {service}, which is not reachable inside the sandbox",
        "Have greenloop start one for the tests: {setting}", _startable_service),
    Row("", "the test needs {service}, which is not reachable inside the sandbox",
        "Start it and set sandbox.network = true, or use a test double.", _refusing_service),
    Row("", "the test needs a git repository, and the workspace is not one", "Create one: git init",
        lambda observed, _match:
            _needs_git(observed) and (observed.root is None or not (observed.root / ".git").exists())),
    Row("", "the test needs the git repository, which is hidden from tests", 'Expose it: sandbox.expose = [".git"]',
        lambda observed, _match: _needs_git(observed)),
    Row(_file("30"), "the test writes to {file}, which is read-only inside the sandbox",
        "Make the test write to tmp_path."),
    Row("Read-only file system", "the test writes to its own folder, which is read-only inside the sandbox",
        "Make the test write to tmp_path."),
    Row(_file(r"\d+"), "{name} is hidden from tests", 'Expose it: sandbox.expose = ["{name}"]', _hidden_file),
    Row(_file("1|13"), "the test has no permission for {file}, which is outside the workspace",
        "Make the test use tmp_path instead.", _is_forbidden),
    Row(_file("2"), "{file} is outside the workspace, and tests can see only the workspace",
        "Put the file into the workspace, or make the test create its own in tmp_path.", _is_unseen),
    Row("", "the test needs {name}, which is hidden from tests (it is empty inside the sandbox)",
        'Expose it: sandbox.expose = ["{name}"]', _empty_file),
    Row(r"\[Errno 13\]", "the test opens a port below 1024, which needs root, and tests never run as root",
        "Use port 0, which picks a free one.", _opens_low_port),
    Row(r"\[Errno (1|22)\]", "the test needs root privileges, and tests never run as root",
        "Skip it unless os.getuid() is 0, or use a test double.", _needs_root),
    Row(r"\[Errno 28\]|No space left on device", "the test fills the sandbox's disk (64 MiB)",
        "Make it write less; there is no setting for this limit.",
        lambda observed, _match: _is_limit_of_tests(observed)),
    Row("", "the test exceeds the memory limit",
        "Allow more (in MiB), for example: sandbox.memory = 4096", _exceeds_memory),
    Row("", "the test exceeds the limit of processes and threads",
        "Allow more, for example: sandbox.processes = 256", _exceeds_processes),
]
# fmt: on
