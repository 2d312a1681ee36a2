"""The stop hooks that `greenloop setup CLIENT --gate` installs, run as each client's documentation says that it runs them.

The clients themselves are not run: their documented input goes to the installed command, or for opencode to the plugin.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agent_calls import RIGHT, TEST, WRONG
from git_program import commit_all

FAKED = WRONG.replace("return x + 1", "return 10 if x == 5 else x + 1")
MOST_TOKENS = 400  # characters / 4, of an answer
FILES = {"m.py": WRONG, "test_m.py": TEST, "pytest.ini": "[pytest]\n"}
# Calls the plugin as opencode does, and prints the prompts that it sends.
PLAY = """
import { pathToFileURL } from "node:url"
const [file, directory, ...sessions] = process.argv.slice(2)
const { Greenloop } = await import(pathToFileURL(file))
const prompts = []
const prompt = async ({ body }) => void prompts.push(body.parts[0].text)
const plugin = await Greenloop({ client: { session: { prompt } }, directory })
for (const sessionID of sessions) {
  await plugin.event({ event: { type: "session.idle", properties: { sessionID } } })
  console.log(JSON.stringify(prompts.splice(0)))
}
"""


def documented_input(client: str, root: Path, *, again: bool) -> dict[str, Any]:
    """What the client hands its hook at the end of a turn; `again`: the agent goes on already because of the hook."""
    message = "All tests pass."
    claude = {
        "session_id": "abc123",
        "transcript_path": str(root / "transcript.jsonl"),
        "cwd": str(root),
        "permission_mode": "default",
        "hook_event_name": "Stop",
        "stop_hook_active": again,
    }
    return {
        "claude": claude,
        "codex": {**claude, "turn_id": "t1", "model": "m", "last_assistant_message": message},
        "gemini": {
            **{name: claude[name] for name in ("session_id", "transcript_path", "cwd", "stop_hook_active")},
            "hook_event_name": "AfterAgent",
            "timestamp": "2026-11-27T12:00:00.000Z",
            "prompt": "Make the tests pass.",
            "prompt_response": message,
        },
        # It does not say that the agent goes on already.
        "copilot": {
            "sessionId": "abc123",
            "timestamp": 1764244800000,
            "cwd": str(root),
            "transcriptPath": str(root / "events.jsonl"),
            "stopReason": "end_turn",
        },
        "opencode": {"type": "session.idle", "properties": {"sessionID": "abc123"}},
    }[client]


@dataclass
class Answer:
    """One run of a hook: its input, exit code, both outputs; `decision` and `text` are what the client makes of them."""

    given: dict[str, Any]
    code: int
    out: str
    err: str = ""
    decision: str = field(default="", init=False)
    text: str = field(default="", init=False)

    def __post_init__(self) -> None:
        said = json.loads(self.out) if self.out.startswith("{") else {}
        blocks = self.code == 2 or said.get("decision") == "block"
        self.text = said.get("reason") or said.get("systemMessage") or self.err.strip()
        self.decision = "goes on" if blocks else "stops, and the user is informed" if self.text else "stops"


class GateProject:
    """A project under git with a failing test, and the hook of one client installed in it."""

    def __init__(self, client: str, folder: Path, interpreter: str) -> None:
        self.client, self.root, self.folder = client, folder / "project", folder
        self.root.mkdir()
        self.environment = {
            **{name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ},
            "XDG_STATE_HOME": str(folder / "state"),
            "GREENLOOP_SANDBOX_KIND": "bubblewrap",
            "GREENLOOP_INTERPRETER": interpreter,
        }
        self.write(FILES)
        commit_all(self.root)
        made = self.type("setup", client, "--gate", "--write", "--yes")
        self.installed = Path(made.stdout.partition("Written: ")[2].splitlines()[0])
        # The user commits the hook: it is no part of what the agent changes.
        commit_all(self.root)

    def write(self, files: dict[str, str]) -> None:
        for name, text in files.items():
            (self.root / name).write_text(text)

    def type(self, *words: str) -> subprocess.CompletedProcess[str]:
        """A command line of greenloop that the agent or the user types."""
        command = [sys.executable, "-m", "greenloop", *words]
        return subprocess.run(
            command,
            cwd=self.root,
            env=self.environment,
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            check=False,
        )

    def end_turn(self, *, again: bool = False) -> Answer:
        """The agent wants to stop: the client runs its hook."""
        given = documented_input(self.client, self.root, again=again)
        if self.client == "opencode":
            return self._play_plugin(given, again=again)
        (hooks,) = json.loads(self.installed.read_text())["hooks"].values()
        hook = hooks[0].get("hooks", hooks)[0]
        command = ["bash", "-c", hook.get("command") or hook["bash"]]
        done = subprocess.run(
            command,
            cwd=self.root,
            env=self.environment,
            input=json.dumps(given),
            capture_output=True,
            text=True,
            check=False,
        )
        return Answer(given, done.returncode, done.stdout.strip(), done.stderr)

    def _play_plugin(self, given: dict[str, Any], *, again: bool) -> Answer:
        script = self.folder / "play.mjs"
        script.write_text(PLAY)
        copy = self.folder / "greenloop.mjs"
        copy.write_text(self.installed.read_text())
        sessions = ["abc123"] * (2 if again else 1)
        command = ["node", str(script), str(copy), str(self.root), *sessions]
        done = subprocess.run(command, cwd=self.root, env=self.environment, capture_output=True, text=True, check=True)
        prompts = json.loads(done.stdout.splitlines()[-1])
        return Answer(given, 2 if prompts else 0, "", "".join(prompts))


def play(project: GateProject) -> list[tuple[str, Answer]]:
    """A turn with a faked pass, the end of it, and a turn with a real one."""
    project.write({"m.py": FAKED})
    refused = project.end_turn()
    again = project.end_turn(again=True)
    project.write({"m.py": RIGHT})
    return [("fakes the pass", refused), ("changes nothing more", again), ("does the work", project.end_turn())]


def play_honestly(project: GateProject) -> list[tuple[str, Answer]]:
    """Nothing to verify, a test that the user lets the agent change, and tests that contradict each other."""
    steps = [("has changed nothing", project.end_turn())]
    project.write({"test_m.py": TEST.replace("== 10", "== 6")})
    steps.append(("edits the test", project.end_turn()))
    why = "the user says that double(5) is 6"
    typed = project.type("verify", "--gate", "--allow-test-change", "test_m.py", "--because", why)
    assert typed.returncode == 0, typed.stderr
    steps.append(
        (f'types `greenloop verify --gate --allow-test-change test_m.py --because "{why}"`', project.end_turn())
    )
    project.write({"m.py": RIGHT.replace("return 1", "return 2"), "test_m.py": TEST})
    why = "the user wants one() to be 2, and test_one wants 1"
    assert project.type("stop", "--because", why).returncode == 0
    return [*steps, (f'types `greenloop stop --because "{why}"`', project.end_turn())]
