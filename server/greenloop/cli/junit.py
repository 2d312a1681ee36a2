"""Writes a verification as a JUnit file, from the sealed records outside the sandbox."""

from __future__ import annotations

import os
import re
from pathlib import Path
from xml.etree import ElementTree as ET  # only written, never read

from greenloop.core.errors import UsageError, WorkspaceError
from greenloop.core.records.verdict import CaseResult
from greenloop.engine.verify.report import Verification

# Characters that XML 1.0 cannot hold, not even escaped.
_ILLEGAL_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def check_writable(path: Path) -> Path:
    """The path, if a file can be written there. Raises `UsageError` before anything is run."""
    if path.is_symlink() or path.is_dir():
        raise UsageError(f"{path} is not a regular file.", remedy="Choose a separate file with --junit.")
    if not path.parent.is_dir():
        raise UsageError(
            f"There is no folder {path.parent}.", remedy="Create it first, or choose another with --junit."
        )
    return path


def write(path: Path, result: Verification) -> None:
    """Raises `WorkspaceError` when the file cannot be written."""
    try:
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_NOFOLLOW", 0)
        with os.fdopen(os.open(path, flags, 0o644), "wb") as file:
            file.write(document(result))
    except OSError as error:
        raise WorkspaceError(f"{path} could not be written: {error.strerror}.") from error


def document(result: Verification) -> bytes:
    """One suite, one case for each test; tampering that belongs to no test gets its own case."""
    tampered = {each.case: each.reason for each in result.tampered}
    suite = ET.Element("testsuite", name="greenloop verify", time=f"{result.seconds:.3f}")
    counts = {"tests": 0, "failures": 0, "errors": 0, "skipped": 0}
    for case in (*result.cases, *result.new_cases):
        element = _case(suite, case.id, case.seconds)
        counts["tests"] += 1
        if (tampering := tampered.pop(case.id, None)) is not None:
            counts["failures"] += 1
            _child(element, "failure", "tampered", tampering)
        elif case.id in result.known_failing and result.verified:
            # A CI that only reads this file must not take a verified result for a failure.
            counts["skipped"] += 1
            _child(element, "skipped", "known-failing", "It is known to fail, and fails as it did before.")
        elif kind := _outcome(case):
            counts[{"failure": "failures", "error": "errors", "skipped": "skipped"}[kind]] += 1
            failure = case.failure
            _child(
                element,
                kind,
                failure.type if failure else case.outcome,
                failure.message if failure else "",
                failure.text if failure else "",
            )
    if not result.verified and not (counts["failures"] or counts["errors"]):
        # A CI that only reads this file must not take it for a pass.
        tampered.setdefault("", result.reason)
    for name, reason in tampered.items():
        counts["tests"] += 1
        counts["failures"] += 1
        _child(
            _case(suite, name or "greenloop::verify", 0.0),
            "failure",
            "tampered" if result.tampered else "unverified",
            reason,
        )
    for name, number in counts.items():
        suite.set(name, str(number))
    properties = ET.Element("properties")
    for name, value in {
        "base": result.base,
        "verified": str(result.verified).lower(),
        "reason": result.reason,
        "sandbox": result.sandbox,
        "network": str(result.network).lower(),
    }.items():
        ET.SubElement(properties, "property", name=name, value=_escape(value))
    suite.insert(0, properties)
    root = ET.Element("testsuites")
    root.append(suite)
    text: bytes = ET.tostring(root, encoding="utf-8", xml_declaration=True)
    return text


def _case(suite: ET.Element, identity: str, seconds: float) -> ET.Element:
    classname, _colons, name = identity.rpartition("::")
    return ET.SubElement(suite, "testcase", classname=_escape(classname), name=_escape(name), time=f"{seconds:.3f}")


def _outcome(case: CaseResult) -> str:
    if case.outcome in {"skipped", "xfailed"}:
        return "skipped"
    return {"passed": "", "failed": "failure", "xpassed": "failure"}.get(case.outcome, "error")


def _child(element: ET.Element, kind: str, type_: str, message: str, text: str = "") -> None:
    child = ET.SubElement(element, kind, type=_escape(type_), message=_escape(message))
    child.text = _escape(text) or None


def _escape(text: str) -> str:
    return _ILLEGAL_IN_XML.sub("\ufffd", text)
