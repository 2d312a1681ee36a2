"""The back end without isolation is refused without consent."""

from __future__ import annotations

import pytest

from greenloop.core.errors import CannotVerifyError
from greenloop.project.settings import SandboxSettings
from greenloop_sandbox import SandboxSpec
from greenloop_sandbox.backends import none


@pytest.mark.story("without consent nothing runs outside a sandbox")
async def test_refused_without_consent(tmp_path, environment):
    sandbox = none.create(SandboxSettings())
    probe = await sandbox.probe()
    assert (probe.ok, bool(probe.remedy)) == (False, True)
    with pytest.raises(CannotVerifyError) as caught:
        await sandbox.open(SandboxSpec(root=tmp_path, environment=environment))
    assert "sandbox.unsafe" in caught.value.remedy
