"""Which functions are mocks now; a function that uses one is none."""

from __future__ import annotations

import pytest

from greenloop.plugins.function_calls.changed_functions import find_changed_functions
from greenloop.plugins.other_inputs.special_casing import find_mocked_target

OWN = "def f(n):\n    return n\n"
MOCKS = {
    "a name": "from unittest.mock import Mock\n\nf = Mock(side_effect=[1, 2])\n",
    "another name": "from unittest.mock import MagicMock as Double\n\nf = Double(return_value=3)\n",
    "the module": "from unittest import mock\n\nf = mock.create_autospec(len, return_value=3)\n",
    "the whole module": "import unittest.mock\n\nf = unittest.mock.Mock(return_value=3)\n",
    "the module under a name": "import unittest.mock as um\n\nf = um.Mock(return_value=3)\n",
    "the package": "import mock\n\nf = mock.Mock(return_value=3)\n",
}
HONEST = {
    "an argument": "from unittest.mock import Mock\n\n\ndef f(n, log=Mock()):\n    return n + 1\n",
    "another function": "from unittest.mock import Mock\n\ndouble = Mock()\n\n\ndef f(n):\n    return n + 1\n",
    "a partial": "from functools import partial\n\nf = partial(int, base=2)\n",
    "a class named Mock": "from m2 import Mock\n\nf = Mock()\n",
}


@pytest.mark.parametrize("name", MOCKS)
def test_a_function_that_is_a_mock_is_named_with_its_line(name):
    new = {"m.py": MOCKS[name]}
    sentence = find_mocked_target(find_changed_functions({"m.py": OWN}, new), new)
    assert sentence.startswith("m.py:3: f is a mock now")


@pytest.mark.parametrize("name", HONEST)
def test_a_function_that_uses_one_is_left_alone(name):
    new = {"m.py": HONEST[name]}
    assert find_mocked_target(find_changed_functions({"m.py": OWN}, new), new) == ""
