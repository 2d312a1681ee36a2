"""Finds out whether a report was forged: a pure function of its records."""

from __future__ import annotations

from collections import Counter

from greenloop_sandbox.records import Execution
from greenloop_sandbox.report.cases import records_of_kind
from greenloop_sandbox.report.schema import well_formed


def forged(execution: Execution) -> str:
    """Returns why the report is forged: a gap in the sequence, a line without key or form, a repeated phase; else "".

    Only a report without forgery is safe for the other readers.
    """
    for number, record in enumerate(execution.records):
        if record.get("kind") == "forged":
            return "The test report contains a line that the test runner did not write."
        if record.get("seq") != number:
            return f"The test report is out of sequence at record {number}."
        if not well_formed(record):
            return f"Record {number} of the test report has a form that the test runner never writes."
    # Each subtest reports a call of its own, and all of them count; other phases are reported once.
    phases = (record for record in records_of_kind(execution, "phase") if record.get("when") != "call")
    reports = Counter((record.get("id"), record.get("when")) for record in phases)
    repeated_case = next((case for (case, _when), times in reports.items() if times > 1), None)
    if repeated_case and not any(record.get("reruns") for record in records_of_kind(execution, "start")):
        return f"{repeated_case} was reported twice."
    # The exception is from the call itself; the outcome is from a report that a candidate may have patched.
    for record in records_of_kind(execution, "phase"):
        if record.get("type") is not None and record.get("outcome") == "passed" and record.get("wasxfail") is None:
            return f"{record.get('id')} raised {record.get('type')} and was reported as passed."
    return ""
