"""What a watched run tells: its record's form and readers, and values as text without running anybody's code."""

from __future__ import annotations

from greenloop_sandbox import Execution
from greenloop_sandbox.report.traces import TracedStep, line_traces

RECORD = {
    "kind": "watch", "seq": 3, "id": "t", "files": ["m.py"], "hits": [[0, 2, 5]], "steps": [[0, 2, 1, {"x": "1"}]],
    "gap": 1, "left_out": 0,
}  # fmt: skip


def test_a_record_is_read():
    found = line_traces(Execution(records=(RECORD,)))["t"]
    assert found.lines == {"m.py": {2: 5}}
    assert found.steps == (TracedStep(path="m.py", line=2, call=1, values={"x": "1"}),)
    assert (found.gap, found.left_out) == (1, 0)


def test_what_names_no_file_is_left_aside():
    odd = {**RECORD, "hits": [[1, 2, 5], [-1, 2, 5]], "steps": [[7, 2, 1, {}]]}
    found = line_traces(Execution(records=(odd,)))["t"]
    assert (found.lines, found.steps) == ({}, ())
