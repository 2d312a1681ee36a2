"""Records that no worker writes."""

from __future__ import annotations

import pytest

from greenloop_sandbox.report.schema import well_formed

RECORD = {
    "kind": "watch", "seq": 3, "id": "t", "files": ["m.py"], "hits": [[0, 2, 5]], "steps": [[0, 2, 1, {"x": "1"}]],
    "gap": 1, "left_out": 0,
}  # fmt: skip


@pytest.mark.parametrize(
    "field",
    [
        {"files": "m.py"},
        {"hits": [[0, 2]]},
        {"hits": [[0, "2", 5]]},
        {"steps": [[0, 2, 1]]},
        {"steps": [[0, 2, 1, {"x": 1}]]},
        {"steps": None},
        {"left_out": "0"},
    ],
)
def test_no_worker_writes_such_a_record(field):
    assert well_formed(RECORD)
    assert not well_formed({**RECORD, **field})
