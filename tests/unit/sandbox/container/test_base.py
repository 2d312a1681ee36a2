"""Base images."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest

from greenloop.core.errors import CannotVerifyError
from greenloop_sandbox.container import base
from greenloop_sandbox.container.engine import Engine

ENGINE = Engine(client=None, errors=(OSError,), name="Docker", version="1")


def test_what_keeps_a_base_image_from_being_made(monkeypatch):
    monkeypatch.setattr(base, "tool_path", lambda name: None if name == "debootstrap" else f"/usr/bin/{name}")
    assert "apt-get install debootstrap" in base.build_obstacle((3, 11))
    assert "no recipe for Python 3.12" in base.build_obstacle((3, 12))
    monkeypatch.setattr(base, "tool_path", lambda name: f"/usr/bin/{name}")
    monkeypatch.setattr(base.os, "geteuid", lambda: 1000)
    assert "root" in base.build_obstacle((3, 11))


def test_no_registry_and_no_tools_names_both_and_the_remedy(monkeypatch):
    def absent(_name: str) -> None:
        error = OSError("404")
        error.response = SimpleNamespace(status_code=404)  # type: ignore[attr-defined]
        raise error

    pull = lambda *_, **__: iter([{"error": "no such host"}])  # noqa: E731
    client = SimpleNamespace(images=SimpleNamespace(get=absent), api=SimpleNamespace(pull=pull))
    monkeypatch.setattr(base, "build_obstacle", lambda _version: "building one here needs root")
    with pytest.raises(CannotVerifyError, match=r"no such host.*needs root") as caught:
        base.ensure(replace(ENGINE, client=client), (3, 11), lambda _: None, bool)
    assert "docker pull python:3.11-slim" in caught.value.remedy
