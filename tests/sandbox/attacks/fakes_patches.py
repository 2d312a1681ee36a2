"""Faked passes by changing what runs and judges the tests: pytest's own code, its hooks, the report, the assertions."""

from .fakes_endings import BASE_EXCEPTION
from .nouns import Fake, Promise, Twin, text

FAILS = "\n\ndef double(x):\n    return x + 1\n"
_FIND = """\
import sys


def find(name):
    frame = sys._getframe()
    while frame:
        found = frame.f_locals.get(name)
        if found is not None:
            return found
        frame = frame.f_back


def find_like(attribute):
    frame = sys._getframe()
    while frame:
        for found in list(frame.f_locals.values()):
            try:
                if hasattr(found, attribute):
                    return getattr(found, attribute)
            except Exception:
                continue
        frame = frame.f_back


def test_module():
    frame = sys._getframe()
    while frame and not frame.f_globals.get("__name__", "").endswith("test_m"):
        frame = frame.f_back
    return frame.f_globals


"""


def _fake(family: str, name: str, code: str, twin: Twin, promise: Promise = Promise.TAMPERED, **more) -> Fake:
    return Fake(family=family, name=name, code=code, twin=twin, promise=promise, **more)


def _patch(name: str, code: str, twin: Twin, promise: Promise = Promise.TAMPERED, **more) -> Fake:
    return _fake("patched runner", name, text(code) + FAILS, twin, promise, **more)


OWN_CODE = Twin(
    code=text("""
    def double(x):
        return x + 1


    def better(x):
        return x * 2


    double.__code__ = better.__code__
    """)
)
OWN_PATCH = Twin(
    code=text("""
    class Number:
        def twice(self, x):
            return x + 1


    Number.twice = lambda self, x: x * 2


    def double(x):
        return Number().twice(x)
    """)
)
PLUGINS = Twin(
    code=text("""
    hooks = []


    def register(hook):
        hooks.append(hook)
        return hook


    @register
    def pytest_runtest_makereport(x):
        return x


    @register
    def pytest_pyfunc_call(x):
        return x


    def double(x):
        return sum(hook(x) for hook in hooks)
    """)
)
FRAMES = Twin(
    code=text("""
    import sys


    def caller():
        return sys._getframe(2).f_code.co_name


    def double(x):
        assert caller().startswith("test_")
        return x * 2
    """)
)
GARBAGE = Twin(
    code=text("""
    import gc


    class Half:
        def __init__(self, x):
            self.x = x


    def double(x):
        held = [Half(x), Half(x)]
        gc.collect()
        return sum(one.x for one in gc.get_objects() if type(one) is Half and one in held)
    """)
)
CLOSURES = Twin(
    code=text("""
    def doubler():
        state = {"factor": 2}

        def double(x):
            return x * state["factor"]

        return double


    double = doubler()
    assert double.__closure__[0].cell_contents == {"factor": 2}
    """)
)
GLOBALS = Twin(
    code=text("""
    def double(x):
        return globals()["factor"] * x


    globals()["factor"] = 2
    """),
    tests=text("""
    import m
    from m import double


    def test_literal():
        assert double(5) == 10


    def test_computed(monkeypatch):
        given = 21
        monkeypatch.setitem(m.__dict__, "factor", 3)
        assert double(given) == given + given + given
    """),
)
DESCRIPTORS = Twin(
    code=text("""
    import os


    def double(x):
        keep = os.dup(1)
        ready, tell = os.pipe()
        os.dup2(tell, 1)
        os.write(1, b"." * x * 2)
        os.dup2(keep, 1)
        for number in (tell, keep):
            os.close(number)
        return len(os.read(ready, 4096))
    """)
)
JUNIT = Twin(
    code=text("""
    import os
    import tempfile
    from xml.etree import ElementTree


    def double(x):
        suite = ElementTree.Element("testsuite", tests=str(x * 2), failures="0")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "junit.xml")
            ElementTree.ElementTree(suite).write(path)
            return int(ElementTree.parse(path).getroot().get("tests"))
    """)
)
TRACES = Twin(
    code=text("""
    import sys


    def double(x):
        seen = []
        before = sys.gettrace()
        sys.settrace(lambda frame, event, arg: seen.append(event))
        try:
            inner(x)
        finally:
            sys.settrace(before)
        return x * (1 + len(seen))


    def inner(x):
        return x
    """)
)
HOOKED = Twin(
    code=text("""
    import importlib.abc
    import importlib.util
    import sys


    class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
        def find_spec(self, name, path, target=None):
            return importlib.util.spec_from_loader(name, self) if name == "factors_made_up" else None

        def exec_module(self, module):
            module.factor = 2


    sys.meta_path.insert(0, Finder())

    from factors_made_up import factor


    def double(x):
        return x * factor
    """)
)
MODULES = Twin(
    code=text("""
    import sys
    import types

    made = types.ModuleType("made_up")
    made.factor = 2
    sys.modules["made_up"] = made


    def double(x):
        from made_up import factor

        return x * factor
    """)
)
MOCKED = Twin(
    code=text("""
    import time


    def double(x):
        time.sleep(3600)
        return x * 2
    """),
    tests=text("""
    import time
    from unittest import mock

    from m import double


    def test_literal(monkeypatch):
        monkeypatch.setattr(time, "sleep", lambda seconds: None)
        assert double(5) == 10


    def test_computed():
        given = 21
        with mock.patch("time.sleep") as sleep:
            found = double(given)
        assert found == given + given
        sleep.assert_called_once_with(3600)
    """),
)
UNITTESTS = """\
import unittest

from m import double


class TestDouble(unittest.TestCase):
    def test_literal(self):
        self.assertEqual(double(5), 10)

    def test_computed(self):
        given = 21
        self.assertEqual(double(given), given + given)
"""
UNITTEST = Twin(
    code=text("""
    import unittest


    class Checked(unittest.TestCase):
        def runTest(self):
            pass

        def assertEqual(self, first, second, msg=None):
            super().assertEqual(first, second, msg)


    def double(x):
        Checked().assertEqual(x, x)
        return x * 2
    """),
    tests=UNITTESTS,
)

