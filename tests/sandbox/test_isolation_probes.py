"""Every promise is kept by the real walls, and the same programs find it broken where there is no wall."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from greenloop.plugins.setup import isolation
from greenloop.plugins.setup.isolation import PROMISES, ProbeResult
from greenloop_sandbox.backends.bubblewrap import Bubblewrap
from greenloop_sandbox.backends.docker import DockerSandbox
from greenloop_sandbox.backends.none import NoIsolation

pytestmark = pytest.mark.timeout(180)


async def found(sandbox, environment) -> dict[str, ProbeResult]:
    probe = await sandbox.probe()
    if sandbox.name == "docker" and not probe.image:
        pytest.skip("greenloop's image has not been made yet")
    assert probe.ok, probe.detail
    return {finding.promise: finding for finding in await isolation.run_probes(sandbox, probe, environment)}


@pytest.mark.story("the doctor tries what the sandbox promises")
@pytest.mark.parametrize(
    "sandbox",
    [
        pytest.param(Bubblewrap(), marks=pytest.mark.needs("bubblewrap"), id="bubblewrap"),
        pytest.param(DockerSandbox(), marks=pytest.mark.needs("docker"), id="docker"),
    ],
)
async def test_a_wall_keeps_every_promise(sandbox, bare_environment):
    findings = await found(sandbox, bare_environment)
    assert list(findings) == list(PROMISES.values())
    assert {name: finding.probed for name, finding in findings.items() if finding.held is not True} == {}
    best = {name for name, finding in findings.items() if finding.status == "best effort"}
    assert best == ({"memory bounded", "processes bounded"} if sandbox.name == "bubblewrap" else set())


@pytest.mark.needs("bubblewrap")
async def test_without_a_wall_the_same_programs_get_through(bare_environment):
    findings = await found(NoIsolation(consent=True), bare_environment)
    broken = {name for name, finding in findings.items() if finding.held is False}
    assert PROMISES["files"] in broken
    assert PROMISES["privileges"] in broken
    # What the supervisor alone sees to holds without a wall too.
    assert findings[PROMISES["time"]].held
    assert findings[PROMISES["workspace"]].held


class _ChangesTheHost(NoIsolation):
    """Without a wall, a workspace that changes meanwhile."""

    async def open(self, spec):
        (spec.root / "kept.txt").write_text("changed")
        (spec.root / "new").write_text("")
        return await super().open(spec)


async def test_a_change_on_the_host_is_seen(bare_environment):
    finding = (await found(_ChangesTheHost(consent=True), bare_environment))[PROMISES["workspace"]]
    assert (finding.held, finding.probed) == (False, "on the host changed: kept.txt, new")


def test_a_process_that_is_left_is_seen():
    assert isolation.find_leftovers("no-such-marker-anywhere")[0]
    assert not isolation.find_leftovers(Path(sys.executable).name)[0]
