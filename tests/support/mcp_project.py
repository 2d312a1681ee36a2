"""A project with a failing test, and a client of `greenloop mcp` in it: that of the protocol's official library."""

import os
import sys
from pathlib import Path

import mcp_types as types
import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from agent_calls import TEST, WRONG
from git_program import commit_all

SERVER = Path(__file__).parents[2] / "server"


@pytest.fixture
def project(tmp_path):
    root = tmp_path / "project"
    root.mkdir()
    (root / "m.py").write_text(WRONG)
    (root / "test_m.py").write_text(TEST)
    (root / "pytest.ini").write_text("[pytest]\n")
    commit_all(root)
    return root


def parameters(root, *more):
    words = ["-m", "greenloop", "mcp", "--root", str(root), "--sandbox", "bubblewrap"]
    words += ["--set", f"interpreter={os.environ['GREENLOOP_INTERPRETER']}", *more]
    return StdioServerParameters(command=sys.executable, args=words, env=variables(root))


def variables(root):
    home = root.parent / "home"
    home.mkdir(exist_ok=True)
    state = {"HOME": str(home), "XDG_STATE_HOME": str(home / "state")}
    return {"PATH": os.environ["PATH"], "PYTHONPATH": str(SERVER), **state}


def connect(root, mode="legacy", **callbacks):
    return Client(stdio_client(parameters(root)), mode=mode, **callbacks)


async def call(client, name, **arguments):
    result = await client.call_tool(name, arguments)
    assert not result.is_error, result.content
    assert result.structured_content is not None
    return result.structured_content


async def refuse(client, name, **arguments):
    """The sentence with which a call is refused."""
    result = await client.call_tool(name, arguments)
    assert result.is_error
    (content,) = result.content
    assert isinstance(content, types.TextContent)
    return content.text
