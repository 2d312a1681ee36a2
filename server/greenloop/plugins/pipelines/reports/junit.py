"""Verifications and fixes as JUnit XML, from the sealed records outside the sandbox."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET  # only written, never read

from greenloop.cli.outputs import Fix
from greenloop.core.records.model import Usage
from greenloop_sandbox import CaseResult, Failure

if TYPE_CHECKING:
    from greenloop.api.verification import Verification

# Characters that XML 1.0 cannot hold, not even escaped.
_ILLEGAL_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


# A case with its seconds, and what became of it: kind ("": it passed), type, message and text.
Row = tuple[str, float, str, str, str, str]


def document(result: Verification) -> bytes:
    """One suite, one case for each test; tampering that belongs to no test gets its own case."""
    tampered = {each.case: each.reason for each in result.tampered}
    rows = [_row(case, result, tampered.pop(case.id, None)) for case in (*result.cases, *result.new.cases)]
    if not (result.verified or result.nothing_staged or any(row[2] in {"failure", "error"} for row in rows)):
        # A CI that only reads this file must not take it for a pass.
        tampered.setdefault("", result.reason)
    kind = "tampered" if result.tampered else "unverified"
    rows += [(name or "greenloop::verify", 0.0, "failure", kind, reason, "") for name, reason in tampered.items()]
    properties = {
        "base": result.base,
        "verified": str(result.verified).lower(),
        "reason": result.reason,
        "sandbox": result.sandbox,
        "network": str(result.network).lower(),
    }
    return _suite(rows, properties, name="greenloop verify", time=f"{result.seconds:.3f}")


def fixes_document(fixes: Iterable[Fix]) -> bytes:
    """One suite, one case for each target; it passes where the target is fixed as far as the user asked."""
    rows: list[Row] = []
    for fix in fixes:
        usage = fix.outcome.usage if fix.outcome else Usage()
        kind = "" if fix.passes else "failure" if fix.error is None else "error"
        type_ = fix.error.kind if fix.error is not None else fix.outcome.reason.value if fix.outcome else ""
        seconds = usage.model_seconds + usage.test_seconds
        rows.append((fix.target or "greenloop::fix", seconds, kind, type_, fix.message, ""))
    return _suite(rows, {}, name="greenloop fix")


def _row(case: CaseResult, result: Verification, tampering: str | None) -> Row:
    if tampering is not None:
        return case.id, case.seconds, "failure", "tampered", tampering, ""
    if case.id in result.old_failures and result.verified:
        # A CI that only reads this file must not take a verified result for a failure.
        reason = "known-failing" if case.id in result.known_failing else "already-failing"
        return case.id, case.seconds, "skipped", reason, "It fails as it did before the change.", ""
    kinds = {"skipped": "skipped", "xfailed": "skipped", "passed": "", "failed": "failure", "xpassed": "failure"}
    failure = case.failure or Failure(type=case.outcome, message="")
    return case.id, case.seconds, kinds.get(case.outcome, "error"), failure.type, failure.message, failure.text


def _suite(rows: Iterable[Row], properties: Mapping[str, str], **attributes: str) -> bytes:
    counts = {"tests": 0, "failures": 0, "errors": 0, "skipped": 0}
    root = ET.Element("testsuites")
    suite = ET.SubElement(root, "testsuite", attributes)
    if properties:
        element = ET.SubElement(suite, "properties")
        for name, value in properties.items():
            ET.SubElement(element, "property", name=name, value=_escape(value))
    for identity, seconds, kind, type_, message, text in rows:
        classname, _colons, name = map(_escape, identity.rpartition("::"))
        case = ET.SubElement(suite, "testcase", classname=classname, name=name, time=f"{seconds:.3f}")
        counts["tests"] += 1
        if kind:
            counts[{"failure": "failures", "error": "errors", "skipped": "skipped"}[kind]] += 1
            ET.SubElement(case, kind, type=_escape(type_), message=_escape(message)).text = _escape(text) or None
    for name, number in counts.items():
        suite.set(name, str(number))
    document: bytes = ET.tostring(root, encoding="utf-8", xml_declaration=True)
    return document


def _escape(text: str) -> str:
    return _ILLEGAL_IN_XML.sub("\ufffd", text)
