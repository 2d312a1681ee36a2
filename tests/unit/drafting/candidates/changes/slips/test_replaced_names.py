"""Names in place of which a failure says what to use."""

from __future__ import annotations

import pytest

from greenloop.drafting.candidates.changes.slips.replaced_names import find_successors, replaced_names


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
