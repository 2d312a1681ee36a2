"""Names of the standard library: what they stand for in a text, and where that is not certain."""

from __future__ import annotations

from importlib import import_module

import pytest

from greenloop.core.python.standard_names import MEMBERS, MODULES, standard_import


@pytest.mark.parametrize(
    ("name", "text", "statement"),
    [
        ("math", "x = math.sqrt(4)", "import math"),
        ("os", "def f(a):\n    return os.path.join(a, os.sep)", "import os"),
        ("math", "x = math.squareroot(4)", ""),  # the module has no such name: another thing is meant
        ("string", "def f():\n    return string.upper()", ""),
        ("random", "return random(3)", ""),
        ("json", "f(json)", ""),
        ("deque", "deque([1])", "from collections import deque"),
        ("List", "def f(x: List[int]): ...", "from typing import List"),
        ("Iterable", "def f(x: Iterable[int]): ...", "from collections.abc import Iterable"),
        ("datetime", "datetime.datetime.now()", "import datetime"),
        ("datetime", "datetime.timedelta(1)", "import datetime"),
        ("datetime", "datetime.now()", "from datetime import datetime"),
        ("datetime", "datetime(2020, 1, 1)", "from datetime import datetime"),
        ("datetime", "isinstance(x, datetime)", "from datetime import datetime"),
        ("datetime", "datetime.tomorrow()", ""),
        ("values", "values.append(1)", ""),
        ("math", "math.sqrt(", ""),  # cannot be parsed
    ],
)
def test_what_a_name_stands_for(name, text, statement):
    assert standard_import(name, text) == statement


@pytest.mark.parametrize(("name", "module"), MEMBERS.items())
def test_every_member_is_one(name, module):
    assert hasattr(import_module(module), name)


@pytest.mark.parametrize("name", sorted(MODULES))
def test_every_module_can_be_imported(name):
    assert import_module(name).__name__ == name
