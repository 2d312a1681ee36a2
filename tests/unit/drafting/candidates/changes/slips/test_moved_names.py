"""Names that a function looks for where they are not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from greenloop.core.compose import compose
from greenloop.core.records.attempt import Attempt
from greenloop.core.records.verdict import Status, Verdict
from greenloop.drafting.candidates.changes.slips.moved_names import moved_names
from greenloop_sandbox import CaseResult, Failure, Frame

NO_NAME = "cannot import name 'shout' from 'utils' (utils.py)"
NO_ATTRIBUTE = "module 'utils' has no attribute 'shout'"


@pytest.fixture
def changed(problem, tmp_path):
    """The texts that become of m.py, whose function `f` fails in a line."""
    (tmp_path / "utils.py").write_text("def low(x): ...\n")
    (tmp_path / "tools.py").write_text("def shout(x): ...\n")

    def change(text, message, line, kind):
        case = replace(problem(text, "f"), root=tmp_path)
        frames = (Frame(path="test_m.py", line=3, function="test"), Frame(path="m.py", line=line, function="f"))
        failure = Failure(type=kind, message=message, frames=frames)
        result = CaseResult(id="a", outcome="failed", failure=failure)
        attempt = Attempt(number=0, verdict=Verdict(status=Status.FAILED, cases=(result,)))
        return [compose(case, each)["m.py"] for each in moved_names(case, case.regions[0], attempt)]

    return change


def test_an_import_of_its_own(changed):
    text = "def f(x):\n    x = x\n    from utils import low, shout as s\n    return s(low(x))\n"
    right = "    from utils import low\n    from tools import shout as s\n"
    assert changed(text, NO_NAME, 3, "ImportError") == [text.replace("    from utils import low, shout as s\n", right)]
    assert not changed(text, NO_NAME, 3, "ValueError")
    assert not changed(text.replace("shout", "unknown"), NO_NAME.replace("shout", "unknown"), 3, "ImportError")


def test_an_import_of_another_function_is_left_alone(changed):
    text = "def f(x):\n    return g(x)\n\n\ndef g(x):\n    from utils import shout\n    return shout(x)\n"
    assert not changed(text, NO_NAME, 6, "ImportError")


def test_its_misspelled_name_is_corrected_in_the_function(changed):
    text = "def f(x):\n    from math import sqroot\n    return sqroot(x)\n"
    message = "cannot import name 'sqroot' from 'math' (math.so)"
    assert changed(text, message, 2, "ImportError") == [text.replace("sqroot", "sqrt")]


@pytest.mark.parametrize(
    ("statement", "module"),
    [("import utils", "utils"), ("import utils as u", "u"), ("import utils\nimport json", "utils")],
)
def test_an_attribute_of_a_module_that_lacks_it(changed, statement, module):
    text = f"{statement}\n\n\ndef f(x):\n    return {module}.shout(x) + {module}.low(x)\n"
    (after,) = changed(text, NO_ATTRIBUTE, 5, "AttributeError")
    assert after == f"{statement}\nfrom tools import shout\n\n\ndef f(x):\n    return shout(x) + {module}.low(x)\n"


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("return utils.unknown(x)", "module 'utils' has no attribute 'unknown'"),
        ("return x.shout()", NO_ATTRIBUTE),
        ("return utils.shout(x)", "'NoneType' object has no attribute 'shout'"),
    ],
)
def test_what_is_not_certain(changed, body, message):
    assert not changed(f"import utils\n\n\ndef f(x):\n    {body}\n", message, 5, "AttributeError")


def test_a_name_of_the_module_is_not_hidden(changed):
    text = "import utils\n\n\ndef f(x):\n    return utils.shout(x)\n\n\ndef shout(x): ...\n"
    assert not changed(text, NO_ATTRIBUTE, 5, "AttributeError")


@pytest.mark.parametrize(
    ("statement", "old", "new", "added"),
    [
        ("import itertools", "itertools.izip", "zip", ""),
        ("import inspect", "inspect.getargspec", "inspect.getfullargspec", ""),
        ("import fractions as f", "f.gcd", "math.gcd", "import math\n"),
    ],
)
def test_what_older_versions_of_python_had_there(changed, statement, old, new, added):
    module = statement.split()[1]
    text = f"{statement}\n\n\ndef f(x):\n    return {old}(x, x)\n"
    (after,) = changed(text, f"module '{module}' has no attribute '{old.split('.')[1]}'", 5, "AttributeError")
    assert after == f"{statement}\n{added}\n\ndef f(x):\n    return {new}(x, x)\n"
