"""What a search of a history remembers, and what it tells in the end."""

from __future__ import annotations

import json

from greenloop_lab.bench.history import records as history_records
from greenloop_lab.bench.history.records import Records, Tried, summarize
from greenloop_lab.bench.tasks import Task

TASK = Task(id="t", kind="k", target="a::b", files={}, cases=("a::b",), commit="c2", functions=("m.py::f",))


def test_what_was_tried_is_remembered_for_one_interpreter(tmp_path):
    path = tmp_path / "tried"
    records = Records(path, "python3")
    for each in (Tried(commit="c1", reason=history_records.NO_TEST), Tried(commit="c2", task=TASK)):
        records.add(each)
    path.write_text(path.read_text() + '{"format": 1, "commit": "c3", "rea')
    again = Records(path, "python3")
    assert set(again.tried) == {"c1", "c2"}
    task = again.tried["c2"].task
    assert task is not None
    assert task.digest == TASK.digest
    assert again.tried["c1"].reason == history_records.NO_TEST
    again.add(Tried(commit="c3", reason=history_records.PASSES))
    assert set(Records(path, "python3").tried) == {"c1", "c2", "c3"}
    assert Records(path, "other").tried == {}
    path.write_text(json.dumps({"format": 0, "commit": "c1"}) + "\n")
    assert Records(path, "python3").tried == {}


def test_a_summary_counts_reasons_and_names_missing_environments():
    tried = [
        Tried(commit="c2", task=TASK),
        Tried(commit="a" * 40, reason=history_records.ENVIRONMENT, detail="ModuleNotFoundError: No module named 'x'"),
        *(Tried(commit=f"n{n}", reason=history_records.NO_TEST) for n in range(3)),
    ]
    assert summarize(tried, 7) == [
        "5 commits tried: 1 tasks",
        "  3 no changed test",
        "  1 the environment cannot be made",
        "    aaaaaaaaaaaa: ModuleNotFoundError: No module named 'x'",
        "  7 more commits were not tried",
    ]
