"""The table of scripts/breaks.py fits the product: what it replaces is there, once."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def _table():
    spec = importlib.util.spec_from_file_location("breaks", ROOT / "scripts" / "breaks.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module.BREAKS


BREAKS = _table()


def test_each_breaks_another_promise():
    assert len({break_.promise for break_ in BREAKS}) == len(BREAKS)


@pytest.mark.parametrize("break_", BREAKS, ids=lambda break_: break_.promise)
def test_a_break_can_be_applied_and_is_code(break_):
    broken = break_.apply_to((ROOT / break_.path).read_text(encoding="utf-8"))
    if break_.path.endswith(".py"):
        compile(broken, break_.path, "exec")
    assert (ROOT / break_.room).is_dir()
