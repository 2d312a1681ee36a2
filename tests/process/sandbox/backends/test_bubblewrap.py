"""A bubblewrap that does not work."""

from __future__ import annotations

from greenloop_sandbox.backends import bubblewrap


async def test_a_program_that_does_not_work_is_named(tmp_path):
    fake = tmp_path / "bwrap"
    fake.write_text("#!/bin/sh\necho 'bwrap: setting up uid map: Permission denied' >&2\nexit 1\n")
    fake.chmod(0o755)
    probe = await bubblewrap.Bubblewrap([str(fake)]).probe()
    assert not probe.ok
    assert "failed its self-test" in probe.detail
    assert probe.remedy
