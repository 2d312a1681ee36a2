"""Lists the coding agents that greenloop connects to by the Model Context Protocol, and the rules for them."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from greenloop.cli import snippets
from greenloop.cli.editors import EditorSetup

RULES = """\
## Tests

- Before you say that tests pass, verify it: the MCP tool `verify`, or `greenloop verify --gate`. Only "verified": true,
  or the exit code 0, counts. Tests and configuration of the last commit decide, whatever you changed.
- Never edit, skip or delete a test to make it pass; that is named, and not verified. If a test has to change, ask the
  user, and give their reason: `allow_test_changes` with `because`, or `--allow-test-change PATH --because TEXT`.
- For a failing test, `explain` says which functions and lines are most suspicious; `refine`, or
  `greenloop fix TEST`, finds a change that makes it pass, and proves it.
"""


def _servers(key: str, **more: str) -> Callable[[Sequence[str]], str]:
    def snippet(argv: Sequence[str]) -> str:
        server: dict[str, Any] = {**more, "command": argv[0], "args": [*argv[1:]]}
        return snippets.as_json({key: {"greenloop": server}})

    return snippet


def _opencode(argv: Sequence[str]) -> str:
    server = {"type": "local", "command": list(argv), "enabled": True, "timeout": 600_000}  # milliseconds
    return snippets.as_json({"mcp": {"greenloop": server}})


def _toml(argv: Sequence[str]) -> str:
    words = ", ".join(map(json.dumps, argv[1:]))
    return f"[mcp_servers.greenloop]\ncommand = {json.dumps(argv[0])}\nargs = [{words}]\n"


def _goose(argv: Sequence[str]) -> str:
    words = "".join(f"      - {json.dumps(word)}\n" for word in argv[1:])
    head = "extensions:\n  greenloop:\n    type: stdio\n    enabled: true\n    timeout: 600\n"
    return f"{head}    cmd: {json.dumps(argv[0])}\n    args:\n{words}"


AGENTS = {
    agent.name: agent
    for agent in (
        EditorSetup(
            name="agents",
            programs=(),
            snippet=lambda _argv: RULES,
            config_file=lambda: Path.cwd() / "AGENTS.md",
            next_step="Agents that read AGENTS.md follow these rules. `greenloop setup claude`, `codex`, `cursor`, "
            "`goose`, `opencode` or `vscode-mcp` gives them the tools.",
        ),
        EditorSetup(
            name="claude",
            programs=("claude",),
            snippet=_servers("mcpServers"),
            config_file=lambda: Path.cwd() / ".mcp.json",
            next_step="Start Claude Code in this folder, and allow the server when it asks.",
            is_tested=False,
        ),
        EditorSetup(
            name="cursor",
            programs=("cursor",),
            snippet=_servers("mcpServers"),
            config_file=lambda: Path.cwd() / ".cursor" / "mcp.json",
            is_tested=False,
        ),
        EditorSetup(
            name="vscode-mcp",
            programs=("code",),
            snippet=_servers("servers", type="stdio"),
            config_file=lambda: Path.cwd() / ".vscode" / "mcp.json",
            is_tested=False,
        ),
        EditorSetup(
            name="codex",
            programs=("codex",),
            snippet=_toml,
            config_file=lambda: Path.home() / ".codex" / "config.toml",
            is_tested=False,
        ),
        EditorSetup(
            name="opencode", programs=("opencode",), snippet=_opencode, config_file=lambda: Path.cwd() / "opencode.json"
        ),
        EditorSetup(
            name="goose",
            programs=("goose",),
            snippet=_goose,
            next_step="The lines go into ~/.config/goose/config.yaml.",
            is_tested=False,
        ),
    )
}
