"""What the Docker back end decides without an engine: which files travel, how it hardens, whom it blames, what it sweeps."""

from __future__ import annotations

import errno
import os

import pytest

from greenloop.project.settings import SandboxSettings
from greenloop_sandbox.backends import docker
from greenloop_sandbox.errors import CannotVerifyError

# -- files that travel ------------------------------------------------------------------------------------------


# -- the container ----------------------------------------------------------------------------------------------


# -- boot, as an ordinary process -------------------------------------------------------------------------------


# -- leftovers --------------------------------------------------------------------------------------------------


# -- the image --------------------------------------------------------------------------------------------------


# -- whom to blame ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("error", "installed", "detail", "remedy"),
    [
        (errno.EACCES, True, "No permission", "group docker"),
        (errno.ECONNREFUSED, True, "not running", "Start the engine"),
        (errno.ENOENT, True, "not running", "Start the engine"),
        (errno.ENOENT, False, "Neither Docker nor podman is installed", "docker.io`"),
    ],
)
def test_each_reason_without_an_engine_has_its_remedy(tmp_path, monkeypatch, error, installed, detail, remedy):
    def connect(_path: str) -> None:
        raise OSError(error, os.strerror(error))

    monkeypatch.setenv("PATH", str(tmp_path))
    if installed:
        (tmp_path / "docker").touch(0o755)
    with pytest.raises(CannotVerifyError, match=detail) as caught:
        docker._find_socket(connect)
    assert remedy in caught.value.remedy


async def test_an_unreachable_docker_host_is_named(monkeypatch, tmp_path):
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path / 'none.sock'}")
    probe = await docker.create(SandboxSettings()).probe()
    assert (probe.ok, "none.sock" in probe.detail) == (False, True)
    assert probe.remedy
