"""What the Docker back end decides without an engine: which files travel, how it hardens, whom it blames, what it sweeps."""

from __future__ import annotations

import errno
import os
from types import SimpleNamespace

import pytest

from greenloop.project.settings import SandboxSettings
from greenloop_sandbox.backends import docker
from greenloop_sandbox.container.engine import Engine
from greenloop_sandbox.errors import CannotVerifyError

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


# -- the image --------------------------------------------------------------------------------------------------


class ImageMissingError(Exception):
    response = SimpleNamespace(status_code=404)


def engine_with(*present: str, name: str = "Docker") -> Engine:
    """An engine with these images, whose registry has none."""

    def get(image: str) -> None:
        if image not in present:
            raise ImageMissingError(image)

    images = SimpleNamespace(get=get, get_registry_data=get)
    return Engine(client=SimpleNamespace(images=images), errors=(ImageMissingError,), name=name, version="1")


VERSION = (3, 12)


@pytest.mark.parametrize(
    ("engine", "plan"),
    [
        (engine_with("python:3.12-slim"), "pytest is added to python:3.12-slim at first use"),
        (engine_with("greenloop-base:3.12"), "pytest is added to greenloop-base:3.12 at first use"),
        (engine_with(name="podman"), "its image is pulled at first use"),
    ],
    ids=["the official image is there", "greenloop's own is there", "podman's registry cannot be asked"],
)
def test_an_image_is_made_from_what_the_engine_has(engine, plan):
    assert docker.plan_image(engine, VERSION) == plan


def test_no_image_and_no_registry_is_named():
    with pytest.raises(CannotVerifyError, match="no image: the registry does not answer") as caught:
        docker.plan_image(engine_with(), VERSION)
    assert "docker pull python:3.12-slim" in caught.value.remedy
