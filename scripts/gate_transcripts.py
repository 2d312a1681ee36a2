#!/usr/bin/env python3
"""Writes the transcripts of docs/gates.md: the stop hook of each client, fed with its documented input."""

from __future__ import annotations

import json
import re
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "support"))

import gate_clients  # noqa: E402
from greenloop.plugins.setup.editors import GATES  # noqa: E402

PAGE = ROOT / "docs" / "gates.md"
PLACE = re.compile(r"(?<=<!-- transcripts: begin -->\n).*(?=<!-- transcripts: end -->)", re.DOTALL)


def transcript(project: gate_clients.GateProject, steps: list[tuple[str, gate_clients.Answer]]) -> str:
    """The steps as a block of text, without the names of folders of this machine."""
    lines = []
    for did, answer in steps:
        lines += [f"agent  {did}, and ends its turn", f"hook   < {json.dumps(answer.given)}"]
        if project.client != "opencode":
            lines.append(f"       exit code {answer.code}")
        shown = answer.out if answer.out not in {"", "{}"} else answer.err.strip()
        lines += [f"       > {line}" for line in shown.splitlines()]
        lines += [f"client the agent {answer.decision}", ""]
    text = "\n".join(lines).replace(str(project.root), "/project")
    return f"```text\n{text.rstrip()}\n```\n"


def main() -> int:
    """The exit code."""
    parts = []
    with tempfile.TemporaryDirectory(prefix="greenloop-gate-") as temporary:
        folder = Path(temporary)
        folder.chmod(0o755)
        venv.create(folder / "venv")
        interpreter = str(folder / "venv/bin/python")
        for name in GATES:
            place = folder / name
            place.mkdir()
            project = gate_clients.GateProject(name, place, interpreter)
            file = project.installed.relative_to(project.root)
            place_of_hook = f"`{file.name}` in the folder `{file.parent}`"
            parts.append(f"## {name}\n\n`greenloop setup {name} --gate --write` writes the hook, {place_of_hook}.\n")
            parts.append(transcript(project, gate_clients.play(project)))
            print(name, flush=True)
        place = folder / "honest"
        place.mkdir()
        project = gate_clients.GateProject("claude", place, interpreter)
        parts.append("## Ways not to cheat\n\nThe same hook as for claude.\n")
        parts.append(transcript(project, gate_clients.play_honestly(project)))
    page = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(PLACE.sub(lambda _: "\n" + "\n".join(parts) + "\n", page), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
