"""What a case took is known to the next run, also in another process."""

from __future__ import annotations

from dataclasses import replace

import pytest

from executions import execute
from greenloop_lab.sandboxes.cluster import case_seconds
from greenloop_lab.sandboxes.cluster.case_seconds import CaseSeconds


@pytest.fixture(autouse=True)
def _cache(tmp_path, monkeypatch):
    monkeypatch.setattr(case_seconds, "cache_folder", lambda: tmp_path)


def measured(seconds):
    execution = execute(dict.fromkeys(seconds, "passed"))
    return replace(
        execution,
        records=tuple(
            {**record, "seconds": seconds[record["id"]] if record["when"] == "call" else 0.5}
            if record["kind"] == "phase"
            else record
            for record in execution.records
        ),
    )


def test_all_phases_count_and_the_last_time_replaces_the_one_before(tmp_path):
    CaseSeconds(tmp_path).add(measured({"a": 1.0, "b": 2.0}))
    CaseSeconds(tmp_path).add(measured({"b": 4.0}))
    assert CaseSeconds(tmp_path).read() == {"a": 2.0, "b": 5.0}


def test_a_short_run_of_known_cases_is_not_written(tmp_path):
    CaseSeconds(tmp_path).add(measured({"a": 1.0, "b": 0.1}))
    CaseSeconds(tmp_path).add(measured({"b": -0.9}))  # 0.1 with the other phases
    assert CaseSeconds(tmp_path).read() == {"a": 2.0, "b": 1.1}
    CaseSeconds(tmp_path).add(measured({"b": -0.9, "c": -0.9}))
    assert CaseSeconds(tmp_path).read() == {"a": 2.0, "b": 0.1, "c": 0.1}


def test_each_workspace_has_its_own_times(tmp_path):
    CaseSeconds(tmp_path / "one").add(measured({"a": 1.0}))
    assert CaseSeconds(tmp_path / "two").read() == {}


def test_a_file_that_somebody_spoilt_is_as_good_as_none(tmp_path):
    kept = CaseSeconds(tmp_path)
    kept.add(measured({"a": 1.0}))
    (file,) = (tmp_path / "case-seconds").iterdir()
    file.write_text('{"a": "soon", "b": 3}')
    assert CaseSeconds(tmp_path).read() == {"b": 3.0}
    file.write_text("no object")
    assert CaseSeconds(tmp_path).read() == {}


def test_the_oldest_times_are_dropped_where_there_are_too_many(tmp_path, monkeypatch):
    monkeypatch.setattr(case_seconds, "MOST_CASES", 2)
    kept = CaseSeconds(tmp_path)
    kept.add(measured({"a": 1.0, "b": 1.0}))
    kept.add(measured({"a": 1.0, "c": 1.0}))
    assert sorted(CaseSeconds(tmp_path).read()) == ["a", "c"]
