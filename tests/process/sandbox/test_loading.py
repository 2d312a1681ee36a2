"""What a program loads of the package."""

from __future__ import annotations

import subprocess
import sys


def test_the_errors_load_nothing_else():
    code = (
        "import sys; from greenloop_sandbox import CannotVerifyError; "
        "print(*sorted(each for each in sys.modules if each.startswith('greenloop')))"
    )
    finished = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert finished.stdout.split() == ["greenloop_sandbox", "greenloop_sandbox.errors"]
