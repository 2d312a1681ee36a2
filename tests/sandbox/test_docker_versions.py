"""The runner under another Python than the one these tests run with."""

from __future__ import annotations

from dataclasses import replace

import pytest

from containers import place
from greenloop.project.settings import SandboxSettings
from greenloop_sandbox import Apart, TestRun, WatchedLines, case_results
from greenloop_sandbox.backends import docker
from greenloop_sandbox.report.cases import records_of_kind
from greenloop_sandbox.report.traces import line_traces

pytestmark = [pytest.mark.needs("python-3.13"), pytest.mark.timeout(900)]

MODULE = """
def double(x):
    '''
    >>> double(2)
    4
    '''
    return 2 * x
"""
TEST = """
import sys
import unittest
import pytest
from m import double

def test_version():
    assert sys.version_info[:2] == (3, 13)

@pytest.mark.parametrize("x", [1, 2])
def test_double(x, tmp_path):
    assert double(x) == x + x

class TestDouble(unittest.TestCase):
    def test_it(self):
        self.assertEqual(double(3), 6)
"""


async def test_the_runner_under_python_3_13(tmp_path):
    root = tmp_path / "project"
    root.mkdir()
    (root / "m.py").write_text(MODULE)
    (root / "test_m.py").write_text(TEST)
    at = place(root)
    at = replace(at, environment=replace(at.environment, version=(3, 13)))
    session = await docker.create(SandboxSettings()).open(at)
    try:
        run = TestRun(selectors=("test_m.py", "doctest:m.py::double"), baseline=True)
        first = await session.run(run)
        assert [result.outcome for result in case_results(first)] == ["passed"] * 5, first
        await session._learning
        assert set(run.selectors) < session.warmup.agreed_selectors
        wrong = replace(run, baseline=False, files={"m.py": MODULE.replace("2 * x", "3 * x").encode()})
        again = await session.run(wrong)
        assert [result.outcome for result in case_results(again)] == ["passed", *["failed"] * 4], again
        traced = await session.run(replace(run, baseline=False, trace=True))
        reached = [{found["name"] for found in record["functions"]} for record in records_of_kind(traced, "trace")]
        assert ["double" in names for names in reached] == [False, True, True, True, True]
        for body, outcome in (("x + x", "passed"), ("x * 3", "failed")):
            changed = Apart(files={"m.py": MODULE.replace("2 * x", body)}, tests=("test_m.py",))
            apart = await session.run(TestRun(selectors=("test_m.py::test_double",), apart=changed))
            assert {record["unfit"] for record in records_of_kind(apart, "apart")} == {""}, apart
            assert {result.outcome for result in case_results(apart)} == {outcome}
    finally:
        await session.close()


WATCHED = """import asyncio
import threading


def squares(n):
    for i in range(n):
        yield i * i


async def later(n):
    await asyncio.sleep(0)
    return n + 1


def work(n):
    found = [x for x in squares(n)]
    threads = [threading.Thread(target=found.append, args=(k,)) for k in range(2)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    return len(found) + asyncio.run(later(1))


def loop():
    n = 0
    while True:
        n += 1
"""
WATCHING = """
import m

def test_work():
    assert m.work(2) == 6

def test_loop():
    m.loop()
"""


async def test_watched_lines_under_python_3_13(tmp_path):
    root = tmp_path / "project"
    root.mkdir()
    (root / "m.py").write_text(WATCHED)
    (root / "test_m.py").write_text(WATCHING)
    at = place(root)
    at = replace(at, environment=replace(at.environment, version=(3, 13)))
    session = await docker.create(SandboxSettings()).open(at)
    try:
        run = TestRun(selectors=("test_m.py",), watch=(WatchedLines(path="m.py", start=1, end=100),))
        execution = await session.run(run)
        assert [result.outcome for result in case_results(execution)] == ["passed", "failed"], execution
        work, loop = line_traces(execution).values()
        assert {line: times for line, times in work.lines["m.py"].items() if line in {7, 11, 12}} == {
            7: 2,
            11: 1,
            12: 1,
        }
        ends = [
            (name, text) for step in work.steps for name, text in step.values.items() if name in {"return", "yield"}
        ]
        assert ends == [("yield", "0"), ("yield", "1"), ("return", "None"), ("return", "2"), ("return", "6")]
        assert {"found": "[0, 1]"} in [{k: v for k, v in step.values.items() if k == "found"} for step in work.steps]
        assert len(loop.steps) == 2000
        assert {step.line for step in loop.steps[loop.gap :]} <= {27, 28}
    finally:
        await session.close()
