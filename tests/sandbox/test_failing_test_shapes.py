"""Red tests of many shapes, each made green by one scripted answer in the real sandbox; only the region changes."""

from __future__ import annotations

import json

import pytest

from greenloop.core.records.outcome import Verified
from greenloop.engine import refine
from greenloop.project import configuration
from project_files import write_files

pytestmark = [pytest.mark.needs("bubblewrap"), pytest.mark.timeout(120)]

# name: files, target, answer, changed file, what its line must become
SHAPES = {
    "method": (
        {
            "m.py": "class Box:\n    # keep me\n    def __init__(self, n):\n        self.n = n\n\n    def double(self):\n"
            "        return self.n + 1\n",
            "test_m.py": "from m import Box\n\n\nclass TestBox:\n    def test_double(self):\n"
            "        assert Box(5).double() == 10\n",
        },
        "test_m.py::TestBox::test_double",
        "def double(self):\n    return self.n * 2\n",
        ("m.py", "        return self.n + 1\n", "        return self.n * 2\n"),
    ),
    "property": (
        {
            "m.py": "class Box:\n    n = 5\n\n    @property\n    def double(self):\n        return self.n + 1\n",
            "test_m.py": "from m import Box\n\n\ndef test_double():\n    assert Box().double == 10\n",
        },
        "test_m.py::test_double",
        "class Box:\n    @property\n    def double(self):\n        return self.n * 2\n",
        ("m.py", "        return self.n + 1\n", "        return self.n * 2\n"),
    ),
    "async": (
        {
            "m.py": "async def double(x):\n    return x + 1\n",
            "test_m.py": "import asyncio\n\nfrom m import double\n\n\ndef test_double():\n"
            "    assert asyncio.run(double(5)) == 10\n",
        },
        "test_m.py::test_double",
        "async def double(x):\n    return x * 2\n",
        ("m.py", "    return x + 1\n", "    return x * 2\n"),
    ),
    "decorated": (
        {
            "m.py": "from functools import cache\n\n\n@cache\ndef double(x):\n    return x + 1\n",
            "test_m.py": "from m import double\n\n\ndef test_double():\n    assert double(5) == 10\n",
        },
        "test_m.py::test_double",
        "def double(x):\n    return x * 2\n",
        ("m.py", "    return x + 1\n", "    return x * 2\n"),
    ),
    "nested": (
        {
            "m.py": "def doubler():\n    def inner(x):\n        return x + 1\n\n    return inner\n",
            "test_m.py": "from m import doubler\n\n\ndef test_double():\n    assert doubler()(5) == 10\n",
        },
        "test_m.py::test_double",
        "def doubler():\n    def inner(x):\n        return x * 2\n\n    return inner\n",
        ("m.py", "        return x + 1\n", "        return x * 2\n"),
    ),
    "unittest": (
        {
            "m.py": "def double(x):\n    return x + 1\n",
            "test_m.py": "import unittest\n\nfrom m import double\n\n\nclass DoubleTest(unittest.TestCase):\n"
            "    def test_five(self):\n        self.assertEqual(double(5), 10)\n",
        },
        "test_m.py::DoubleTest::test_five",
        "def double(x):\n    return x * 2\n",
        ("m.py", "    return x + 1\n", "    return x * 2\n"),
    ),
    "one parameter set": (
        {
            "m.py": "def double(x):\n    return x + 1\n",
            "test_m.py": "import pytest\n\nfrom m import double\n\n\n@pytest.mark.parametrize('x', [1, 5])\n"
            "def test_double(x):\n    assert double(x) == 2 * x\n",
        },
        "test_m.py::test_double[5]",
        "def double(x):\n    return x * 2\n",
        ("m.py", "    return x + 1\n", "    return x * 2\n"),
    ),
    "line of a function": (
        {
            "m.py": "def double(x):\n    return x + 1\n",
            "test_m.py": "from m import double\n\n\ndef test_double():\n    assert double(5) == 10\n",
        },
        "m.py:2",
        "def double(x):\n    return x * 2\n",
        ("m.py", "    return x + 1\n", "    return x * 2\n"),
    ),
    "non-ASCII names": (
        {
            "größe.py": "def verdopple(größe):\n    # ändert nichts - noch\n    return größe + 1\n",
            "test_größe.py": "from größe import verdopple\n\n\ndef test_maß():\n    assert verdopple(5) == 10\n",
        },
        "test_größe.py::test_maß",
        "def verdopple(größe):\n    # ändert nichts - noch\n    return größe * 2\n",
        ("größe.py", "    return größe + 1\n", "    return größe * 2\n"),
    ),
    "a broken file elsewhere": (
        {
            "m.py": "def double(x):\n    return x + 1\n",
            "broken.py": "def (:\n",
            "test_broken.py": "import broken\n\n\ndef test_x():\n    pass\n",
            "test_m.py": "from m import double\n\n\ndef test_double():\n    assert double(5) == 10\n",
        },
        "test_m.py::test_double",
        "def double(x):\n    return x * 2\n",
        ("m.py", "    return x + 1\n", "    return x * 2\n"),
    ),
    "src layout": (
        {
            "pyproject.toml": "[tool.pytest.ini_options]\npythonpath = ['src']\n",
            "src/pkg/__init__.py": "",
            "src/pkg/m.py": "def double(x):\n    return x + 1\n",
            "tests/test_m.py": "from pkg.m import double\n\n\ndef test_double():\n    assert double(5) == 10\n",
        },
        "tests/test_m.py::test_double",
        "def double(x):\n    return x * 2\n",
        ("src/pkg/m.py", "    return x + 1\n", "    return x * 2\n"),
    ),
    "two functions deep": (
        {
            "m.py": "def helper(x):\n    return x + 1\n\n\ndef double(x):\n    return helper(x)\n",
            "test_m.py": "from m import double\n\n\ndef test_double():\n    assert double(5) == 10\n",
        },
        "test_m.py::test_double",
        "def helper(x):\n    return x * 2\n",
        ("m.py", "    return x + 1\n", "    return x * 2\n"),
    ),
}


@pytest.mark.story("tests and functions of many shapes", only=("unittest",))
@pytest.mark.parametrize("name", SHAPES)
async def test_shape(name, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    files, target, answer, (path, old, new) = SHAPES[name]
    root = tmp_path / "w"
    write_files(root, files)
    script = tmp_path / "a.jsonl"
    script.write_text(json.dumps(f"```python\n{answer}```") + "\n")
    found, _ = configuration.load(
        root,
        command_line={"model": f"scripted:{script}", "preset": "plain", "sandbox.kind": "bubblewrap"},
    )
    outcome = await refine.refine(
        refine.RefineRequest(root=root, target=target), settings=found, emit=lambda _event: None
    )
    assert outcome.solved, outcome.message
    assert outcome.verified is Verified.VERIFIED
    assert outcome.after == {path: files[path].replace(old, new)}
