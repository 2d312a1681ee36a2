#!/usr/bin/env python3
"""Measures how long the VS Code extension takes to activate, without the server, as VS Code itself reports it.

Every start is a new extension host of a real VS Code (fetched into vscode-client/.vscode-test where it is missing) with
the packaged extension; each opens a project with a test file. Needs Node.js, Chromium, and `npm ci` in vscode-client/.
Exits 1 where the 95th percentile is 300 ms or more.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

CLIENT = Path(__file__).resolve().parents[2] / "vscode-client"


def main() -> int:
    """The exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=10, help="starts (default: 10)")
    runs = parser.parse_args().runs
    environment = {**os.environ, "PYTHON": sys.executable}
    command = ["node", "scripts/activation.mjs", str(runs)]
    return subprocess.run(command, cwd=CLIENT, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
