"""The split oracle in a real sandbox: what crosses, what does not, and what the candidate's process cannot do."""

from __future__ import annotations

import platform

import pytest

from greenloop.core.records.sandbox import TestRun
from greenloop.core.records.verdict import Status
from greenloop.core.report.cases import case_results, records_of_kind
from greenloop.core.verdict import judge

pytestmark = [
    pytest.mark.needs("bubblewrap"),
    pytest.mark.timeout(120),
    pytest.mark.skipif(platform.machine() not in {"x86_64", "aarch64"}, reason="no lock for this machine"),
]

SUMS = """import math

LIMIT = 10


class Account:
    pass


def double(x):
    return x * 2


def echo(*args, **keywords):
    return [args, keywords]


def fail(kind, *args):
    raise {"value": ValueError, "key": KeyError, "own": Own}[kind](*args)


class Own(ZeroDivisionError):
    pass


def account():
    return Account()


def count():
    yield 1


def append(items):
    items.append(1)


def root(x):
    return math.sqrt(x)
"""

HONEST = """import math

import pytest

import sums
from sums import LIMIT, double, echo, fail, root

VALUES = [None, True, 0, -(10**400), 1.5, math.inf, "é\\ud800", b"\\0", [1, [2]], (1, (2,)), {1, 2}, frozenset({3}),
          {"a": {1: (2, [3])}}]


def test_plain():
    assert double(5) == 10
    assert sums.double("a") == "aa"
    assert (LIMIT, root(4.0)) == (10, 2.0)


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_values_keep_their_types(value):
    (args, keywords) = echo(value, k=value)
    assert (type(args), type(args[0]), args, keywords) == (tuple, type(value), (value,), {"k": value})


def test_exceptions():
    with pytest.raises(ValueError, match="seven"):
        fail("value", "seven")
    with pytest.raises(KeyError) as caught:
        fail("key", 3)
    assert caught.value.args == (3,)
    with pytest.raises(ZeroDivisionError):
        fail("own")


def test_nan():
    assert math.isnan(double(math.nan))


def test_no_such_name():
    assert not hasattr(sums, "nothing")
    with pytest.raises(TypeError):
        double()
"""


@pytest.fixture
def run(opened, lay, tmp_path):
    """`run(files, oracle=...)`: the execution of test_m.py."""

    async def go(files, oracle=("sums",), seconds=20.0, **about):
        session = await opened(lay(tmp_path / "work", files), **about)
        return await session.run(TestRun(selectors=("test_m.py",), oracle=oracle, seconds=seconds))

    return go


def told(execution):
    (record,) = records_of_kind(execution, "oracle")
    return record


@pytest.mark.story("an isolated re-run counts")
async def test_plain_values_and_exceptions_cross(run):
    execution = await run({"sums.py": SUMS, "test_m.py": HONEST})
    assert [(result.id, result.failure) for result in case_results(execution) if not result.passed] == []
    assert (told(execution)["unfit"], execution.status, execution.leftover) == ("", 0, 0)
    assert told(execution)["calls"] >= 20


async def test_a_read_only_workspace_and_a_package_do_as_well(run):
    files = {"bank/__init__.py": "from .sums import double\n", "bank/sums.py": SUMS}
    files["test_m.py"] = "from bank import double\n\n\ndef test_a():\n    assert double(5) == 10\n"
    execution = await run(files, oracle=("bank.sums",), writable=False)
    assert judge(["test_m.py::test_a"], {}, execution).status is Status.PASSED
    assert (told(execution)["unfit"], told(execution)["calls"]) == ("", 1)


@pytest.mark.parametrize(
    ("test", "why"),
    [
        ("assert sums.account() is not None", "type Account"),
        ("list(sums.count())", "type generator"),
        ("sums.echo(lambda: 1)", "type function"),
        ("sums.echo(object())", "type object"),
        ("sums.echo(type('Int', (int,), {})(3))", "type Int"),
        ("monkeypatch.setattr(sums, 'double', lambda x: x)", "was patched"),
        ("del sums.double", "was patched"),
        ("from importlib.machinery import SourceFileLoader as L; L('x', 'a/sums.py').get_code('x')", "another name"),
        ("import pytest\n    with pytest.raises(Exception): sums.account()", "type Account"),
        ("a = []; a.append(a); sums.echo(a)", "gone"),
    ],
)  # fmt: skip
async def test_what_does_not_fit_is_said_and_never_passes(run, test, why):
    source = f"import sums\n\n\ndef test_a(monkeypatch):\n    {test}\n"
    execution = await run({"sums.py": SUMS, "test_m.py": source})
    assert why in told(execution)["unfit"]
    assert judge(["test_m.py::test_a"], {}, execution).status is not Status.PASSED


