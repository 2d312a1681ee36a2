"""A test runner for Django for lab/benchmarks/parity.py: records each test of `manage.py test` with pytest's ids.

It is copied together with parity_recorder.py, which takes their folder off the path again.
"""

# It runs with the tests of another project, in an environment that has Django.
# ruff: noqa: N802, SLF001
# mypy: ignore-errors

import os
import sys
import unittest

import parity_recorder
from django.test.runner import DiscoverRunner, iter_test_cases


def _id(test):
    kind = type(test)
    file = os.path.relpath(sys.modules[kind.__module__].__file__)
    return f"{file}::{kind.__qualname__.replace('.', '::')}::{test._testMethodName}"


class _Result(unittest.TextTestResult):
    """Records how each test ended; `cases`: the ids of all tests, by the name that unittest gives to their class."""

    cases = {}  # noqa: RUF012

    def startTest(self, test):
        super().startTest(test)
        parity_recorder.record(kind="begin", id=_id(test))
        parity_recorder.phase(_id(test), "setup", "passed")

    def stopTest(self, test):
        super().stopTest(test)
        parity_recorder.phase(_id(test), "teardown", "passed")

    def addSuccess(self, test):
        super().addSuccess(test)
        parity_recorder.phase(_id(test), "call", "passed")

    def addFailure(self, test, err):
        super().addFailure(test, err)
        parity_recorder.phase(_id(test), "call", "failed", self.failures[-1][1])

    def addError(self, test, err):
        super().addError(test, err)
        self._end(test, "failed", self.errors[-1][1])

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self._end(test, "skipped", reason)

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err is not None:
            message = self._exc_info_to_string(err, test)
            parity_recorder.phase(_id(test), "call", "failed", message)

    def addExpectedFailure(self, test, err):
        super().addExpectedFailure(test, err)
        parity_recorder.phase(_id(test), "call", "skipped", wasxfail="expected")

    def addUnexpectedSuccess(self, test):
        super().addUnexpectedSuccess(test)
        parity_recorder.phase(_id(test), "call", "failed", "unexpected success")

    def _end(self, test, outcome, message):
        if isinstance(test, unittest.TestCase):
            if isinstance(test, unittest.loader._FailedTest):
                parity_recorder.record(kind="collect_error", id=test._testMethodName, message=message[-500:])
            parity_recorder.phase(_id(test), "call", outcome, message)
            return
        kind = test.id().partition("(")[2].rstrip(")")  # setUpClass (module.Class): none of its tests runs
        for case in self.cases.get(kind, ()):
            parity_recorder.record(kind="begin", id=case)
            parity_recorder.phase(case, "setup", outcome, message)


class Runner(DiscoverRunner):
    """Django's own, with records."""

    def get_resultclass(self):
        return _Result

    def run_suite(self, suite, **kwargs):
        for test in iter_test_cases(suite):
            _Result.cases.setdefault(unittest.util.strclass(type(test)), []).append(_id(test))
        result = super().run_suite(suite, **kwargs)
        parity_recorder.record(kind="finished", status=int(not result.wasSuccessful()))
        return result
