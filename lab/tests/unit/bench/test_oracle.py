"""The oracle knows a solution, and says only what it is asked."""

from __future__ import annotations

import pytest

from greenloop.core.ports import Infiller
from greenloop.core.records.model import ChatRequest, InfillRequest, Message
from greenloop_lab.bench.oracle import NOTHING, Oracle, fill
from greenloop_lab.bench.tasks import Task

SOLUTION = """import os
import re
from sys import path

TABLE = {"a": 1}


def helper(x):
    return TABLE[x]


def first(a):
    if not a:
        return None
    return helper(a)


class Box:
    @property
    def side(self):
        return re.sub("a", "b", self.name)

    def grow(self):
        def step():
            return 1

        return step()
"""


@pytest.fixture
def oracle():
    return Oracle(
        Task(
            id="t",
            kind="k",
            target="t",
            files={"m.py": ""},
            cases=("c",),
            solution={
                "m.py": SOLUTION,
                "broken.py": "def (",
                "new.py": "class New:\n    def f(self):\n        return 1\n",
            },
        )
    )


def ignore(_text):
    pass


async def answer(oracle, *texts):
    messages = tuple(Message(role="user", content=text) for text in texts)
    return (await oracle.complete(ChatRequest(messages=messages), ignore)).text


async def test_the_asked_function_comes_with_what_it_needs(oracle):
    text = await answer(oracle, "Write `first` so that its tests pass.\n\n```python\nsomething\n```")
    assert "def first(a):\n    if not a:\n        return None\n    return helper(a)\n```" in text
    assert "TABLE = {'a': 1}\n\ndef helper(x):" in text
    assert "import" not in text
    assert "Box" not in text


async def test_a_method_comes_in_its_class_with_its_decorators(oracle):
    text = await answer(oracle, "Answer with the complete code of `Box.side`.")
    assert "import re\n\nclass Box:\n    @property\n    def side(self):\n        return re.sub" in text


async def test_a_class_of_a_module_that_is_to_be_written_comes_as_a_whole(oracle):
    assert "class New:\n    def f(self):\n        return 1" in await answer(oracle, "the class `New`")


async def test_several_functions_are_several_blocks_and_the_last_message_decides(oracle):
    assert (await answer(oracle, "complete code of `first, Box.side`")).count("```python") == 2
    assert "def first" not in await answer(oracle, "Write `first`", "Answer with the code of `helper`.")


@pytest.mark.parametrize("text", ["Write `other` so that its tests pass.", "Write first.", "the class `Box`"])
async def test_nothing_is_said_of_anything_else(oracle, text):
    assert await answer(oracle, text) == NOTHING


HOLES = [
    ("def first(a):\n    ", "\n        return None\n    return helper(a)\n", ("\n",), "if not a:"),
    ("# context\n\n\ndef first(a):\n    ", "\n    return helper(a)\n", (), "if not a:\n        return None"),
    ("# context\n\n\ndef first(a):\n    ", "\n    return helper(a)\n", ("\n",), "if not a:"),
    ("def first(a):\n    if a is None:\n        ", "\n    return helper(a)\n", (), ""),
    ("def first(a):\n    ", "\n    return a\n", (), ""),
    ("    def grow(self):\n        def step():\n            ", "\n\n        return step()\n", ("\n",), "return 1"),
]


@pytest.mark.parametrize(("prefix", "suffix", "stop", "text"), HOLES)
async def test_a_hole_is_filled_where_the_rest_agrees(oracle, prefix, suffix, stop, text):
    assert isinstance(oracle, Infiller)
    reply = await oracle.infill(InfillRequest(prefix=prefix, suffix=suffix, stop=stop), ignore)
    assert reply.text == text


def test_a_hole_in_a_long_function_shows_a_part_of_it():
    lines = ["def f():", *(f"    a{n} = {n}" for n in range(400)), "    return a1"]
    prefix, suffix = "\n".join(lines[100:220]) + "\n    ", "\n" + "\n".join(lines[221:341]) + "\n"
    assert fill(lines, prefix, suffix) == "a219 = 219"


def test_a_hole_of_a_long_function_is_filled_though_a_part_is_left_out():
    lines = ["def f(a):", "    b = a", "    c = b", "    d = c", "    return d"]
    assert fill(lines, "def f(a):\n    # ...\n    c = b\n    ", "\n    return d\n") == "d = c"


async def test_an_assignment_comes_with_what_it_needs():
    solution = "import re\n\nA = 'a'\n\n\nclass Box:\n    word = re.compile(A)  # é\n    size = 3\n"
    known = Oracle(Task(id="t", kind="k", target="t", files={}, cases=("c",), solution={"m.py": solution}))
    text = await answer(known, "Write `Box.word` so that its tests pass.")
    assert "import re\n\nA = 'a'\n\nclass Box:\n    word = re.compile(A)  # é\n```" in text
    assert "size" not in text


async def test_where_the_outline_of_a_file_is_shown_all_that_changes_in_it_is_the_answer():
    own = SOLUTION.replace("return 1\n", "return 2\n").replace('"a": 1', '"a": 2').replace("def helper", "def old")
    task = Task(id="t", kind="k", target="t", files={}, cases=("c",), solution={"m.py": SOLUTION})
    known = Oracle(task, {"m.py": own}.get)
    text = await answer(known, "some of these: `first`\n\nThe outline of `m.py`:\n```python\n```")
    for part in ("def first(a)", "def helper(x)", "class Box:\n    def grow(self)", 'TABLE = {"a": 1}'):
        assert part in text
    assert "side" not in text
    assert "grow" not in await answer(known, "some of these: `first`")
    assert "grow" not in await answer(known, "some of these: `first`\n\nThe outline of `other.py`:\n")
    of_class = await answer(known, "some of these: `Box.side`\n\nThe outline of `m.py::Box`:\n")
    assert "def grow(self)" in of_class
    assert "TABLE =" not in of_class


async def test_a_method_comes_with_what_it_uses_of_its_class_and_the_user_lacks():
    own = "class Box:\n    size = 1\n\n    def grow(self):\n        return self.size\n"
    solution = (
        "class Box:\n    size = 2\n    most = 9\n    least = 0\n\n"
        "    def grow(self):\n        return min(self.size, self.most)\n"
    )
    task = Task(id="t", kind="k", target="t", files={}, cases=("c",), solution={"m.py": solution})
    text = await answer(Oracle(task, {"m.py": own}.get), "Write `Box.grow`.")
    assert "class Box:\n    most = 9\n\n    def grow(self):" in text
    assert "size = 2" not in text
    assert "least" not in text


async def test_of_two_files_with_the_same_name_that_counts_whose_code_is_shown():
    solution = {"a.py": "async def get():\n    await start()\n    return 2\n", "b.py": "def get():\n    return 2\n"}
    own = {path: text.replace("2", "1") for path, text in solution.items()}
    known = Oracle(Task(id="t", kind="k", target="t", files={}, cases=("c",), solution=solution), own.get)
    for path, text in own.items():
        assert solution[path].rstrip() in await answer(known, f"Change `get`:\n\n{text}")
