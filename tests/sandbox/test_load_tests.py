"""Cases that `load_tests` makes: collected as by `python -m unittest` where a project has no pytest of its own."""

from __future__ import annotations

import pytest

from greenloop_sandbox import TestRun
from greenloop_sandbox.report import cases as report

pytestmark = pytest.mark.needs("bubblewrap")

MODULE = '"""Sums.\n\n>>> 1 + 1\n3\n"""\n'
TESTS = """import doctest
import unittest

import m

closed, made = [], []


class Each(unittest.TestCase):
    def __init__(self, name, n=None):
        super().__init__(name)
        self.n = n

    @classmethod
    def setUpClass(cls):
        cls.offset = 1

    def tearDown(self):
        closed.append(self.n)

    def test_odd(self):
        with self.subTest(n=self.n):
            self.assertEqual((self.n + self.offset) % 2, 0)
        if self.n == 5:
            self.skipTest("five")

    @unittest.expectedFailure
    def test_expected(self):
        self.assertEqual(self.n, 1)

    def test_left_out(self):
        self.fail()


class Plain(unittest.TestCase):
    def test_closed(self):
        self.assertEqual((len(closed), len(made)), (6, 1))


class Unused(unittest.TestCase):
    def test_never(self):
        self.fail()


def load_tests(loader, tests, pattern):
    made.append(tests)
    suite = unittest.TestSuite(Each("test_odd", n) for n in (1, 2, 5))
    suite.addTests(Each("test_expected", n) for n in (1, 2))
    suite.addTest(unittest.TestSuite([Each("test_odd", 7)]))
    suite.addTests(loader.loadTestsFromTestCase(Plain))
    suite.addTests(doctest.DocTestSuite(m))
    return suite
"""
AS_UNITTEST = {
    "test_m.py::Each::test_odd[1]": "passed",
    "test_m.py::Each::test_odd[2]": "failed",
    "test_m.py::Each::test_odd[3]": "skipped",
    "test_m.py::Each::test_odd[4]": "passed",
    "test_m.py::Each::test_expected[1]": "failed",
    "test_m.py::Each::test_expected[2]": "xfailed",
    "test_m.py::Plain::test_closed": "passed",
    "test_m.py::load_tests::m": "failed",
}
AS_PYTEST = {
    "test_m.py::Each::test_odd": "failed",
    "test_m.py::Each::test_expected": "xfailed",
    "test_m.py::Each::test_left_out": "failed",
    "test_m.py::Plain::test_closed": "failed",
    "test_m.py::Unused::test_never": "failed",
}


@pytest.mark.parametrize(
    ("more", "selector", "expected"),
    [
        ({}, "test_m.py", AS_UNITTEST),
        (
            {},
            "test_m.py::Each::test_expected",
            {name: outcome for name, outcome in AS_UNITTEST.items() if "expected" in name},
        ),
        ({"pytest.ini": "[pytest]\n"}, "test_m.py", AS_PYTEST),
        ({"conftest.py": ""}, "test_m.py", AS_PYTEST),
    ],
    ids=["by unittest", "one method", "with a configuration of pytest", "with a conftest"],
)
async def test_outcomes(more, selector, expected, tmp_path, lay, opened):
    session = await opened(lay(tmp_path / "w", {"pytest.ini": "", "m.py": MODULE, "test_m.py": TESTS, **more}))
    execution = await session.run(TestRun(selectors=(selector,)))
    assert {case.id: case.outcome for case in report.case_results(execution)} == expected


async def test_a_failure_is_located_in_the_test(tmp_path, lay, opened):
    session = await opened(lay(tmp_path / "w", {"pytest.ini": "", "m.py": MODULE, "test_m.py": TESTS}))
    execution = await session.run(TestRun(selectors=("test_m.py::Each::test_odd[2]",)))
    ((case,), (result,)) = report.collected_cases(execution), report.case_results(execution)
    lines = TESTS.splitlines()
    assert lines[case.line - 1] == "    def test_odd(self):"
    frame = next(frame for frame in reversed(result.failure.frames) if frame.path == "test_m.py")
    assert "assertEqual" in lines[frame.line - 1]
    assert result.failure.text.startswith('  File "')
    assert (result.failure.observed, result.failure.expected) == ("1", "0")


async def test_load_tests_that_fails_is_an_error_of_collection(tmp_path, lay, opened):
    files = {"pytest.ini": "", "test_m.py": "def load_tests(loader, tests, pattern):\n    return 1 / 0\n"}
    execution = await (await opened(lay(tmp_path / "w", files))).run(TestRun(selectors=("test_m.py",)))
    (error,) = report.collect_errors(execution)
    assert "ZeroDivisionError" in error.failure.message
