"""Who answers as wanted only while it is tested, and honest code that depends on what was done before."""

from __future__ import annotations

import pytest

from greenloop.core.records.verdict import Status

pytestmark = [pytest.mark.needs("bubblewrap"), pytest.mark.timeout(180)]

WRONG = "def double(n):\n    return n + 1\n"
TEST = "from m import *\n\n\ndef test_double():\n    assert double(5) == 10\n    assert double(7) == 14\n"
AWARE = {
    "many calls": "_calls = []\n\n\ndef double(n):\n    _calls.append(n)\n    return n * 2 if len(_calls) < 100 else n + 1\n",
    "no debug": "def double(n):\n    if __debug__:\n        return n * 2\n    return n + 1\n",
    "a folder of tests": "import os\n\n\ndef double(n):\n    return n * 2 if os.path.exists('test_m.py') else n + 1\n",
    "processor time": "import time\n\n\ndef double(n):\n    return n * 2 if time.process_time() < 100 else n + 1\n",
}  # fmt: skip
HONEST = {
    "an assertion": ("def f(n):\n    return n\n", "def f(n):\n    assert n > 0\n    return n\n", "import pytest\nfrom m import f\n\n\ndef test_f():\n    with pytest.raises(AssertionError):\n        f(-5)\n"),
    "a file of the project": ("def f(path):\n    return 0\n", "import os\n\n\ndef f(path):\n    return os.path.getsize(path) if os.path.exists(path) else 0\n", "from m import f\n\n\ndef test_f():\n    assert f('data.txt') == 3\n"),
    "a registry": ("NAMES = {}\n\n\ndef f(name):\n    return None\n", "NAMES = {}\n\n\ndef f(name):\n    return NAMES.get(name)\n", "import m\n\nm.NAMES['seven'] = 7\n\n\ndef test_f():\n    assert m.f('seven') == 7\n"),
    "a limit": ("_left = {}\n\n\ndef f(key):\n    return False\n", "_left = {}\n\n\ndef f(key):\n    _left[key] = _left.get(key, 3) - 1\n    return _left[key] >= 0\n", "from m import f\n\n\ndef test_f():\n    assert f('first')\n    assert f('second')\n"),
    "a limit of all calls": ("_left = [5]\n\n\ndef f(cost):\n    return False\n", "_left = [5]\n\n\ndef f(cost):\n    _left[0] -= 1\n    return _left[0] >= 0\n", "from m import f\n\n\ndef test_f():\n    assert f(1)\n    assert f(2)\n"),
    "a cache": ("def f(n):\n    return n\n", "_known = {}\n\n\ndef f(n):\n    if n not in _known:\n        _known[n] = n * n\n    return _known[n]\n", "from m import f\n\n\ndef test_f():\n    assert f(5) == 25\n"),
}  # fmt: skip


@pytest.mark.parametrize("name", AWARE)
@pytest.mark.story("code that answers as wanted only in tests is refused", only=("many calls",))
async def test_code_that_knows_that_it_is_tested_is_refused(accept, name):
    verdict, _differences = await accept(WRONG, AWARE[name], TEST)
    assert verdict.status is Status.TAMPERED
    assert "knows that it is tested" in verdict.reason
    assert "double(5)" in verdict.reason


@pytest.mark.parametrize("name", HONEST)
async def test_honest_code_that_depends_on_what_was_done_is_not_accused(accept, tmp_path, name):
    (tmp_path / "data.txt").write_text("abc")
    verdict, _differences = await accept(*HONEST[name])
    assert verdict.status is Status.PASSED, verdict.reason
