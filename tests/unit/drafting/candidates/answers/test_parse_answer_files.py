"""Two files have a function of the same name: an answer is about the one that it can be about."""

from __future__ import annotations

from pathlib import Path

import pytest

from greenloop.core.compose import compose
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Region, Spec
from greenloop.drafting.candidates.answers.parse_answer import read
from greenloop.drafting.candidates.checks.gate import check

READER = "def load(path, strict):\n    return path if strict else None\n"
WRITER = "def load(text):\n    return text.split()\n"
FILES = {"reader.py": READER, "writer.py": WRITER}
BOTH = tuple(Region(path=path, qualname="load", start=1, end=2) for path in FILES)
PROBLEM = Problem(root=Path("/w"), spec=Spec(), regions=BOTH, originals=FILES, files=FILES, open=True)
ONE = Problem(root=Path("/w"), spec=Spec(), regions=BOTH[:1], suspects=BOTH[1:], originals=FILES, files=FILES)

BLOCK = "<<<<<<< SEARCH\n    return text.split()\n=======\n    return text.split(',')\n>>>>>>> REPLACE\n"
DIFF = "--- a/writer.py\n+++ b/writer.py\n@@\n def load(text):\n-    return text.split()\n+    return text.split(',')\n"
WHOLE = "```python\ndef load(text):\n    return text.split(',')\n```\n"


@pytest.mark.parametrize("problem", [PROBLEM, ONE])
@pytest.mark.parametrize("answer", [BLOCK, DIFF, WHOLE, f"writer.py\n{WHOLE}"])
def test_the_function_of_the_other_file_stays_as_it_is(problem, answer):
    candidate = read(answer, problem)
    files = compose(problem, candidate)
    assert check(problem, candidate, files) is None
    assert {path: text for path, text in files.items() if text != FILES[path]} == {
        "writer.py": WRITER.replace("split()", "split(',')")
    }


def test_a_named_file_decides_where_the_parameters_do_not():
    files = {"a.py": "def load(text):\n    return 1\n", "b.py": "def load(text):\n    return 2\n"}
    regions = tuple(Region(path=path, qualname="load", start=1, end=2) for path in files)
    problem = Problem(root=Path("/w"), spec=Spec(), regions=regions, originals=files, files=files, open=True)
    for named in (
        "b.py\n```python\n{}```",
        "```python\n# b.py\n{}```",
        "```python b.py\n{}```",
        "In `b.py`:\n\n```\n{}```",
    ):
        candidate = read(named.format("def load(text):\n    return 3\n"), problem)
        assert compose(problem, candidate)["b.py"] == "def load(text):\n    return 3\n"
        assert compose(problem, candidate).get("a.py", files["a.py"]) == files["a.py"]
