"""What the Docker back end decides without an engine: which files travel, how it hardens, whom it blames, what it sweeps."""

from __future__ import annotations

import errno
import os
import socket

import pytest

from greenloop.project.settings import SandboxSettings
from greenloop_sandbox.backends import docker

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
async def test_each_reason_without_an_engine_has_its_remedy(monkeypatch, error, installed, detail, remedy):
    def connect(_self: object, _path: str) -> None:
        raise OSError(error, os.strerror(error))

    monkeypatch.delenv("DOCKER_HOST", raising=False)
    monkeypatch.setattr(docker.socket, "socket", type("Refusing", (socket.socket,), {"connect": connect}))
    monkeypatch.setattr(docker.shutil, "which", lambda name: f"/usr/bin/{name}" if installed else None)
    probe = await docker.create(SandboxSettings()).probe()
    assert not probe.ok
    assert detail in probe.detail
    assert remedy in probe.remedy


async def test_an_unreachable_docker_host_is_named(monkeypatch, tmp_path):
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path / 'none.sock'}")
    probe = await docker.create(SandboxSettings()).probe()
    assert (probe.ok, "none.sock" in probe.detail) == (False, True)
    assert probe.remedy
