"""Each package has a budget of lines, which may only fall: whoever adds something finds what it makes unnecessary."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# The goals are 58,000, 14,000 and none: in the laboratory lines cost users nothing. What one of the two needs the other
# gives: a Django project's tests cost the sandbox 100 lines.
LINES = {"server/greenloop": 71_300, "sandbox/greenloop_sandbox": 16_500}
STEP = 500


@pytest.mark.parametrize("package", LINES)
def test_a_package_stays_within_its_budget(package):
    files = [file for file in (ROOT / package).rglob("*.py") if file.name != "_version.py"]  # an installation writes it
    count = sum(len(file.read_bytes().splitlines()) for file in files)
    assert count <= LINES[package], "delete what the change makes unnecessary"
    assert count > LINES[package] - STEP, "lower the budget"
