"""Where the modules and names of older versions of Python are now."""

from __future__ import annotations

import builtins
from importlib.util import find_spec

import pytest

from greenloop.core.python.standard_names import FORMER_MODULES, FORMER_NAMES, present_name


@pytest.mark.parametrize(
    ("module", "name", "present"),
    [
        ("collections", "Mapping", ("collections.abc", "Mapping")),
        ("cgi", "escape", ("html", "escape")),
        ("itertools", "izip", ("builtins", "zip")),
        ("string", "maketrans", ("builtins", "str.maketrans")),
        ("StringIO", "StringIO", ("io", "StringIO")),
        ("urllib2", "URLError", ("urllib.error", "URLError")),
        ("collections", "deque", None),
        ("math", "unknown", None),
    ],
)
def test_where_it_is(module, name, present):
    assert present_name(module, name) == present


@pytest.mark.parametrize(
    "module", sorted({*FORMER_MODULES.values(), *(new.rpartition(".")[0] for new in FORMER_NAMES.values())})
)
def test_this_python_has_the_module(module):
    assert module in ("", "str") or find_spec(module)


@pytest.mark.parametrize("new", sorted(new for new in FORMER_NAMES.values() if "." not in new))
def test_a_name_without_a_module_is_built_in(new):
    assert hasattr(builtins, new)
