"""Programs that have a limit."""

from __future__ import annotations

import sys

import pytest

from greenloop.core.errors import CannotVerifyError
from greenloop_sandbox.container import fetch


def test_a_program_is_stopped_and_its_failure_is_returned():
    assert fetch.run_program([sys.executable, "-c", "print('the reason'); raise SystemExit(1)"], 30, bool) == (
        1,
        "the reason\n",
    )
    with pytest.raises(CannotVerifyError, match="was stopped"):
        fetch.run_program([sys.executable, "-c", "import time; time.sleep(60)"], 30, lambda: True)
    with pytest.raises(CannotVerifyError, match=r"took longer than 0\.5 s"):
        fetch.run_program([sys.executable, "-c", "import time; time.sleep(60)"], 0.5, bool)
    assert fetch.run_program([sys.executable, "-c", "print('fine')"], 30, bool) == (0, "fine\n")
