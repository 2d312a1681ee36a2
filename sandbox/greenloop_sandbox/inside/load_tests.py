"""Collects the cases that a module's `load_tests` makes, where the tests of a project are unittest's alone.

`python -m unittest` calls it and pytest does not. Files that import pytest, projects that configure it,
and those with a conftest keep its cases.
"""

import os
import traceback
import unittest

import pytest

UNITTEST = os.path.dirname(unittest.__file__)


class LoadTests:
    """The plugin. Cases stand under their class; `load_tests` has those of other classes: examples of docstrings."""

    def __init__(self):
        self._cases = {}  # of each module, which is asked once

    def pytest_pycollect_makeitem(self, collector, name, obj):
        if not isinstance(collector, pytest.Module) or not callable(getattr(collector.obj, "load_tests", None)):
            return None
        if _uses_pytest(collector) or not (name == "load_tests" or _is_test_class(obj)):
            return None
        if collector.obj not in self._cases:
            self._cases[collector.obj] = [*_cases(collector.obj)]
        cases = [case for case in self._cases[collector.obj] if _home(case, collector.obj) == name]
        if cases and name != "load_tests" and all(map(_is_plain, cases)):
            return None  # as pytest makes them
        suite = Suite.from_parent(collector, name=name)
        suite.cases = cases
        return suite


class Suite(pytest.Collector):
    cases = ()

    def collect(self):
        names = [case.id().partition("." + self.name + ".")[2] or case.id() for case in self.cases]
        for number, name in enumerate(names):
            place = "[%d]" % (names[:number].count(name) + 1) if names.count(name) > 1 else ""
            item = Case.from_parent(self, name=name + place)
            item.case, item.cls = self.cases[number], type(self.cases[number])
            yield item


class Case(pytest.Item):
    """One case, run with the fixtures of its class and module as by unittest."""

    case = cls = result = None
    funcargs = {}  # noqa: RUF012 - plugins look into them

    def runtest(self):
        self.result = _Result()
        unittest.TestSuite([self.case]).run(self.result)
        if self.result.raised:
            raise self.result.raised[1].with_traceback(self.result.raised[2])
        if self.result.skipped:
            pytest.skip(self.result.skipped[0][1])
        if self.result.expectedFailures:
            pytest.xfail("expected failure")
        if self.result.unexpectedSuccesses:
            pytest.fail("Unexpected success")

    def repr_failure(self, excinfo):
        if not self.result or not self.result.raised:
            return super().repr_failure(excinfo)
        kind, error, tb = self.result.raised
        own = [frame for frame in traceback.extract_tb(tb) if UNITTEST not in frame.filename]
        return "".join([*traceback.format_list(own), *traceback.format_exception_only(kind, error)])

    def reportinfo(self):
        code = getattr(getattr(self.case, self.case._testMethodName), "__code__", None)
        is_here = code is not None and code.co_filename == str(self.path)
        return self.path, code.co_firstlineno - 1 if is_here else 0, self.name


class _Result(unittest.TestResult):
    raised = None  # the first error: as of `sys.exc_info`

    def addError(self, _test, err):  # noqa: N802 - unittest's names
        self.raised = self.raised or err

    addFailure = addError  # noqa: N815

    def addSubTest(self, _test, subtest, err):  # noqa: N802
        if err is not None:
            self.addError(subtest, err)


def _cases(module):
    loader = unittest.TestLoader()
    todo = [loader.loadTestsFromModule(module)]
    if loader.errors:
        raise pytest.Collector.CollectError(loader.errors[0])
    while todo:
        test = todo.pop()
        if isinstance(test, unittest.TestSuite):
            todo.extend(reversed(list(test)))
        else:
            yield test


def _home(case, module):
    name = type(case).__name__
    return name if vars(module).get(name) is type(case) else "load_tests"


def _is_plain(case):
    try:
        return vars(case) == vars(type(case)(case._testMethodName))
    except Exception:  # it takes other arguments, or they cannot be compared
        return False


def _is_test_class(obj):
    return isinstance(obj, type) and issubclass(obj, unittest.TestCase)


def _uses_pytest(collector):
    plugins = collector.config.pluginmanager.get_plugins()
    has_conftest = any((getattr(plugin, "__file__", None) or "").endswith("conftest.py") for plugin in plugins)
    return has_conftest or pytest in vars(collector.obj).values()