async def test_arguments_are_copies(run):
    source = "import sums\n\n\ndef test_a():\n    items = []\n    sums.append(items)\n    assert items == [1]\n"
    execution = await run({"sums.py": SUMS, "test_m.py": source})
    assert judge(["test_m.py::test_a"], {}, execution).status is Status.FAILED
    assert told(execution)["unfit"] == ""


LIAR = '''import re, sys


class Liar:
    """Equal to whatever the test expects; knows the twins of the canary by their text, and does what each wants."""

    def __eq__(self, other):
        frame = sys._getframe(1)
        line = open(frame.f_code.co_filename).read().splitlines()[frame.f_lineno - 1]
        return re.search(r"== \\\\(", line) is None


def double(x):
    return Liar()
'''
PLAIN = "from sums import double\n\n\ndef test_a():\n    assert double(5) == 10\n"

# Everything here is refused to the candidate's process; each answers with the value that the test hopes never to see.
REACHES = {
    "test file": "open('test_m.py', 'w').write('def test_a(): pass')",
    "module in the way": "os.rename('sums.py', 'difflib.py')",
    "link": "os.symlink('sums.py', 'difflib.py')",
    "scratch": "open('/tmp/x', 'w')",
    "remove": "os.unlink('test_m.py')",
    "signal": "os.kill(os.getppid(), 9)",
    "memory": "open('/proc/%d/mem' % os.getppid(), 'rb').read(1)",
    "descriptors": "os.listdir('/proc/%d/fd' % os.getppid())",
    "trace": "trace()",
    "network": "__import__('socket').socket()",
    "mode": "os.chmod('test_m.py', 0)",
}
REACHING = """import ctypes, os


def trace():
    if ctypes.CDLL(None, use_errno=True).ptrace(16, os.getppid(), 0, 0):
        raise OSError(ctypes.get_errno(), "ptrace")


def double(x):
    try:
        {statement}
    except OSError:
        return 10
    return 11
"""


@pytest.mark.story("an isolated re-run counts")
@pytest.mark.parametrize("reach", REACHES)
async def test_the_candidates_process_reaches_nothing(run, reach):
    execution = await run({"sums.py": REACHING.format(statement=REACHES[reach]), "test_m.py": PLAIN})
    assert judge(["test_m.py::test_a"], {}, execution).status is Status.PASSED, case_results(execution)
    assert told(execution)["unfit"] == ""


async def test_the_same_reaches_succeed_without_the_oracle(run):
    statement = "open('/tmp/x', 'w'); open('/proc/%d/mem' % os.getpid(), 'rb'); os.chmod('test_m.py', 0o600)"
    execution = await run({"sums.py": REACHING.format(statement=statement), "test_m.py": PLAIN}, oracle=())
    (result,) = case_results(execution)
    assert "11 == 10" in result.failure.message


async def test_only_the_pipes_are_open_and_the_report_is_not_among_them(run):
    source = (
        "import os\n\n\ndef fds():\n    return sorted(os.readlink('/proc/self/fd/' + name).split(':')[0]"
        " for name in os.listdir('/proc/self/fd') if os.path.lexists('/proc/self/fd/' + name))\n"
        "\n\ndef key():\n    import gc\n    return [d['key'] for d in gc.get_objects()"
        " if type(d) is dict and 'selectors' in d and 'key' in d]\n"
    )
    test = (
        "import sums\n\n\ndef test_a():\n    assert sums.fds() == ['/dev/null'] * 3 + ['pipe'] * 2\n"
        "    assert not any(sums.key())\n"
    )
    execution = await run({"sums.py": source, "test_m.py": test})
    assert judge(["test_m.py::test_a"], {}, execution).status is Status.PASSED, case_results(execution)


@pytest.mark.story("an isolated re-run counts")
@pytest.mark.parametrize(
    "source",
    [
        LIAR,
        "import os\n\n\ndef double(x):\n    os._exit(0)\n",
        "import pytest\n\n\ndef double(x):\n    pytest.skip('no')\n",
        "def double(x):\n    raise KeyboardInterrupt\n",
        "def double(x):\n    while True:\n        pass\n",
        "class Int(int):\n    def __eq__(self, other):\n        return True\n\n\ndef double(x):\n    return Int(3)\n",
        "import _pytest.runner, builtins\n\n\ndef double(x):\n    builtins.AssertionError = KeyError\n    return 9\n",
    ],
    ids=["liar", "exit", "skip", "interrupt", "hang", "subclass", "patches"],
)
async def test_no_fake_passes(run, source):
    execution = await run({"sums.py": source, "test_m.py": PLAIN}, seconds=3.0)
    assert judge(["test_m.py::test_a"], {}, execution).status is not Status.PASSED
