"""The tables of MBPP and the plots of docs/media are those that the recorded rows give."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
import plots

HOUSE = Path(__file__).resolve().parents[3]


def test_the_page_and_the_plots_are_up_to_date():
    command = [sys.executable, "lab/benchmarks/plots.py", "--check"]
    checked = subprocess.run(command, cwd=HOUSE, capture_output=True, text=True, check=False)
    assert checked.returncode == 0, f"run lab/benchmarks/plots.py\n{checked.stderr}"


def test_a_task_counts_in_both_arms_or_in_neither():
    arms = plots.by_arm(plots.read([plots.ROWS]))
    paired = plots.pair(arms[plots.CRITIC], arms[plots.ONCE])
    assert (paired.only_one, paired.only_other, paired.tasks) == (5, 25, 970)
    assert not {"mbpp-798", "mbpp-367", "mbpp-927"} & set().union(*arms.values())


def test_a_row_that_is_not_on_the_page_is_named():
    with pytest.raises(ValueError, match="no row 'no such family'"):
        plots.cells("### Repair\n| a | 1 |\n", "### Repair", "no such family")
