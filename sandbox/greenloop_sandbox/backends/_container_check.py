"""Self-test of a container: runs a small workspace of its own in the whole sandbox."""

from __future__ import annotations

import tempfile
from pathlib import Path

from greenloop_sandbox.backends._container import NAME, ContainerSession
from greenloop_sandbox.container.engine import Engine
from greenloop_sandbox.loading import own_environment
from greenloop_sandbox.records import Execution, Limits, SandboxSpec, TestRun
from greenloop_sandbox.report.cases import case_results
from greenloop_sandbox.selftest_cache import recall, remember

FILE = "test_isolation.py"
# One test file; the user reads the name of a test that fails.
ISOLATION_TESTS = """
import os, socket, tempfile
import pytest

STATUS = dict(line.split(":", 1) for line in open("/proc/self/status").read().splitlines() if ":" in line)


def test_runs_without_rights():
    assert os.getuid() != 0 and os.getgid() != 0
    assert int(STATUS["CapEff"], 16) == 0 and int(STATUS["CapPrm"], 16) == 0 and STATUS["NoNewPrivs"].strip() == "1"


def test_cannot_become_root():
    with pytest.raises(OSError):
        os.setuid(0)


HERE = os.path.dirname(os.path.abspath(__file__))


@pytest.mark.parametrize("folder", ["/", "/etc", "/usr", "/opt", "/.greenloop", "/.greenloop/run"])
def test_cannot_write_outside_tmp(folder):
    with pytest.raises(OSError):
        open(os.path.join(folder, "written"), "w")


@pytest.mark.parametrize("change", [os.remove, lambda path: open(path, "a"), lambda path: os.rename(path, path + "x")])
def test_cannot_change_the_workspace(change):
    with pytest.raises(OSError):
        change(__file__)


def test_can_write_beside_itself():
    with tempfile.TemporaryFile(dir=HERE) as file:
        file.write(b"x")


def test_can_write_to_tmp():
    with tempfile.TemporaryFile() as file:
        file.write(b"x")


def test_has_no_network():
    assert [name for _, name in socket.if_nameindex() if name != "lo"] == []
    with pytest.raises(OSError):
        socket.create_connection(("192.0.2.1", 9), timeout=1)
"""
MIN_RESULTS = 14


def self_test(engine: Engine, image: str, limits: Limits, runtime: str = "") -> str:
    """Returns the fault of the sandbox ("": none). Tested once per boot, engine and image; only success is cached."""
    key = f"{engine.name}|{engine.version}|{engine.client.images.get(image).id}|{runtime}"
    if recall(NAME, key) is not None:
        return ""
    problem = try_sandbox(engine, image, limits, runtime)
    if not problem:
        remember(NAME, key, {})
    return problem


def try_sandbox(engine: Engine, image: str, limits: Limits, runtime: str = "") -> str:
    with tempfile.TemporaryDirectory(prefix="greenloop-selftest-") as folder:
        root = Path(folder).resolve()
        (root / FILE).write_text(ISOLATION_TESTS, encoding="utf-8")
        place = SandboxSpec(root=root, environment=own_environment(), limits=limits)
        session = ContainerSession(engine=engine, spec=place, image=image, runtime=runtime)
        try:
            return find_problem(session.run_once(TestRun(selectors=(FILE,), seconds=30.0)))
        finally:
            session.end()


def find_problem(execution: Execution) -> str:
    """The first check that failed, with the reason; empty when all passed."""
    if execution.broken:
        return execution.broken
    results = case_results(execution)
    for result in results:
        if not result.passed:
            reason = result.failure.message if result.failure else result.outcome
            return f"{result.id.partition('::')[2]}: {reason}"
    if len(results) < MIN_RESULTS or execution.status != 0 or execution.killed:
        output = execution.output.strip()[-300:] or execution.killed or "no output"
        return f"it stopped early (status {execution.status}): {output}"
    return ""
