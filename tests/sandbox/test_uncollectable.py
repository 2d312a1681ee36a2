"""Red tests that pytest cannot collect, because the code under test cannot be imported, become green."""

from __future__ import annotations

import json

import pytest

from greenloop.core.errors import CannotVerifyError
from greenloop.core.records.outcome import Verified
from greenloop.engine import refine
from greenloop.project import configuration

pytestmark = [pytest.mark.needs("bubblewrap"), pytest.mark.timeout(120)]

TEST = "from m import double\n\n\ndef test_double():\n    assert double(5) == 10\n"
OTHER = "\n\ndef other():\n    return 1\n"
GAP = "\n\n\n"
POINT = "@dataclass\nclass P:\n    n: int = 2\n\n\ndef double(x):\n    return x * P().n\n"
TABLE = "\n\nTABLE = build()\n\n\ndef double(x):\n    return TABLE[x]\n"
LOGGED = "def logged(f):\n    def inner(*args):\n        return f(*args)\n\n"
ORDERED = "@total_ordering\nclass P:\n    def __lt__(self, other):\n        return True\n\n\n"

# name: the module, and what it becomes without a question to a model
MENDED = {
    "bracket": ("def double(x):\n    return sum([x, x]\n" + OTHER, "def double(x):\n    return sum([x, x])\n" + OTHER),
    "colon": ("def double(x):\n    if x\n        return x * 2\n", "def double(x):\n    if x:\n        return x * 2\n"),
    "quote": ('def double(x):\n    a = "b\n    return x * 2\n', 'def double(x):\n    a = "b"\n    return x * 2\n'),
    "header": ("def double(x:\n    return x * 2\n" + OTHER, "def double(x):\n    return x * 2\n" + OTHER),
    "indentation": (
        "def double(x):\n    y = x\n      return y * 2\n",
        "def double(x):\n    y = x\n    return y * 2\n",
    ),
    "method": (
        "class P:\n    def double(self, x):\n        return x * 2)\n\n\ndef double(x):\n    return P().double(x)\n",
        "class P:\n    def double(self, x):\n        return x * 2\n\n\ndef double(x):\n    return P().double(x)\n",
    ),
    "annotation": (
        "def double(x: List) -> Any:\n    return x * 2\n",
        f"from typing import Any\nfrom typing import List{GAP}def double(x: List) -> Any:\n    return x * 2\n",
    ),
    "decorator": (
        "@lru_cache\ndef double(x):\n    return x * 2\n",
        f"from functools import lru_cache{GAP}@lru_cache\ndef double(x):\n    return x * 2\n",
    ),
    "class": (POINT, f"from dataclasses import dataclass{GAP}{POINT}"),
    "both": (
        f"{ORDERED}def double(x):\n    return (x + x\n",
        f"from functools import total_ordering{GAP}{ORDERED}def double(x):\n    return (x + x)\n",
    ),
    "raised in a function": (
        "def build():\n    return {n: n * 2 for n in range(10) if n - '1'}" + TABLE,
        "def build():\n    return {n: n * 2 for n in range(10) if n * '1'}" + TABLE,
    ),
    "raised in a decorator": (
        f"{LOGGED}    inner.__name__ = f.__nothing\n    return inner\n\n\n@logged\ndef double(x):\n    return x * 2\n",
        f"{LOGGED}    inner.__name__ = f.__name__\n    return inner\n\n\n@logged\ndef double(x):\n    return x * 2\n",
    ),
    "raised in an assignment": (
        "TWO = [1, 2, 3][3] - 1\n\n\ndef double(x):\n    return x * TWO\n",
        "TWO = [1, 2, 3][2] - 1\n\n\ndef double(x):\n    return x * TWO\n",
    ),
    "misspelled": (
        "AB = 'a,b'.spilt(',')\n\n\ndef double(x):\n    return x * len(AB)\n",
        "AB = 'a,b'.split(',')\n\n\ndef double(x):\n    return x * len(AB)\n",
    ),
    "a wrong operator behind it": (
        "def double(x: Any):\n    return x**2\n",
        f"from typing import Any{GAP}def double(x: Any):\n    return x*2\n",
    ),
}


@pytest.fixture
def fix(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))

    async def run(code, answer="", target="test_m.py", **more):
        root = tmp_path / "w"
        root.mkdir()
        (root / "m.py").write_text(code)
        (root / "test_m.py").write_text(TEST)
        script = tmp_path / "a.jsonl"
        script.write_text((json.dumps(f"```python\n{answer}```") + "\n") * 6)
        found, _ = configuration.load(
            root,
            command_line={"model": f"scripted:{script}", "preset": "default", "sandbox.kind": "bubblewrap"},
        )
        request = refine.RefineRequest(root=root, target=target, **more)
        return await refine.refine(request, settings=found, emit=lambda _event: None)

    return run