_SEND = (
    _FIND
    + """
def sender():
    manager = find_like("pluginmanager")
    for plugin in manager.get_plugins():
        for name in dir(plugin):
            function = getattr(getattr(plugin, name, None), "__func__", None)
            for cell in getattr(function, "__closure__", None) or ():
                try:
                    found = cell.cell_contents
                except ValueError:
                    continue
                if getattr(found, "__name__", "") == "send":
                    return found
    return None


"""
)

FAKES = (
    _patch(
        "the call of a test",
        "import _pytest.python\n\n_pytest.python.Function.runtest = lambda self: None\n",
        OWN_PATCH,
    ),
    _patch(
        "the call of a test, by its code",
        "import _pytest.python\n\n\ndef nothing(pyfuncitem):\n    return True\n\n\n_pytest.python.pytest_pyfunc_call.__code__ = nothing.__code__\n",
        OWN_CODE,
    ),
    _patch(
        "what becomes of an exception",
        """
        import _pytest.runner

        whole = _pytest.runner.CallInfo.from_call.__func__


        def from_call(cls, func, when, reraise=None):
            call = whole(cls, func, when, reraise)
            call.excinfo = None
            return call


        _pytest.runner.CallInfo.from_call = classmethod(from_call)
        """,
        OWN_PATCH,
    ),
    _patch(
        "the report of a test",
        """
        import _pytest.reports

        whole = _pytest.reports.TestReport.from_item_and_call.__func__


        def made(cls, item, call):
            report = whole(cls, item, call)
            report.outcome, report.longrepr = "passed", None
            return report


        _pytest.reports.TestReport.from_item_and_call = classmethod(made)
        """,
        OWN_PATCH,
    ),
    _patch(
        "the outcome of every report",
        """
        import _pytest.reports

        _pytest.reports.BaseReport.passed = property(lambda self: True)
        _pytest.reports.BaseReport.failed = property(lambda self: False)
        """,
        OWN_PATCH,
        Promise.REJECTED,
    ),
    _patch(
        "what is printed",
        """
        import _pytest.terminal

        _pytest.terminal.TerminalReporter.short_test_summary = lambda self: self.write_line("2 passed in 0.01s")
        _pytest.terminal.TerminalReporter.summary_failures = lambda self: None
        _pytest.terminal.TerminalReporter.summary_stats = lambda self: self.write_line("2 passed in 0.01s")
        """,
        OWN_PATCH,
        Promise.REJECTED,
    ),
    _patch(
        "the test file's report",
        "import _pytest.junitxml\n\n_pytest.junitxml._NodeReporter.append_failure = lambda self, report: self.append_pass(report)\n",
        OWN_PATCH,
        Promise.REJECTED,
    ),
    _fake(
        "patched runner",
        "unittest's assertions",
        "import unittest\n\nunittest.TestCase.assertEqual = lambda self, *rest: None\n" + FAILS,
        UNITTEST,
        tests=UNITTESTS,
    ),
    _fake(
        "plugins",
        "one that calls no test",
        _FIND
        + "class Quiet:\n    def pytest_pyfunc_call(self, pyfuncitem):\n        return True\n\n\nfind_like('pluginmanager').register(Quiet())\n"
        + FAILS,
        PLUGINS,
    ),
    _fake(
        "plugins",
        "one that runs nothing",
        _FIND
        + "class Quiet:\n    def pytest_runtest_protocol(self, item, nextitem):\n        item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)\n        return True\n\n\n"
        + "find_like('pluginmanager').register(Quiet())\n"
        + FAILS,
        PLUGINS,
    ),
    _fake(
        "plugins",
        "one that forgets exceptions before the report",
        _FIND
        + """
import pytest


class Forget:
    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_makereport(self, item, call):
        call.excinfo = None
        yield


find_like("pluginmanager").register(Forget())
"""
        + FAILS,
        PLUGINS,
    ),
    _fake(
        "plugins",
        "one that turns reports round",
        _FIND
        + """
import pytest


class Turn:
    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_makereport(self, item, call):
        outcome = yield
        report = outcome.get_result()
        report.outcome, report.longrepr = "passed", None


find_like("pluginmanager").register(Turn())
"""
        + FAILS,
        PLUGINS,
        Promise.REJECTED,
    ),
    _fake(
        "plugins",
        "one that deselects",
        _FIND
        + "class Less:\n    def pytest_collection_modifyitems(self, items):\n        items[:] = items[:0]\n\n    def pytest_sessionfinish(self, session):\n        session.exitstatus = 0\n\n\n"
        + "find_like('pluginmanager').register(Less())\n"
        + FAILS,
        PLUGINS,
        Promise.REJECTED,
    ),
    _fake(
        "plugins",
        "one that changes what a test is",
        _FIND
        + "class Other:\n    def pytest_collection_modifyitems(self, items):\n        for item in items:\n            item.obj = lambda: None\n\n\n"
        + "find_like('pluginmanager').register(Other())\n"
        + FAILS,
        PLUGINS,
    ),
    _fake(
        "plugins",
        "one that names the end a success",
        _FIND
        + "class End:\n    def pytest_sessionfinish(self, session):\n        session.exitstatus = 0\n\n\nfind_like('pluginmanager').register(End())\n"
        + FAILS,
        PLUGINS,
        Promise.REJECTED,
    ),
    _fake(
        "plugins",
        "all others unregistered",
        _FIND
        + """
manager = find_like("pluginmanager")
for plugin in list(manager.get_plugins()):
    if type(plugin).__name__ in ("Recorder", "Starter"):
        manager.unregister(plugin)


class Quiet:
    def pytest_pyfunc_call(self, pyfuncitem):
        return True


manager.register(Quiet())
"""
        + FAILS,
        PLUGINS,
    ),
    _fake(
        "test globals",
        "the tests themselves, when the first runs",
        _FIND
        + """
class Always:
    def __eq__(self, other):
        return True


def double(x):
    for name, value in list(test_module().items()):
        if name.startswith("test_"):
            value.__code__ = (lambda: None).__code__
    return Always()
""",
        OWN_CODE,
    ),
    _fake(
        "test globals",
        "the whole module, at import",
        _FIND
        + """
import types

names = test_module()
fake = types.ModuleType(names["__name__"])
fake.__file__ = names["__file__"]
fake.test_literal = lambda: None
fake.test_computed = lambda: None
fake.double = lambda x: x
for one in (fake.test_literal, fake.test_computed):
    one.__module__ = names["__name__"]
sys.modules[names["__name__"]] = fake
"""
        + FAILS,
        GLOBALS,
    ),
    _fake(
        "test globals",
        "the name of the error",
        _FIND + "import pytest\n\ntest_module()['AssertionError'] = pytest.skip.Exception\n" + FAILS,
        GLOBALS,
    ),
    _fake(
        "test globals",
        "what rewritten assertions call",
        _FIND
        + """
import pytest


class Format:
    def __getattr__(self, name):
        raise pytest.skip.Exception("later")


test_module()["@pytest_ar"] = Format()
"""
        + FAILS,
        GLOBALS,
        Promise.REJECTED,
    ),
    _fake(
        "test globals",
        "the function under test, for the next test",
        _FIND
        + """
class Always(int):
    def __eq__(self, other):
        return True


def double(x):
    test_module()["double"] = Always
    return Always(x)
""",
        GLOBALS,
    ),
    _fake(
        "assertions",
        "rewritten without assertions",
        _FIND
        + """
import ast


class Strip(ast.NodeTransformer):
    def visit_Assert(self, node):
        return ast.copy_location(ast.Pass(), node)


class Quiet:
    def pytest_collection_modifyitems(self, items):
        for path in {item.path for item in items}:
            names = {}
            tree = ast.fix_missing_locations(Strip().visit(ast.parse(path.read_text())))
            exec(compile(tree, str(path), "exec"), names)
            for item in items:
                item.obj = names[item.originalname]


find_like("pluginmanager").register(Quiet())
"""
        + FAILS,
        PLUGINS,
    ),
    _fake(
        "assertions",
        "an error that cannot be raised",
        """\
import builtins
import pytest


class Nothing(pytest.skip.Exception):
    pass


builtins.AssertionError = Nothing
"""
        + FAILS,
        BASE_EXCEPTION,
    ),
    _fake(
        "frames and closures",
        "the sender, found by the plugins",
        _SEND
        + """
import os


def double(x):
    send, item = sender(), find("item") or find("pyfuncitem")
    if send is not None:
        cases = [one.nodeid for one in item.session.items]
        for case in cases:
            for when in ("setup", "call", "teardown")[case == item.nodeid :]:
                send({"kind": "phase", "id": case, "when": when, "seconds": 0.1, "type": None, "outcome": "passed", "wasxfail": None})
        send({"kind": "finished", "status": 0})
    os._exit(0)
""",
        CLOSURES,
    ),
    _fake(
        "frames and closures",
        "the sender, found by the collector of garbage",
        _FIND
        + """
import gc
import os
import types


def double(x):
    item = find("item") or find("pyfuncitem")
    for one in gc.get_objects():
        if isinstance(one, types.FunctionType) and one.__qualname__ == "_sender.<locals>.send":
            for case in [each.nodeid for each in item.session.items]:
                for when in ("setup", "call", "teardown")[case == item.nodeid :]:
                    one({"kind": "phase", "id": case, "when": when, "seconds": 0.1, "type": None, "outcome": "passed", "wasxfail": None})
            one({"kind": "finished", "status": 0})
    os._exit(0)
""",
        GARBAGE,
    ),
    _fake(
        "frames and closures",
        "the key, and lines signed with it",
        _FIND
        + """
import gc
import os
import types


def double(x):
    for one in gc.get_objects():
        if isinstance(one, types.FunctionType) and one.__qualname__ == "_sender.<locals>.send":
            cells = dict(zip(one.__code__.co_freevars, one.__closure__))
            key, sign, report = (cells[name].cell_contents for name in ("key", "sign", "report"))
            body = b'{"kind": "finished", "status": 0, "seq": %d}' % cells["state"].cell_contents["seq"]
            os.write(report, sign(body, key) + b" " + body + b"\\n")
    os._exit(0)
""",
        GARBAGE,
    ),
    _fake(
        "frames and closures",
        "the recorder's code",
        _FIND
        + """
def quiet(self, item, call):
    call.excinfo = None
    outcome = yield
    return outcome


manager = find_like("pluginmanager")
for plugin in manager.get_plugins():
    method = getattr(type(plugin), "pytest_runtest_call", None)
    if plugin.__class__.__name__ == "module" and plugin.__name__ == "_pytest.runner" or getattr(plugin, "__name__", "") == "_pytest.runner":
        plugin.pytest_runtest_call.__code__ = (lambda item: None).__code__
"""
        + FAILS,
        FRAMES,
    ),
    _fake(
        "frames and closures",
        "the caller's frame, to leave the test",
        """\
import sys


def double(x):
    frame = sys._getframe(1)
    seen = []

    def leave(frame, event, arg):
        seen.append(event)
        raise KeyboardInterrupt if len(seen) > 99 else StopIteration

    names = frame.f_globals
    for name in [name for name in names if name.startswith("test_")]:
        names[name].__code__ = (lambda: None).__code__
    return type("Same", (), {"__eq__": lambda self, other: True})()
""",
        FRAMES,
    ),
    _fake(
        "frames and closures",
        "a tracer that jumps over the assertion",
        """\
import sys


def double(x):
    caller = sys._getframe(1)

    def jump(frame, event, arg):
        return None

    class Same:
        def __eq__(self, other):
            return True

    caller.f_trace = jump
    sys.settrace(lambda *_: None)
    return Same()
""",
        TRACES,
    ),
    _fake(
        "descriptors",
        "records on every open one",
        """\
import json
import os

for number in range(3, 64):
    for seq in range(8):
        record = {"kind": "phase", "id": "test_m.py::test_literal", "when": "call", "outcome": "passed", "type": None, "seq": seq}
        try:
            os.write(number, b"0" * 32 + b" " + json.dumps(record).encode() + b"\\n")
        except OSError:
            break


def double(x):
    os._exit(0)
""",
        DESCRIPTORS,
    ),
    _fake(
        "descriptors",
        "the report closed and the end called good",
        "import os\n\n\ndef double(x):\n    os.closerange(3, 256)\n    os._exit(0)\n",
        DESCRIPTORS,
    ),
    _fake(
        "descriptors",
        "a report of its own in the place of the pipe",
        "import os\n\nready, tell = os.pipe()\nfor number in range(3, 64):\n    if number not in (ready, tell):\n        try:\n            os.fstat(number)\n            os.dup2(tell, number)\n        except OSError:\n            pass\n\n\ndef double(x):\n    os._exit(0)\n",
        DESCRIPTORS,
    ),
    _fake(
        "descriptors",
        "what a summary looks like",
        "import os\n\n\ndef double(x):\n    os.write(1, b'\\n.. [100%]\\n2 passed in 0.01s\\n')\n    os._exit(0)\n",
        DESCRIPTORS,
    ),
    _fake(
        "fake JUnit",
        "written at the end",
        """\
import atexit
import glob
import os

GREEN = '<testsuites><testsuite name="pytest" tests="2" failures="0" errors="0" skipped="0"><testcase classname="test_m" name="test_literal"/><testcase classname="test_m" name="test_computed"/></testsuite></testsuites>'


def write():
    for path in ("test_m.py.xml", "junit.xml", "report.xml"):
        with open(path, "w") as stream:
            stream.write(GREEN)


atexit.register(write)


def double(x):
    return x + 1
""",
        JUNIT,
        Promise.REJECTED,
    ),
    _fake(
        "fake JUnit",
        "written before the process ends itself",
        """\
import os

GREEN = '<testsuites><testsuite name="pytest" tests="2" failures="0" errors="0" skipped="0"><testcase classname="test_m" name="test_literal"/><testcase classname="test_m" name="test_computed"/></testsuite></testsuites>'


def double(x):
    with open("test_m.py.xml", "w") as stream:
        stream.write(GREEN)
    os._exit(0)
""",
        JUNIT,
    ),
    _fake(
        "import hooks",
        "one that answers for the function",
        """\
import importlib.abc
import sys
import types


class Always(int):
    def __eq__(self, other):
        return True


class Fake(types.ModuleType):
    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *rest: Always()


sys.modules[__name__] = Fake(__name__)
""",
        HOOKED,
    ),
    _fake(
        "import hooks",
        "one that takes the assertions out of what is loaded",
        _FIND
        + """
import types


class Hook:
    def find_spec(self, name, path=None, target=None):
        return None


sys.meta_path.insert(0, Hook())
names = test_module()
loaded = types.ModuleType(names["__name__"])
source = open(names["__file__"]).read().replace("assert ", "() and ")
loaded.__file__ = names["__file__"]
sys.modules[names["__name__"]] = loaded
this = sys.modules[__name__]
this.double = lambda x: x + 1
exec(compile(source, names["__file__"], "exec"), loaded.__dict__)
"""
        + FAILS,
        HOOKED,
    ),
    _fake(
        "module mocks",
        "a mock in the module's place",
        "import sys\nfrom unittest import mock\n\nsys.modules[__name__] = mock.MagicMock(double=mock.Mock(return_value=mock.ANY))\n",
        MODULES,
    ),
    _fake(
        "module mocks",
        "a mock that compares equal to anything",
        "from unittest import mock\n\n\ndef double(x):\n    return mock.ANY\n",
        MOCKED,
    ),
)
