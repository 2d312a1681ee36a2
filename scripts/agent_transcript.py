#!/usr/bin/env python3
"""Writes a run of opencode with a scripted model into docs/agents.md. Needs opencode (npm install -g opencode-ai)."""

from __future__ import annotations

import asyncio
import re
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "support"))

import agent_story  # noqa: E402

PAGE = ROOT / "docs" / "agents.md"
PLACE = re.compile(r"(?<=<!-- transcript: begin -->\n```text\n).*?(?=```\n<!-- transcript: end -->)", re.DOTALL)


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="greenloop-agent-") as folder:
        Path(folder).chmod(0o755)
        told = agent_story.tell(asyncio.run(agent_story.run(Path(folder))))
    page = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(PLACE.sub(lambda _: told, page), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
