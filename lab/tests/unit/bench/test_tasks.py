"""Files of tasks."""

from __future__ import annotations

from dataclasses import replace

import pytest

from greenloop.core.errors import UsageError
from greenloop_lab.bench import tasks
from greenloop_lab.bench.tasks import Task


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{"id": "a"}', "it lacks the key 'kind'"),
        ('{"id": "a", "kind": "k", "target": "t", "files": [], "cases": ["c"]}', "'files' must map"),
        ('{"id": "a", "kind": "k", "target": "t", "files": {}, "cases": []}', "no case judges it"),
        ('{"id": "a", "kind": "k", "target": "t", "files": {}, "cases": ["c"], "x": 1}', "unknown key 'x'"),
    ],
)
def test_a_file_that_holds_no_tasks_is_told(text, why, tmp_path):
    path = tmp_path / "tasks.jsonl"
    path.write_text(text)
    with pytest.raises(UsageError, match=why):
        tasks.read(path)


def test_the_hash_of_other_tasks_does_not_know_the_fields_of_a_history():
    plain = Task(id="t", kind="k", target="a::b", files={}, cases=("a::b",))
    assert plain.digest == "05a7554f3e9f"
    assert replace(plain, commit="c2", functions=("m.py::f",)).digest != plain.digest
    assert replace(plain, calls="b(1)").digest != plain.digest
