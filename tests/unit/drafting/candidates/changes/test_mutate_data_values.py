from __future__ import annotations

from dataclasses import replace

from greenloop.core.compose import compose
from greenloop.core.records.problem import DataFile
from greenloop.drafting.candidates.changes.mutate import corrected_data


def test_the_line_with_the_observed_value_is_replaced(problem):
    task = problem("def f():\n    return 1\n", "f")
    text = '{"a": 1,\r\n "b": 70}\r\n'
    data = (DataFile(path="a.json", reader="m.py", line=2, corrected=' "b": 7}\r\n'), DataFile(path="b", reader="m.py"))
    task = replace(task, data=data, originals={**task.originals, "a.json": text}, files={**task.files, "a.json": text})
    (candidate,) = corrected_data(task)
    assert compose(task, candidate) == {"a.json": '{"a": 1,\r\n "b": 7}\r\n'}
