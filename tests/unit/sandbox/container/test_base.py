"""Base images."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest

from greenloop.core.errors import CannotVerifyError
from greenloop_sandbox.container import base
from greenloop_sandbox.container.engine import Engine

ENGINE = Engine(client=None, errors=(OSError,), name="Docker", version="1")


def test_no_registry_is_named_with_the_remedy():
    def absent(_name: str) -> None:
        error = OSError("404")
        error.response = SimpleNamespace(status_code=404)  # type: ignore[attr-defined]
        raise error

    pull = lambda *_, **__: iter([{"error": "no such host"}])  # noqa: E731
    client = SimpleNamespace(images=SimpleNamespace(get=absent), api=SimpleNamespace(pull=pull))
    with pytest.raises(CannotVerifyError, match="no such host") as caught:
        base.ensure(replace(ENGINE, client=client), (3, 12), lambda _: None, bool)
    assert "docker pull python:3.12-slim" in caught.value.remedy
