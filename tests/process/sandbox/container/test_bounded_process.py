"""Programs that have a limit."""

from __future__ import annotations

import sys

import pytest

from greenloop.core.errors import CannotVerifyError
from greenloop_sandbox.container import bounded_process


def test_a_program_is_stopped_and_its_failure_is_told():
    with pytest.raises(CannotVerifyError, match="failed: the reason"):
        bounded_process.make_runner(bool)([sys.executable, "-c", "print('the reason'); raise SystemExit(1)"], 30)
    with pytest.raises(CannotVerifyError, match="was stopped"):
        bounded_process.make_runner(lambda: True)([sys.executable, "-c", "import time; time.sleep(60)"], 30)
    with pytest.raises(CannotVerifyError, match=r"took longer than 0\.5 s"):
        bounded_process.make_runner(bool)([sys.executable, "-c", "import time; time.sleep(60)"], 0.5)
    assert bounded_process.make_runner(bool)([sys.executable, "-c", "print('fine')"], 30) == "fine\n"
