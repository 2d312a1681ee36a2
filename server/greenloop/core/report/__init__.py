"""Reads what an execution reports; pure functions that judge nothing.

sandbox/protocol.py describes the kinds of records. A record of an unknown form counts as absent.
`cases.py` is about the tests, `traces.py` about the code that they run; `schema.py` checks the form of a record.
"""

from greenloop.core.report.cases import (
    CollectedCase,
    CollectError,
    case_result,
    case_results,
    collect_errors,
    collected_cases,
    describe_end,
    last_stack,
    passed_seconds,
    records_of_kind,
    whole_stack,
)
from greenloop.core.report.traces import (
    LineCost,
    LineTrace,
    ReachedFunction,
    StatementTrace,
    Step,
    line_costs,
    line_traces,
    opened_sources,
    peak_bytes,
    reached_functions,
    source_reads,
    statement_traces,
)

__all__ = [
    "CollectError",
    "CollectedCase",
    "LineCost",
    "LineTrace",
    "ReachedFunction",
    "StatementTrace",
    "Step",
    "case_result",
    "case_results",
    "collect_errors",
    "collected_cases",
    "describe_end",
    "last_stack",
    "line_costs",
    "line_traces",
    "opened_sources",
    "passed_seconds",
    "peak_bytes",
    "reached_functions",
    "records_of_kind",
    "source_reads",
    "statement_traces",
    "whole_stack",
]
