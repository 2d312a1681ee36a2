"""Functions that broke when Python or a package was upgraded: they are mended without a model, where one thing is meant."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from greenloop.core.records.outcome import Verified
from greenloop.engine import refine
from greenloop.project import configuration
from project_files import write_files

pytestmark = [pytest.mark.needs("bubblewrap"), pytest.mark.timeout(120)]

# It compiles `perimeter` at its first call, as networkx does; it tells what took the place of `surface`, as numpy does.
SHAPES = {
    "shapes/__init__.py": """\
from shapes.plane import *


def __getattr__(name):
    if name == "surface":
        raise AttributeError("`shapes.surface` was removed in shapes 2. Use `shapes.area` instead.")
    raise AttributeError(f"module 'shapes' has no attribute {name!r}")


def same(one, other):
    return one == other


def perimeter(side):
    perimeter.__code__ = compile("lambda side: 4 * side", "<compiled>", "eval").co_consts[0]
    return perimeter(side)
""",
    "shapes/plane.py": "__all__ = ['area', 'circumference']\n\n\ndef area(side):\n    return side * side\n\n\n"
    "def circumference(radius):\n    return 6 * radius\n",
    "shapes/_solid.py": "def volume(side):\n    return side**3\n",
    "shapes/solid.py": "from shapes._solid import volume\n\n__all__ = ['volume']\n",
    "shapes-2.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: shapes\nVersion: 2.0\n",
}
# name: the code, what is asserted, and lines of the result
CASES = {
    "the package says what to use instead": (
        "import shapes\n\n\ndef f(side):\n    return shapes.surface(side)\n",
        "f(3) == 9",
        ["    return shapes.area(side)"],
    ),
    "the package compiles its function at the first call": (
        "import shapes\n\n\ndef f(side):\n    shapes.surface(side)\n    return shapes.perimeter(side)\n",
        "f(3) == 12",
        ["    shapes.area(side)"],
    ),
    "a name that the package has elsewhere": (
        "from shapes import area, volume\n\n\ndef f(side):\n    return area(side) + volume(side)\n",
        "f(2) == 12",
        ["from shapes import area", "from shapes.solid import volume"],
    ),
    "a name that is spelled otherwise": (
        "from shapes import circumferenc\n\n\ndef f(radius):\n    return circumferenc(radius)\n",
        "f(2) == 12",
        ["from shapes import circumference", "    return circumference(radius)"],
    ),
    "a module of Python 2": (
        "import ConfigParser as C\n\n\ndef f(text):\n    c = C.ConfigParser()\n    c.read_string(text)\n    return c.sections()\n",
        "f('[a]\\n[b]\\n') == ['a', 'b']",
        ["import configparser as C"],
    ),
    "what is built in now": (
        "from itertools import izip\n\n\ndef f(a, b):\n    return list(izip(a, b))\n",
        "f([1], [2]) == [(1, 2)]",
        ["    return list(zip(a, b))"],
    ),
    "an attribute of a package": (
        "import shapes\n\n\ndef f(side):\n    return shapes.volume(side)\n",
        "f(2) == 8",
        ["from shapes.solid import volume", "    return volume(side)"],
    ),
    "a module that the package lacks": (
        "from shapes.cubes import volume\n\n\ndef f(side):\n    return volume(side)\n",
        "f(2) == 8",
        ["from shapes.solid import volume"],
    ),
    "the base of a class": (
        "import collections\n\n\nclass f(collections.Sized):\n    def __len__(self):\n        return 2\n",
        "len(f()) == 2",
        ["import collections.abc", "class f(collections.abc.Sized):"],
    ),
    "an attribute in a function": (
        "import fractions\n\n\ndef f(a, b):\n    return a // fractions.gcd(a, b)\n",
        "f(6, 4) == 3",
        ["import math", "    return a // math.gcd(a, b)"],
    ),
}


@pytest.fixture
def interpreter(tmp_path: Path) -> Path:
    """A virtual environment that has version 2 of the package."""
    folder = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    major, minor = sys.version_info[:2]
    write_files(folder / "lib" / f"python{major}.{minor}" / "site-packages", SHAPES)
    return folder


@pytest.fixture
def fix(tmp_path, monkeypatch, lay, interpreter):
    """Refines `f` in m.py until what is asserted of it holds, with one answer of the model."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))

    async def run(code, asserted, answer="no answer"):
        test = f"import shapes\nfrom m import f\n\n\ndef test_f():\n    assert {asserted}\n"
        root = lay(tmp_path / "w", {"m.py": code, "test_m.py": test})
        script = tmp_path / "answers.jsonl"
        script.write_text(json.dumps(answer) + "\n")
        named = {"model": f"scripted:{script}", "sandbox.kind": "bubblewrap", "interpreter": str(interpreter)}
        settings, _ = configuration.load(root, command_line={**named, "attempts": 1})
        request = refine.RefineRequest(root=root, target="test_m.py")
        return await refine.refine(request, settings=settings, emit=lambda _event: None)

    return run


@pytest.mark.parametrize("name", CASES)
async def test_what_broke_is_mended_without_a_model(name, fix):
    code, asserted, lines = CASES[name]
    outcome = await fix(code, asserted)
    assert outcome.verified is Verified.VERIFIED, outcome.message
    assert outcome.usage.completion_tokens == 0
    assert set(lines) <= {*outcome.after["m.py"].splitlines()}


FORGED = """\
def f(side):
    space = {}
    exec(compile("def same(one, other):\\n    return True\\n", "<x>", "exec"), space)
    setattr(shapes.same, "__" + "code__", space["same"].__code__)
    return 0
"""


async def test_code_that_a_candidate_gives_to_a_package_proves_nothing(fix):
    code = "import shapes\n\n\ndef f(side):\n    raise NotImplementedError\n"
    outcome = await fix(code, "shapes.same(f(2), 4)", f"```python\n{FORGED}```")
    assert outcome.verified is Verified.PARTIALLY
    (reason,) = outcome.evidence.unproven.values()
    assert reason.startswith("apart it fails with AssertionError")
