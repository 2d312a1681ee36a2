"""Services from images, with an engine that refuses."""

import os

import pytest

from greenloop_sandbox.backends._service_containers import start_container
from greenloop_sandbox.errors import CannotVerifyError
from greenloop_sandbox.records import Service


async def test_an_image_that_is_missing_is_named_with_the_line_that_gets_it(tmp_path, monkeypatch):
    engine = tmp_path / "docker"
    engine.write_text("#!/bin/sh\necho 'No such image: redis:7' >&2\nexit 1\n")
    engine.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    with pytest.raises(CannotVerifyError) as caught:
        await start_container(Service(kind="docker", port=6379, image="redis:7"))
    assert "redis:7" in str(caught.value)
    assert "No such image" in str(caught.value)
    assert "docker pull redis:7" in caught.value.remedy
