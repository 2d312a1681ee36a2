"""Explains why a test has another outcome in the sandbox than on the host: which promise of the sandbox it runs into.

greenloop's own words come first; where the tests' code hides the reason from it, the texts of both sides are searched.
"""

from __future__ import annotations

import re
from pathlib import Path

from greenloop.project import hidden
from greenloop.project.environment.faults import find_environment_fault
from greenloop.project.settings import Settings
from greenloop_sandbox import Environment, Failure

# What a text says -> the promise. Searched in this order in what the test said in the sandbox, then on the host.
_IN_SANDBOX = (
    (
        r"gaierror|Network is unreachable|name resolution|Name or service not known|No matching distribution",
        "network off",
    ),
    (r"pip.*(install|download)|Could not find a version|Failed to establish a new connection", "network off"),
    (r"link-local IPv6 interface", "network off"),
    (r"No space left on device", "disk limit"),
    (r"File too large|\[Errno 27\]", "limit of single files"),
    (r"can't start new thread|\[Errno 11\] Resource temporarily", "process limit"),
    (r"MemoryError|Cannot allocate memory", "memory limit"),
    (r"it did not finish in time", "time limit"),
    (r"Read-only file system|\[Errno 30\]", "read-only outside the workspace"),
    (r"not a git repository|dubious ownership", "hidden .git"),
    (r"/sys/|no disks or NICs", "no /sys"),
    (r"block device|character device|/dev/|findmnt|RootFsDevice", "devices of its own"),
    (r"\[Errno 1\] Operation not permitted|Permission denied|\[Errno 13\]", "no root"),
    (r"st_ino=|samefile|test_link\b|nlink", "throw-away layer over the workspace"),
    (r"FileExistsError", "what a differing test before it left behind"),
    (r"getpwnam|getgrnam|getpwuid|uid not promise_found|name not promise_found", "made-up accounts"),
)
_HOME_IN_SANDBOX = "/tmp/greenloop/home/"
_ON_HOST = (
    (r"Operation not permitted|Permission denied|root|os\.access|access\(", "no root"),
    (r"(?i)monotonic\(\)|timed? ?out", "a time limit of the test, which the host exceeded"),
)


def find_cause(failure: Failure | None, host_output: str, *, case: str, root: Path, environment: Environment) -> str:
    """The promise in a few words, or "" when none explains it. `host_output`: what the test said on the host."""
    if f"{Path.home()}/" in case or _HOME_IN_SANDBOX in case:
        return "a home folder of its own, which the test's id names"
    if failure is not None:
        masked = hidden.masked_patterns(Settings())
        fault = find_environment_fault([failure], environment, root=root, network=False, masked=masked)
        if fault is not None:
            return fault.sentence.removeprefix("This fails because ").rstrip(".")
        text = f"{failure.type}\n{failure.message}\n{failure.text}"
        promise_found = next((promise for pattern, promise in _IN_SANDBOX if re.search(pattern, text)), "")
        if promise_found:
            return promise_found
    return next((promise for pattern, promise in _ON_HOST if re.search(pattern, host_output)), "")
