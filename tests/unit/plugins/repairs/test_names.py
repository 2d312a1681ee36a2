"""Names that mean nothing where they are."""

from __future__ import annotations

from dataclasses import replace

import pytest

from greenloop.core.compose import compose
from greenloop.core.records.attempt import Attempt
from greenloop.core.records.verdict import Status, Verdict
from greenloop.plugins.repairs.names import (
    corrected_names,
    find_successors,
    misspelled_names,
    moved_names,
    replaced_names,
)
from greenloop_sandbox import CaseResult, Failure, Frame


@pytest.mark.parametrize(
    ("message", "wanted"),
    [
        ("name 'resutl' is not defined. Did you mean: 'result'?", {"resutl": "result"}),
        ("'str' object has no attribute 'spilt'. Did you mean: 'split'?", {"spilt": "split"}),
        ("module 'math' has no attribute 'sqtr'. Did you mean: 'sqrt'?", {"sqtr": "sqrt"}),
        ("name 'size' is not defined. Did you mean: 'self.size'?", {"size": "self.size"}),
        ("name 'resutl' is not defined", {}),
        ("no option 'x'. Did you mean: 'y'?", {}),
    ],
)
def test_names_that_were_meant(failing, message, wanted):
    assert corrected_names(failing((message, None, None))) == wanted


def unknown(wrong, right):
    return (f"name '{wrong}' is not defined. Did you mean: '{right}'?", None, None)


def test_of_several_failures_in_their_order(failing):
    assert list(corrected_names(failing(unknown("a", "b"), unknown("c", "d"))).items()) == [("a", "b"), ("c", "d")]


def test_they_are_corrected_everywhere_and_then_in_one_place_alone(failing):
    text = "    @cahce\n    def f(é):\n        é.itmes()\n        return é.itmes().x + itmes\n"
    attempt = failing(unknown("itmes", "items"), unknown("cahce", "cache"), unknown("no", "such"))
    assert [(change.line, change.text) for change in misspelled_names(text, attempt)] == [
        (3, text.replace("itmes", "items")),
        (3, text.replace("é.itmes()\n", "é.items()\n")),
        (4, text.replace("itmes().x", "items().x")),
        (4, text.replace("+ itmes", "+ items")),
        (1, text.replace("@cahce", "@cache")),
    ]


def test_text_that_does_not_parse_has_no_corrections(failing):
    assert not list(misspelled_names("def f(:\n    itmes\n", failing(unknown("itmes", "items"))))


def test_an_attribute_of_self_is_meant_by_the_bare_name_alone(failing):
    text = "def f(self, other):\n    return size + other.size\n"
    changes = misspelled_names(text, failing(unknown("size", "self.size")))
    assert [change.text for change in changes] == [text.replace("return size", "return self.size")]


@pytest.mark.parametrize(
    ("message", "wanted"),
    [
        ("`np.alltrue` was removed in the NumPy 2.0 release. Use `np.all` instead.", ("np.alltrue", "np.all")),
        ("`np.asfarray` was removed in the NumPy 2.0 release. Use `np.asarray` with a proper dtype instead.",
         ("np.asfarray", "np.asarray")),
        ("`regex` is removed. use `pattern` instead\n\nFor further information visit https://x", ("regex", "pattern")),
        ("Invalid frequency: M. ValueError(\"'M' is no longer supported for offsets. Please use 'ME' instead.\")",
         ("M", "ME")),
        ("'H' is deprecated and will be removed in a future version, please use 'h' instead.", ("H", "h")),
        ("The `dict` method is deprecated; use `model_dump` instead.", ("dict", "model_dump")),
        ("DataFrame.applymap has been deprecated. Use DataFrame.map instead.", ("DataFrame.applymap", "DataFrame.map")),
        ("The 'missing' argument was renamed to 'load_default'.", ("missing", "load_default")),
        ("scipy.integrate.simps is deprecated in favour of scipy.integrate.simpson",
         ("scipy.integrate.simps", "scipy.integrate.simpson")),
        ("fractions.gcd() is deprecated. Use math.gcd() instead.", ("fractions.gcd", "math.gcd")),
        ("'x' was removed", None),
        ("the file a.txt was not found, use another", None),
    ],
)  # fmt: skip
def test_what_a_message_names_in_place_of_what_is_gone(failing, message, wanted):
    assert find_successors(failing((message, None, None))) == ([wanted] if wanted else [])


@pytest.mark.parametrize(
    ("message", "text", "changed", "imports"),
    [
        ("`np.round_` was removed. Use `np.round` instead.", "def f(é):\n    return np.round_(é), np.round_\n",
         "def f(é):\n    return np.round(é), np.round\n", ()),
        ("`numpy.Inf` was removed. Use `numpy.inf` instead.", "def f():\n    return np.Inf\n",
         "def f():\n    return np.inf\n", ()),
        ("`regex` is removed. use `pattern` instead", 'def f():\n    return Field("regex", regex="a")\n',
         'def f():\n    return Field(\'pattern\', pattern="a")\n', ()),
        ("'M' is no longer supported for offsets. Please use 'ME' instead.",
         'def f():\n    return pd.date_range("M1", freq="M")\n',
         'def f():\n    return pd.date_range("M1", freq=\'ME\')\n', ()),
        ("old_name is deprecated, use new_name", "def f():\n    return old_name(1)\n",
         "def f():\n    return new_name(1)\n", ()),
        ("scipy.signal.hann was removed, use scipy.signal.windows.hann instead",
         "def f():\n    return signal.hann(3)\n", "def f():\n    return scipy.signal.windows.hann(3)\n",
         ("import scipy.signal.windows",)),
    ],
)  # fmt: skip
def test_it_stands_in_its_place(failing, message, text, changed, imports):
    changes = list(replaced_names(text, failing((message, None, None))))
    assert [(change.text, change.imports) for change in changes] == [(changed, imports)]


def test_code_without_the_name_or_that_cannot_be_parsed_stays(failing):
    attempt = failing(("`np.alltrue` was removed. Use `np.all` instead.", None, None))
    assert not list(replaced_names("def f():\n    return 1\n", attempt))
    assert not list(replaced_names("def f(:\n    np.alltrue\n", attempt))


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
