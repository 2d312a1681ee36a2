"""Ruff's rules as constraints."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from greenloop.core.errors import SettingsError
from spec_problem import PASSED, TEXT, judge_text

ruff = pytest.mark.skipif(not (Path(sys.executable).parent / "ruff").exists(), reason="no ruff beside this Python")


@ruff
async def test_ruffs_rules_count_for_what_is_new_only(tmp_path):
    own = "import sys\n\n\ndef g():\n    unused = 1\n\n\n" + TEXT
    new = own.replace("    raise NotImplementedError", "    other = 1\n    return x")
    result = (await judge_text(tmp_path, new, PASSED, own=own, constraints=["ruff F"])).cases[-1]
    assert result.failure.message == "F841: Local variable `other` is assigned to but never used."
    assert [frame.line for frame in result.failure.frames] == [10]
    good = own.replace("raise NotImplementedError", "return x")
    assert (await judge_text(tmp_path, good, PASSED, own=own, constraints=["ruff F"])).cases[-1].passed


@ruff
async def test_a_rule_that_ruff_does_not_know_is_named(tmp_path):
    with pytest.raises(SettingsError, match="'ruff QQ9' cannot be checked by ruff: .*QQ9"):
        await judge_text(tmp_path, TEXT, PASSED, constraints=["ruff QQ9"])
    with pytest.raises(SettingsError, match="cannot be checked by ruff"):
        await judge_text(tmp_path, TEXT, PASSED, constraints=["ruff --fix"])
