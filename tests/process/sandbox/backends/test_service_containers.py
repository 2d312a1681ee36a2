"""Services from images, with an engine that refuses."""

import asyncio
import os

import pytest

from greenloop_sandbox.backends import _services
from greenloop_sandbox.backends._service_containers import start_container
from greenloop_sandbox.errors import CannotVerifyError
from greenloop_sandbox.records import Service


def make_engine(folder, monkeypatch, script):
    engine = folder / "docker"
    engine.write_text(f"#!/bin/sh\n{script}")
    engine.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")


async def test_an_image_that_is_missing_is_named_with_the_line_that_gets_it(tmp_path, monkeypatch):
    make_engine(tmp_path, monkeypatch, "echo 'No such image: redis:7' >&2\nexit 1\n")
    with pytest.raises(CannotVerifyError) as caught:
        await start_container(Service(kind="docker", port=6379, image="redis:7"))
    assert "redis:7" in str(caught.value)
    assert "No such image" in str(caught.value)
    assert "docker pull redis:7" in caught.value.remedy


async def test_an_engine_that_never_starts_it_is_given_up_and_its_program_ends(tmp_path, monkeypatch):
    """The program that holds the container reads its input to the end."""
    script = f'case $1 in run) cat; echo ended >"{tmp_path}/ended" ;; inspect) echo 0 ;; esac\n'
    make_engine(tmp_path, monkeypatch, script)
    images = [Service(kind="docker", port=6379, image="redis:7")]
    services = _services.Services(program="", services=images, seconds=0.5)
    with pytest.raises(CannotVerifyError, match=r"^redis:7 was not started within"):
        await services.start()
    async with asyncio.timeout(10):
        while not (tmp_path / "ended").exists():
            await asyncio.sleep(0.02)
