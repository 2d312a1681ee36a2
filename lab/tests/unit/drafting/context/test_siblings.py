"""Near usage: callers and siblings, few and short, without following anything further."""

from __future__ import annotations

import pytest

from context_problem import TOOLS, problem
from greenloop.core import registry
from greenloop.engine.presets import find_preset
from greenloop_lab.drafting.context import callers, siblings


@pytest.mark.parametrize(
    "files",
    [
        {"m.py": "def f(x):\n    return f(x)\n"},
        {"m.py": "def f(x):\n    return g(x)\n\n\ndef g(x):\n    return f(x)\n"},
        {f"m{n or ''}.py": f"from m{n + 1} import f\n\n\ndef f(x):\n    return f(x)\n" for n in range(60)},
        {"m.py": "def f(x):\n    return 1\n", "big.py": "from m import f\n" + "f(1)\n" * 200_000},
        {"m.py": "def f(x):\n    return 1\n", "line.py": "from m import f; " + "f(" * 2000 + ")" * 2000 + "\n"},
        {"m.py": "def f(x):\n    return 1\n", "open.py": "from m import f\nf(\n" * 3000},
    ],
)
async def test_recursion_and_size_are_bounded(tmp_path, files):
    case = problem(tmp_path, files, "m.py", "f")
    excerpts = [*await callers.gather(case, TOOLS), *await siblings.gather(case, TOOLS)]
    assert sum(excerpt.text.count("\n") for excerpt in excerpts) < 60


MODULE = '''\
from helpers import clean, unused
from nowhere import gone


def parse_int(text):
    """An int."""
    return int(clean(text))


def parse_float(text):
    """A float."""
    return finish(gone(clean(text)))


def finish(number):
    return round(number, 2)


def unrelated(a, b, c):
    return a + b + c


class Reader:
    def read_int(self, line):
        return self.convert(line)

    def read_float(self, line):
        return 0

    def convert(self, line):
        return line


def long(text):
''' + "".join(f"    x{n} = long(text)\n" for n in range(40))
HELPERS = "def clean(text):\n    return text.strip()\n\n\ndef unused():\n    return 1\n"


async def test_what_is_called_is_shown_with_its_body_and_what_resembles_as_an_example(tmp_path):
    case = problem(tmp_path, {"m.py": MODULE, "helpers.py": HELPERS}, "m.py", "parse_float")
    called, alike = await siblings.gather(case, TOOLS)
    assert called.text == (
        "def finish(number):\n    return round(number, 2)\n\n# helpers.py\ndef clean(text):\n    return text.strip()"
    )
    assert alike.text == 'def parse_int(text):\n    """An int."""\n    return int(clean(text))'
    assert called.value > alike.value


async def test_methods_resemble_methods_of_their_class(tmp_path):
    case = problem(tmp_path, {"m.py": MODULE, "helpers.py": HELPERS}, "m.py", "Reader.read_float")
    (alike,) = await siblings.gather(case, TOOLS)
    assert alike.text == "# in Reader\n    def read_int(self, line):\n        return self.convert(line)"


async def test_a_function_that_is_to_be_written_is_resembled_by_its_name(tmp_path):
    text = "def to_json(value):\n    return dump(value)\n\n\ndef to_yaml(value):\n    raise NotImplementedError\n\n\ndef load(path):\n    return path\n"
    case = problem(tmp_path, {"m.py": text}, "m.py", "to_yaml", created=True)
    (alike,) = await siblings.gather(case, TOOLS)
    assert alike.text.startswith("def to_json")


async def test_nothing_near_is_nothing(tmp_path):
    case = problem(tmp_path, {"m.py": "def f(x):\n    return x\n"}, "m.py", "f")
    assert await callers.gather(case, TOOLS) == ()
    assert await siblings.gather(case, TOOLS) == []


async def test_the_preset_anchor_shows_neighbours_as_reference(tmp_path):
    """Row #7: beside the ideas of other candidates, what the project itself has that may help."""
    case = problem(tmp_path, {"m.py": MODULE, "helpers.py": HELPERS}, "m.py", "parse_int")
    parts = [registry.load_part("context", name) for name in find_preset("anchor").context]
    shown = {each.title: each.text for part in parts for each in await part.gather(case, TOOLS)}
    assert "def parse_float(text):" in shown["Similar code beside it:"]
    assert "def clean(" in shown["It calls:"]
