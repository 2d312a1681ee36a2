"""Stop hooks of coding agents that call the gate, `greenloop verify --gate`; from the clients' documentation."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from pathlib import Path

from greenloop.cli import snippets
from greenloop.cli.editors import EditorSetup

SECONDS = 600  # that a client waits for the hook
TRUST = "The agent is told once a turn what is not verified, and goes on."


def _claude(argv: Sequence[str]) -> str:
    hook = {"type": "command", "command": shlex.join([*argv, "--gate", "--json"]), "timeout": SECONDS}
    return snippets.as_json({"hooks": {"Stop": [{"hooks": [hook]}]}})


def _gemini(argv: Sequence[str]) -> str:
    hook = {"type": "command", "command": shlex.join([*argv, "--gate"]), "timeout": 1000 * SECONDS}
    return snippets.as_json({"hooks": {"AfterAgent": [{"hooks": [hook]}]}})


def _copilot(argv: Sequence[str]) -> str:
    hook = {"type": "command", "bash": shlex.join([*argv, "--gate", "--json"]), "timeoutSec": SECONDS}
    return snippets.as_json({"version": 1, "hooks": {"agentStop": [hook]}})


def _opencode(argv: Sequence[str]) -> str:
    words = json.dumps([*argv, "--gate", "--json"])
    return f"""\
import {{ execFile }} from "node:child_process"

const [program, ...words] = {words}
const told = new Set()

export const Greenloop = async ({{ client, directory }}) => ({{
  event: async ({{ event }}) => {{
    if (event.type !== "session.idle") return
    const id = event.properties.sessionID
    if (told.delete(id)) return // it was told once
    const options = {{ cwd: directory }}
    const output = await new Promise((done) => {{
      execFile(program, words, options, (_error, out) => done(out)).stdin.end()
    }})
    const answer = JSON.parse(output || "{{}}")
    if (answer.decision !== "block") return
    told.add(id)
    await client.session.prompt({{ path: {{ id }}, body: {{ parts: [{{ type: "text", text: answer.reason }}] }} }})
  }},
}})
"""


GATES = {
    gate.name: gate
    for gate in (
        EditorSetup(
            name="claude",
            programs=("claude",),
            snippet=_claude,
            config_file=lambda: Path.cwd() / ".claude" / "settings.json",
            next_step=TRUST,
            is_tested=False,
        ),
        EditorSetup(
            name="codex",
            programs=("codex",),
            snippet=_claude,
            config_file=lambda: Path.cwd() / ".codex" / "hooks.json",
            next_step=f"{TRUST} Codex asks whether it may trust the hook.",
            is_tested=False,
        ),
        EditorSetup(
            name="gemini",
            programs=("gemini",),
            snippet=_gemini,
            config_file=lambda: Path.cwd() / ".gemini" / "settings.json",
            next_step=TRUST,
            is_tested=False,
        ),
        EditorSetup(
            name="copilot",
            programs=("copilot",),
            snippet=_copilot,
            config_file=lambda: Path.cwd() / ".github" / "hooks" / "greenloop.json",
            next_step=TRUST,
            is_tested=False,
        ),
        EditorSetup(
            name="opencode",
            programs=("opencode",),
            snippet=_opencode,
            config_file=lambda: Path.cwd() / ".opencode" / "plugins" / "greenloop.js",
            next_step=TRUST,
            is_tested=False,
        ),
    )
}
