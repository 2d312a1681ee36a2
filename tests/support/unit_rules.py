"""Unit tests: in this process alone, and quick.

A unit test that starts a process fails; it belongs into tests/process.
One that takes over a second of processor time is listed at the end, and no more: another machine takes ten times as long.
`problem(text, name, ...)` is a problem whose regions are the named definitions of one module.
"""

from __future__ import annotations

import ast
import platform
import sys
import time
from collections.abc import Generator
from pathlib import Path

import pytest

from greenloop.core.python.ast_source import find_definitions, parse_fragment, start_line
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Case, Region, Spec

SECONDS = 1.0
# The property of a report that conftest.py lists; it also comes from other processes.
SLOW = "processor seconds"
STARTS = ("subprocess.Popen", "os.fork", "os.forkpty", "os.posix_spawn", "os.exec", "os.spawn", "os.system")


class StartedProcessError(Exception):
    pass


class ProcessGuard:
    """Hears of every process that Python starts, and refuses it while a unit test runs."""

    def __init__(self) -> None:
        self.active = False
        self.started: list[str] = []
        sys.addaudithook(self.hear)

    def hear(self, event: str, values: tuple[object, ...]) -> None:
        if self.active and event in STARTS:
            self.started.append(f"{event} {values[0] if values else ''}".strip())
            raise StartedProcessError(self.started[-1])

    def watch(self) -> Generator[None, object, object]:
        self.active, self.started = True, []
        try:
            return (yield)
        finally:
            self.active = False
            # Also where the product took the error for one of the machine.
            if self.started:
                pytest.fail(
                    f"A unit test started a process ({self.started[0]}); move it to tests/process.", pytrace=False
                )


guard = ProcessGuard()
platform.processor()  # runs `uname` once, whichever library asks for it first


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None, object, object]:
    return (yield from guard.watch())


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    began = time.process_time()
    result = yield from guard.watch()
    seconds = time.process_time() - began
    if seconds > SECONDS:
        item.user_properties.append((SLOW, f"{seconds:.1f} s"))
    return result


def build(text, *names, created=False, path="m.py", tests="", span=None):
    found = parse_fragment(text)
    regions = []
    for name in names:
        if span:
            start, end = span
        else:
            node = [node for qualname, node in find_definitions(found.body) if qualname == name][-1]
            start, end = start_line(node, found.lines), node.end_lineno
        regions.append(Region(path=path, qualname=name, start=start, end=end, created=created))
    originals = {path: None if created else text} | ({"test_m.py": tests} if tests else {})
    cases = (Case(id="test_m.py::test", path="test_m.py", line=1),) if tests else ()
    return Problem(
        root=Path("/project"),
        spec=Spec(cases=cases, selectors=tuple(case.id for case in cases)),
        regions=tuple(regions),
        originals=originals,
        files={path: text},
    )


@pytest.fixture
def problem():
    return build


@pytest.fixture
def parses():
    return lambda text: ast.parse(text.replace("\r\n", "\n"))
