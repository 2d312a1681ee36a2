"""Complexity, beside ruff's."""

from __future__ import annotations

import ast
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from greenloop.plugins.requirements import metrics

BRANCHY = """
def f(x):
    try:
        for i in x:
            while i:
                if i > 3:
                    i -= 1
                elif i > 2:
                    i -= 2
                else:
                    break
            else:
                pass
    except ValueError:
        return 1
    except TypeError:
        return 2
    else:
        x = [a for a in x if a and x or a]
    finally:
        pass
    with open("x") as y:
        match y:
            case 1:
                return 1
            case 2 if x:
                return 2
            case _:
                return 3
    class C:
        z = 1
        def m(self):
            if self:
                return 1
    def inner():
        return 1 if x else 2
    return lambda: 1
"""


@pytest.mark.skipif(not (Path(sys.executable).parent / "ruff").exists() and not shutil.which("ruff"), reason="no ruff")
def test_complexity_is_counted_as_ruff_counts_it():
    node = ast.parse(BRANCHY).body[0]
    own = Path(sys.executable).parent / "ruff"
    told = subprocess.run(
        [str(own) if own.exists() else "ruff", "check", "--isolated", "--no-cache", "--select", "C901", "--config",
         "lint.mccabe.max-complexity=1", "--output-format", "json", "-"],
        input=BRANCHY, capture_output=True, text=True, check=False,
    )  # fmt: skip
    messages = [each["message"] for each in json.loads(told.stdout) if each["message"].startswith("`f`")]
    assert messages == [f"`f` is too complex ({metrics.complexity(node)} > 1)"]
