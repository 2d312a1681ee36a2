"""Additions to `greenloop doctor`: commands that connect editors, and sandboxes whose promises cannot be tried."""

from __future__ import annotations

from greenloop.engine.doctor.report import DoctorFinding
from greenloop.plugins.setup import doctor
from greenloop.project.settings import Settings
from greenloop_sandbox import Probe


def test_the_editors_of_this_machine_are_connected_first(tmp_path, monkeypatch):
    (tmp_path / "hx").write_text("#!/bin/sh\n")
    (tmp_path / "hx").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert [(words[:2], purpose) for words, purpose in doctor.list_first_steps()] == [
        (("setup", "helix"), "connect helix")
    ]


async def test_without_an_interpreter_nothing_is_tried_and_the_rows_stay(tmp_path):
    rows = [DoctorFinding(part="sandbox", name="bubblewrap", ok=True, detail="0.11")]
    probes = [Probe(name="bubblewrap", ok=True, detail="0.11")]
    settings = Settings(interpreter=str(tmp_path / "missing"))
    assert await doctor.check_sandboxes(rows, tmp_path, settings, probes) == rows
