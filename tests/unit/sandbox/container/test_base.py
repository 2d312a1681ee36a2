"""Base images."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest

from greenloop.core.errors import CannotVerifyError
from greenloop_sandbox.container import base
from greenloop_sandbox.container.engine import Engine

ENGINE = Engine(client=None, errors=(OSError,), name="Docker", version="1")


def test_what_keeps_a_base_image_from_being_made():
    tools = {name: f"/usr/bin/{name}" for name in ("unshare", "tar")}
    assert "apt-get install debootstrap" in base.build_obstacle((3, 11), tools.get)
    assert "no recipe for Python 3.12" in base.build_obstacle((3, 12), tools.get)
    assert "root" in base.build_obstacle((3, 11), {**tools, "debootstrap": "/usr/sbin/debootstrap"}.get, is_root=False)


def test_no_registry_and_no_recipe_names_both_and_the_remedy():
    def absent(_name: str) -> None:
        error = OSError("404")
        error.response = SimpleNamespace(status_code=404)  # type: ignore[attr-defined]
        raise error

    pull = lambda *_, **__: iter([{"error": "no such host"}])  # noqa: E731
    client = SimpleNamespace(images=SimpleNamespace(get=absent), api=SimpleNamespace(pull=pull))
    with pytest.raises(CannotVerifyError, match=r"no such host.*no recipe") as caught:
        base.ensure(replace(ENGINE, client=client), (3, 12), lambda _: None, bool)
    assert "docker pull python:3.12-slim" in caught.value.remedy
