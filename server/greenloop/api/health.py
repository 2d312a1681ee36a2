"""Checks what a run needs on this machine: interpreter, sandbox, model, history."""

from __future__ import annotations

from greenloop.engine.doctor.report import DoctorFinding, can_run, missing_parts, status_word, summary
from greenloop.engine.doctor.report import EditorAbilities as DoctorEditor
from greenloop.engine.doctor.report import examine as doctor
