"""Verifications and fixes as JUnit XML, from the sealed records outside the sandbox."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET  # only written, never read

from greenloop.cli.reports.of_fixes import Fix
from greenloop_sandbox import CaseResult

if TYPE_CHECKING:
    from greenloop.api.verification import Verification

# Characters that XML 1.0 cannot hold, not even escaped.
_ILLEGAL_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def document(result: Verification) -> bytes:
    """One suite, one case for each test; tampering that belongs to no test gets its own case."""
    tampered = {each.case: each.reason for each in result.tampered}
    suite = ET.Element("testsuite", name="greenloop verify", time=f"{result.seconds:.3f}")
    counts = {"tests": 0, "failures": 0, "errors": 0, "skipped": 0}
    for case in (*result.cases, *result.new.cases):
        element = _case(suite, case.id, case.seconds)
        counts["tests"] += 1
        if (tampering := tampered.pop(case.id, None)) is not None:
            counts["failures"] += 1
            _child(element, "failure", "tampered", tampering)
        elif case.id in result.old_failures and result.verified:
            # A CI that only reads this file must not take a verified result for a failure.
            counts["skipped"] += 1
            reason = "known-failing" if case.id in result.known_failing else "already-failing"
            _child(element, "skipped", reason, "It fails as it did before the change.")
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
    if not (result.verified or result.nothing_staged) and not (counts["failures"] or counts["errors"]):
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
    return _whole(
        suite,
        counts,
        {
            "base": result.base,
            "verified": str(result.verified).lower(),
            "reason": result.reason,
            "sandbox": result.sandbox,
            "network": str(result.network).lower(),
        },
    )


def fixes_document(fixes: Iterable[Fix]) -> bytes:
    """One suite, one case for each target; it passes where the target is fixed as far as the user asked."""
    suite = ET.Element("testsuite", name="greenloop fix")
    counts = {"tests": 0, "failures": 0, "errors": 0, "skipped": 0}
    for fix in fixes:
        spent = fix.outcome.usage if fix.outcome else None
        element = _case(
            suite, fix.target or "greenloop::fix", spent.model_seconds + spent.test_seconds if spent else 0.0
        )
        counts["tests"] += 1
        if fix.passes:
            continue
        kind = "error" if fix.error is not None else "failure"
        counts[f"{kind}s"] += 1
        type_ = fix.error.kind if fix.error is not None else fix.outcome.reason.value if fix.outcome else ""
        _child(element, kind, type_, fix.message)
    return _whole(suite, counts, {})


def _whole(suite: ET.Element, counts: Mapping[str, int], properties: Mapping[str, str]) -> bytes:
    for name, number in counts.items():
        suite.set(name, str(number))
    element = ET.Element("properties")
    for name, value in properties.items():
        ET.SubElement(element, "property", name=name, value=_escape(value))
    if properties:
        suite.insert(0, element)
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
