#!/usr/bin/env python3
"""Writes docs/troubleshooting.md: what can be in the way of a first run, and what greenloop prints then."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "support"))

from obstacles import HEAD, OBSTACLES, make_table, missing_part, run_obstacle  # noqa: E402 - only now can it be found


def main() -> int:
    """0: the page is written; 1: this machine cannot show every obstacle."""
    sentences = {}
    for name, obstacle in OBSTACLES.items():
        if missing := missing_part(obstacle):
            print(f"{name}: {missing}", file=sys.stderr)
            return 1
        with tempfile.TemporaryDirectory(prefix="greenloop-obstacle-") as temporary:
            Path(temporary).chmod(0o755)
            code, sentences[name] = run_obstacle(obstacle, Path(temporary))
        print(f"{name}: {code}, {sentences[name]}", file=sys.stderr)
    page = ROOT / "docs" / "troubleshooting.md"
    _table, heading, rest = page.read_text(encoding="utf-8").partition("\n## ")
    page.write_text(f"{HEAD}{make_table(sentences)}\n{heading}{rest}", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
