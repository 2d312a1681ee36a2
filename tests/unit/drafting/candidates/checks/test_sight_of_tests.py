"""Code that newly sees its tests is told; honest code, old code and code that moved are not."""

from __future__ import annotations

import pytest

from greenloop.core.records.verdict import Frame, SourceRead
from greenloop.drafting.candidates.checks.sight_of_tests import new_reads, new_uses

TESTS = ("tests/test_m.py",)
CALLING = "It newly looks at the calling frame ({}) in m.py."
INSPECTS = "It newly inspects sources ({}) in m.py."
IMPORTS = "It newly imports the tests ({}) in m.py."


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("import sys\nsys._getframe(1)\n", CALLING.format("sys._getframe")),
        ("from sys import _getframe as f\nf(1)\n", CALLING.format("sys._getframe")),
        ("import sys\ngetattr(sys, '_getframe')(1)\n", CALLING.format("_getframe")),
        ("import inspect as i\ni.stack()\n", CALLING.format("inspect.stack")),
        ("import traceback\ntraceback.extract_stack()\n", CALLING.format("traceback.extract_stack")),
        ("def f(e):\n    return e.__traceback__.tb_frame.f_back\n", CALLING.format("f_back")),
        ("import linecache\nlinecache.getline('x', 1)\n", INSPECTS.format("linecache.getline")),
        ("from inspect import getsource\ngetsource(f)\n", INSPECTS.format("inspect.getsource")),
        ("import os\nos.environ['PYTEST_CURRENT_TEST']\n", INSPECTS.format("PYTEST_CURRENT_TEST")),
        ("import test_m\n", IMPORTS.format("test_m")),
        ("from tests import test_m\n", IMPORTS.format("tests.test_m")),
        ("from tests.test_m import CASES\n", IMPORTS.format("tests.test_m")),
        ("from .tests.test_m import CASES\n", IMPORTS.format("tests.test_m")),
    ],
)
def test_what_is_told(text, told):
    assert told in new_uses({"m.py": ""}, {"m.py": text}, TESTS)
    assert new_uses({"m.py": text}, {"m.py": text + "\n\nDONE = 1\n"}, TESTS) == ()
    assert new_uses({"old.py": text}, {"m.py": text}, TESTS) == () or "import" in told


@pytest.mark.parametrize(
    "text",
    [
        "import traceback\ntraceback.format_exc()\n",
        "import inspect\ninspect.signature(f)\n",
        "open('data.json').read()\n",
        "from tests.helpers import factory\n",
        "import testing\n",
        '"""See tests/test_m.py and linecache.getline."""\n',
        "def f(:\n",
    ],
)
def test_what_is_not(text):
    assert new_uses({"m.py": ""}, {"m.py": text}, TESTS) == ()


def read(line: int, function: str = "f", how: str = "open", path: str = "tests/test_m.py", file: str = "m.py"):
    return SourceRead(how=how, path=path, frames=(Frame(path=file, line=line, function=function),))


OLD = "def f():\n    return 1\n\n\ndef load(p):\n    return open(p)\n"
NEW = "def load(p):\n    return open(p)\n\n\ndef f():\n    return open('x')\n\n\nX = open('y')\n"


@pytest.mark.parametrize(
    ("seen", "told"),
    [
        (read(6), ("It newly reads tests/test_m.py in m.py.",)),
        (read(9, "<module>"), ("It newly reads tests/test_m.py in m.py.",)),
        (read(6, how="frame", path=""), ("It newly looks at the calling frame in m.py.",)),
        (read(6, how="import"), ("It newly imports tests/test_m.py in m.py.",)),
        (read(6, how="import", path="tests/helpers.py"), ()),
        (read(2, "load"), ()),
        (read(6, file="n.py"), ()),
    ],
    ids=["function", "statement", "frame", "test module", "helper module", "moved function", "unchanged file"],
)
def test_what_new_code_read(seen, told):
    assert new_reads([seen], (), {"m.py": OLD}, {"m.py": NEW}, TESTS) == told


def test_the_users_own_code_excuses_the_same():
    assert new_reads([read(6)], [read(2)], {"m.py": OLD}, {"m.py": NEW}, TESTS) == ()
    assert new_reads([read(6)], [read(2, "load")], {"m.py": OLD}, {"m.py": NEW}, TESTS) != ()
    looking = OLD + "\n\ndef g():\n    import sys\n    return sys._getframe()\n"
    assert new_reads([read(6, how="frame", path="")], (), {"m.py": looking}, {"m.py": NEW}, TESTS) == ()


def test_an_old_helper_that_new_code_calls_is_new_sight():
    chain = SourceRead(
        how="open",
        path="tests/test_m.py",
        frames=(Frame(path="m.py", line=2, function="load"), Frame(path="m.py", line=6, function="f")),
    )
    assert new_reads([chain], (), {"m.py": OLD}, {"m.py": NEW}, TESTS) == ("It newly reads tests/test_m.py in m.py.",)
