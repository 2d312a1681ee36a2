"""Files of tasks."""

from __future__ import annotations

import pytest

from greenloop.bench import tasks
from greenloop.core.errors import UsageError


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
