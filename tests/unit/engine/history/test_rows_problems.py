"""What of a problem is kept with its run."""

from __future__ import annotations

import json
from dataclasses import replace

from double_problem import PROBLEM, STUB
from greenloop.core.records.spec import Region
from greenloop.core.text.json_codec import from_json, to_json
from greenloop.engine.history.rows import MOST_CHARACTERS, StoredProblem, store_problem

SUSPECT = Region(path="other.py", qualname="long", start=1, end=1)


def test_the_code_that_may_change_is_kept_as_it_was():
    stored = store_problem(replace(PROBLEM, instruction="Twice."), "faster")
    assert stored == StoredProblem(instruction="Twice.", goal="faster", names="double", code={PROBLEM.regions[0]: STUB})
    assert from_json(StoredProblem, json.loads(json.dumps(to_json(stored)))) == stored


def test_suspects_are_kept_as_far_as_there_is_room():
    def kept(size: int) -> int:
        files = {**PROBLEM.files, "other.py": "x" * size}
        return len(store_problem(replace(PROBLEM, suspects=(SUSPECT,), files=files), "").suspects)

    assert (kept(MOST_CHARACTERS), kept(MOST_CHARACTERS + 1)) == (1, 0)