@pytest.mark.story("a test that cannot be collected is mended", only=("both",))
@pytest.mark.parametrize("name", MENDED)
async def test_mended_without_a_model(name, fix):
    code, wanted = MENDED[name]
    outcome = await fix(code)
    assert outcome.solved, outcome.message
    assert (outcome.after, outcome.before) == ({"m.py": wanted}, {"m.py": code})
    assert outcome.verified is Verified.VERIFIED
    assert outcome.usage.completion_tokens == 0


@pytest.mark.parametrize("name", ["bracket", "class"])
async def test_a_function_whose_file_cannot_be_imported(name, fix):
    code, wanted = MENDED[name]
    outcome = await fix(code, target="m.py::double")
    assert outcome.solved, outcome.message
    assert (outcome.after, outcome.usage.completion_tokens) == ({"m.py": wanted}, 0)


async def test_the_model_sees_the_users_own_code(fix):
    code = f"def double(x):\n    # as a sum\n    return x + +* x\n{OTHER}"
    outcome = await fix(code, answer="def double(x):\n    return x + x\n")
    assert outcome.solved, outcome.message
    assert outcome.after == {"m.py": f"def double(x):\n    return x + x\n{OTHER}"}
    first = outcome.attempts[0]
    assert (first.verdict.status.value, first.error_class) == ("not-collected", "SyntaxError")


USED = "\n\n\ndef double(x):\n    return x * {}\n"
PLACE = "@dataclass\nclass P:\n    n: int = 2\n    {}"
HEADER = "from dataclasses import dataclass, field\n\n\n"
# name: the module, the answer, and what becomes of the module
RAISING = {
    "a value": ("TWO = len('a', 'b')" + USED.format("TWO"), "TWO = 2\n", "TWO = 2" + USED.format("TWO")),
    "a field": (
        HEADER + PLACE.format("xs: list = []") + USED.format("P().n"),
        "xs: list = field(default_factory=list)\n",
        HEADER + PLACE.format("xs: list = field(default_factory=list)") + USED.format("P().n"),
    ),
    "what is still to be written": (
        "def two():\n    raise NotImplementedError\n\n\nTWO = two()" + USED.format("TWO"),
        "def two():\n    return 2\n",
        "def two():\n    return 2\n\n\nTWO = two()" + USED.format("TWO"),
    ),
    "an unknown annotation": (
        "def double(x: Unheard) -> int:\n    return x * 2\n",
        "def double(x: int) -> int:\n    return x * 2\n",
        "def double(x: int) -> int:\n    return x * 2\n",
    ),
}


@pytest.mark.parametrize("name", RAISING)
async def test_what_raises_at_import_is_asked_for(name, fix):
    code, answer, wanted = RAISING[name]
    outcome = await fix(code, answer=answer)
    assert outcome.solved, outcome.message
    assert outcome.after == {"m.py": wanted}


async def test_unsaved_text_is_what_is_mended(fix):
    outcome = await fix("def double(x):\n    return x * 2\n", buffers={"m.py": b"def double(x):\n    return (x * 2\n"})
    assert outcome.after == {"m.py": "def double(x):\n    return (x * 2)\n"}


@pytest.mark.parametrize(
    "code",
    [
        "def double(x):\n    return x * 2\n\n\nx = = 1\n",  # outside any function
        "def double(x):\n    return x * 2)\n\n\ny = = 1\n",  # the function alone does not help
        "x = Any\n",  # nor is there what the test imports
        "for n in [1, 0]:\n    print(1 / n)\n\n\ndef double(x):\n    return x * 2\n",  # no assignment that could be changed
    ],
)
async def test_what_nobody_can_complete_is_one_sentence(code, fix):
    with pytest.raises(
        CannotVerifyError, match=r"test_m\.py cannot be collected by pytest: \w+Error: .* \(m\.py:\d+\)"
    ):
        await fix(code)


@pytest.mark.parametrize("target", ["test_m.py", "m.py::double"])
@pytest.mark.parametrize(
    ("code", "told", "remedy"),
    [
        (
            "import sys\n\nsys.exit(1)\n\n\ndef double(x):\n    return x * 2\n",
            r"Importing m\.py ends the process: SystemExit: 1 \(m\.py:3\)",
            "__main__",
        ),
        (
            "from test_m import test_double\n\n\ndef double(x):\n    return x * 2\n",
            r"test_m\.py cannot be collected by pytest: ImportError: ",
            "import each other",
        ),
    ],
)
async def test_what_is_in_the_way_is_told(code, target, told, remedy, fix):
    with pytest.raises(CannotVerifyError, match=told) as caught:
        await fix(code, target=target)
    assert remedy in caught.value.remedy
