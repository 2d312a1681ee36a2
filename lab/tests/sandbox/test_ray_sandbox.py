"""Tests that are split among the nodes of a real Ray cluster give the verdict of one machine."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator

import pytest

from greenloop.core.records.verdict import Status
from greenloop.core.verdict import judge
from greenloop.plugins.setup import isolation
from greenloop.project.environment import interpreters
from greenloop.project.settings import SandboxSettings, Settings
from greenloop_lab.sandboxes.backends import ray
from greenloop_lab.sandboxes.cluster import session
from greenloop_sandbox import Limits, SandboxSpec, TestRun, case_results, collected_cases
from greenloop_sandbox.backends import bubblewrap
from ray_cluster import kill_node, start_cluster

pytestmark = [pytest.mark.cluster, pytest.mark.needs("ray"), pytest.mark.needs("bubblewrap"), pytest.mark.timeout(600)]

CODE = "def double(n):\n    return n * 2\n"
TESTS = """import pathlib

import pytest

from m import double


@pytest.mark.parametrize("n", range({count}))
def test_it(n):
    assert double(n) == n + n


def test_fails():
    assert double(2) == 5
"""


@pytest.fixture(scope="module")
def cluster() -> Iterator[object]:
    with start_cluster() as made:
        yield made


@pytest.fixture
def project(tmp_path):
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "m.py").write_text(CODE)
    for number in range(4):
        (folder / f"test_{number}.py").write_text(TESTS.format(count=5 + number))
    return folder


def settings(cluster) -> Settings:
    return Settings(sandbox=SandboxSettings(kind="ray", cluster=cluster.address))


def spec(project) -> SandboxSpec:
    environment = interpreters.find_environment(project, Settings(interpreter=sys.executable))
    return SandboxSpec(root=project, environment=environment, limits=Limits(seconds=60))


async def run_on(sandbox, project, run):
    session = await sandbox.open(spec(project))
    try:
        return await session.run(run)
    finally:
        await session.close()


def outcomes(execution):
    assert not execution.broken, execution.broken
    return [(result.id, result.outcome) for result in case_results(execution)]


async def test_the_cases_and_their_outcomes_are_those_of_one_machine(cluster, project):
    run = TestRun(selectors=(), seconds=60, baseline=True)
    alone = await run_on(bubblewrap.create(SandboxSettings()), project, run)
    sandbox = ray.create(settings(cluster).sandbox)
    status: list[str] = []
    sandbox.report_status = status.append
    split = await run_on(sandbox, project, run)
    assert status == ["running 30 tests in 2 parts"]
    assert outcomes(split) == outcomes(alone)
    expected = [case.id for case in collected_cases(alone)]
    verdicts = [judge(expected, {}, execution) for execution in (alone, split)]
    assert [(each.status, each.reason) for each in verdicts] == [(Status.FAILED, "")] * 2


async def test_a_candidate_that_leaves_in_one_part_is_found_out(cluster, project):
    sandbox = ray.create(settings(cluster).sandbox)
    session = await sandbox.open(spec(project))
    try:
        base = await session.run(TestRun(selectors=(), seconds=60, baseline=True))
        expected = [case.id for case in collected_cases(base)]
        fake = b"import os\n\ndef double(n):\n    n == 7 and os._exit(0)\n    return n * 2\n"
        execution = await session.run(TestRun(selectors=(), files={"m.py": fake}, seconds=60))
    finally:
        await session.close()
    verdict = judge(expected, dict(outcomes(base)), execution)
    assert (verdict.status, verdict.reason) == (
        Status.TAMPERED,
        "The process exited with status 0 before the tests finished.",
    )


async def test_a_node_that_is_killed_while_it_runs_tests_loses_no_case(cluster, project):
    for number in range(4):
        text = TESTS.format(count=3) + "\n\ndef test_takes_a_second():\n    import time\n    time.sleep(1)\n"
        (project / f"test_{number}.py").write_text(text)
    extra = cluster.add_node(num_cpus=1, object_store_memory=100_000_000)
    sandbox = ray.create(settings(cluster).sandbox)
    status: list[str] = []

    def report(text: str) -> None:
        status.append(text)
        if text.startswith("running"):
            # Each node has a sandbox and is about to run its part, which takes a second at least.
            asyncio.get_running_loop().call_later(0.5, kill_node, cluster, extra)

    sandbox.report_status = report
    run = TestRun(selectors=(), seconds=60)
    split = await asyncio.wait_for(run_on(sandbox, project, run), 300)
    alone = await run_on(bubblewrap.create(SandboxSettings()), project, run)
    assert outcomes(split) == outcomes(alone)
    assert status == ["running 20 tests in 3 parts", "A node was lost; its tests run on another one."]


def test_verify_on_a_cluster_says_what_it_says_here(cluster, project):
    for number in range(4):
        file = project / f"test_{number}.py"
        file.write_text(file.read_text().partition("\n\n\ndef test_fails")[0] + "\n")
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b.c", "-C", str(project)]
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "first"]):
        subprocess.run([*git, *words], check=True)
    (project / "m.py").write_text("def double(n):\n    return n + n\n")

    def verify(*words: str) -> dict:
        command = [sys.executable, "-P", "-m", "greenloop", "verify", "--json", *words]
        done = subprocess.run(command, cwd=project, capture_output=True, text=True, timeout=300, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return json.loads(done.stdout)

    here, there = verify(), verify("--on", f"ray://{cluster.address}")
    assert there.pop("sandbox") == "ray"
    here.pop("sandbox")
    for result in (here, there):
        result.pop("seconds")
        for case in result["cases"]:
            case.pop("seconds")
    assert there == here


async def test_a_folder_that_is_another_one_on_a_node_is_named(cluster, project, monkeypatch):
    monkeypatch.setattr(session, "workspace_state", lambda _root: "another")
    with pytest.raises(Exception, match="are not the same on a node of the cluster") as problem:
        await ray.create(settings(cluster).sandbox).open(spec(project))
    assert "Share the project's folder" in problem.value.remedy


async def test_the_doctor_leaves_isolation_to_the_nodes(cluster, project):
    probe = await ray.create(settings(cluster).sandbox).probe()
    found = await isolation.check_isolation(project, settings(cluster), [probe])
    assert found == {"ray": "each node has a back end of its own: run `greenloop doctor` there"}
