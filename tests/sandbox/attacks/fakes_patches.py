"""Faked passes by patching what runs, reports and asserts."""

from .attack import Fake, Promise, Twin, text
from .shared import BASE_EXCEPTION, FAILS, FIND, OWN_CODE, PLUGINS


def _fake(family: str, name: str, code: str, twin: Twin, promise: Promise = Promise.TAMPERED, **more) -> Fake:
    return Fake(family=family, name=name, code=code, twin=twin, promise=promise, **more)


def _patch(name: str, code: str, twin: Twin, promise: Promise = Promise.TAMPERED, **more) -> Fake:
    return _fake("patched runner", name, text(code) + FAILS, twin, promise, **more)


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
        "assertions",
        "rewritten without assertions",
        FIND
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
)
