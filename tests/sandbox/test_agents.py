"""Agents that others wrote, and random ones, with `greenloop mcp`."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import agent_story
from agent_calls import DOUBLE
from mcp_project import project, variables

__all__ = ["project"]
ROOT = Path(__file__).parents[2]
pytestmark = [pytest.mark.needs("bubblewrap"), pytest.mark.timeout(360)]


@pytest.mark.needs("opencode")
@pytest.mark.story("an agent's faked pass is refused, and a real one is verified")
async def test_opencode_is_refused_until_the_pass_is_real(tmp_path):
    events = await agent_story.run(tmp_path)
    verified = [result for tool, _, result in agent_story.tool_calls(events) if tool == "greenloop_verify"]
    assert [each["state"] for each in verified] == ["still_failing", "tampered", "verified"]
    assert [each["verified"] for each in verified] == [False, False, True]
    assert agent_story.tell(events) in (ROOT / "docs" / "agents.md").read_text(encoding="utf-8")


@pytest.mark.needs("inspector")
def test_the_inspector_lists_the_tools_and_calls_them(project):
    def ask(*words: str) -> Any:
        program = [
            "mcp-inspector",
            "--cli",
            str(Path(sys.executable).with_name("greenloop")),
            "mcp",
            "--method",
            *words,
        ]
        # Newer ones exit with 5 where a tool tells an error.
        done = subprocess.run(
            program, cwd=project, env=variables(project), capture_output=True, text=True, timeout=120, check=False
        )
        assert done.stdout, done.stderr
        return json.loads(done.stdout)

    def call(tool: str, *arguments: str) -> Any:
        return ask("tools/call", "--tool-name", tool, *(word for each in arguments for word in ("--tool-arg", each)))

    tools = {each["name"] for each in ask("tools/list")["tools"]}
    assert tools == {"verify", "run_tests", "explain", "refine", "history", "doctor"}
    assert call("run_tests")["structuredContent"]["passed"] == 1
    told = call("explain", f"target={DOUBLE}")["structuredContent"]
    assert told["suspects"][0]["name"] == "double"
    assert call("verify", f'targets=["{DOUBLE}"]')["structuredContent"]["state"] == "still_failing"
    assert call("verify", "target=x")["isError"]


def test_random_agents():
    """Each call gets one clear answer, and nothing is left behind; `make soak` has a thousand calls."""
    done = subprocess.run(
        [sys.executable, ROOT / "tests" / "support" / "agent_chaos.py", "--seed", "random", "--calls", "40"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert json.loads(done.stdout)["calls"] == 40
