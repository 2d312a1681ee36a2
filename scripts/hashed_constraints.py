#!/usr/bin/env python3
"""Writes vscode-client/constraints.txt: what greenloop[local,mcp] needs, with hashes, for every platform and Python.

The versions are those of constraints.txt; what only other platforms need is resolved. Needs `uv` on PATH (a package
of PyPI); run it when pyproject.toml or constraints.txt has changed.
tests/repository/test_hashed_constraints.py compares.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TARGET = ROOT / "vscode-client" / "constraints.txt"
COMMAND = ["uv", "pip", "compile", "--quiet", "--universal", "--generate-hashes", "--no-header", "--no-annotate"]
HEAD = "# Written by scripts/hashed_constraints.py. For greenloop[local,mcp]; the extension installs these.\n"


def main() -> int:
    """The exit code of uv."""
    wanted = [
        "--python-version",
        "3.11",
        "--extra",
        "local",
        "--extra",
        "mcp",
        "-c",
        "constraints.txt",
        "pyproject.toml",
    ]
    done = subprocess.run([*COMMAND, *wanted], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode == 0:
        TARGET.write_text(HEAD + done.stdout, encoding="utf-8")
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
