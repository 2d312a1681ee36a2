"""The Docker back end on podman's socket: the same promises, asked of another engine."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
import pytest_asyncio

from containers import place, tried
from greenloop.project.settings import SandboxSettings
from greenloop_sandbox import TestRun
from greenloop_sandbox.backends import docker
from greenloop_sandbox.container import base

pytestmark = [
    pytest.mark.needs("docker"),
    pytest.mark.timeout(300),
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.skipif(not shutil.which("podman"), reason="podman is not installed: apt-get install podman"),
]
START_SECONDS = 20


@pytest.fixture(scope="module")
def socket():
    """A podman of these tests alone, with the base image that Docker has."""
    with tempfile.TemporaryDirectory(prefix="greenloop-podman-", dir="/var/tmp") as folder:
        # Older versions of crun cannot work where both versions of cgroups are mounted.
        runtime = ["--runtime", shutil.which("runc")] if shutil.which("runc") else []
        podman = [
            "podman",
            "--root",
            f"{folder}/root",
            "--runroot",
            f"{folder}/run",
            "--cgroup-manager=cgroupfs",
            *runtime,
        ]
        name = base.ensure(docker.connect(600), sys.version_info[:2], print, bool)
        archive = Path(folder, "base.tar")
        with archive.open("wb") as stream:
            for part in docker.connect(600).client.images.get(name).save(named=True):
                stream.write(part)
        loaded = subprocess.run([*podman, "load", "-i", str(archive)], capture_output=True, text=True, check=False)
        archive.unlink()
        if loaded.returncode:
            pytest.skip(f"podman cannot load an image here: {loaded.stderr.strip()[-200:]}")
        path = f"{folder}/podman.sock"
        with subprocess.Popen(
            [*podman, "system", "service", "--time=0", f"unix://{path}"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        ) as service:
            try:
                until = time.monotonic() + START_SECONDS
                while not os.path.exists(path):
                    if service.poll() is not None or time.monotonic() > until:
                        pytest.skip("podman system service does not start here")
                    time.sleep(0.05)
                yield path
            finally:
                subprocess.run([*podman, "rm", "--all", "--force"], capture_output=True, check=False)
                service.terminate()
                service.wait(20)
                subprocess.run([*podman, "unmount", "--all"], capture_output=True, check=False)
                subprocess.run(["umount", f"{folder}/root/overlay"], capture_output=True, check=False)


@pytest.fixture(scope="module")
def root(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("workspace")
    (folder / "pytest.ini").write_text("[pytest]\n")
    (folder / "m.py").write_text("X = 1\n")
    return folder


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def session(socket, root):
    patch = pytest.MonkeyPatch()
    patch.setenv("DOCKER_HOST", f"unix://{socket}")
    opened = await docker.create(SandboxSettings()).open(place(root))  # its self-test has passed then
    patch.undo()
    yield opened
    await opened.close()


async def test_podman_runs_tests_behind_the_wall(session):
    assert session.engine.name == "podman"
    assert (await tried(session, "import m\nassert m.X == 1")).passed


async def test_podmans_workspace_can_be_written_beside_and_is_wiped(session):
    assert (await tried(session, "import os\nos.makedirs('made/sub'); open('made/sub/x', 'w').close()")).passed
    assert (await tried(session, "import os\nassert not os.path.exists('made')")).passed


async def test_podmans_containers_are_paused_when_idle(session):
    await session.pause()
    session._connection.container.reload()
    assert session._connection.container.status == "paused"
    assert (await tried(session, "pass")).passed


async def test_podmans_time_limit_holds(session):
    files = {"test_e.py": b"def test_e():\n    while True: pass\n"}
    execution = await session.run(TestRun(selectors=("test_e.py",), files=files, seconds=0.5))
    assert execution.killed == "timeout"
    assert (await tried(session, "pass")).passed
