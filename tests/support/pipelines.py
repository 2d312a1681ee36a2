"""Stand-ins for the runners of GitHub and GitLab: enough to run the shell steps of ci/ as they would."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from wheels import make_wheel

HOUSE = Path(__file__).resolve().parents[2]
SERVER = HOUSE / "server"


@dataclass
class Ran:
    """How a job ended: the code of the step that failed (else 0), what it printed, and its outputs."""

    code: int = 0
    output: str = ""
    outputs: dict[str, str] = field(default_factory=dict)


def package(folder: Path) -> Path:
    """A wheel named greenloop whose program is this greenloop, so that a step may install it without a network."""
    folder.mkdir(parents=True, exist_ok=True)
    program = f"import os, sys\n\n\ndef main():\n    os.environ['PYTHONPATH'] = {str(SERVER)!r}\n    os.execv({sys.executable!r}, [{sys.executable!r}, '-m', 'greenloop', *sys.argv[1:]])\n"
    info = "greenloop-9.9.dist-info"
    return make_wheel(
        folder,
        {
            "greenloop_stand_in.py": program,
            f"{info}/METADATA": "Metadata-Version: 2.1\nName: greenloop\nVersion: 9.9\n",
            f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
            f"{info}/entry_points.txt": "[console_scripts]\ngreenloop = greenloop_stand_in:main\n",
            f"{info}/RECORD": "",
        },
        "greenloop-9.9-py3-none-any.whl",
    )


def environment(**more: str) -> dict[str, str]:
    """This environment, with the Python of these tests first on the path and without variables of git."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return {**kept, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", **more}


def run_action(
    action: Path, root: Path, temporary: Path, *, inputs: Mapping[str, str], context: Mapping[str, Any]
) -> Ran:
    """Runs the steps of a composite action in a workspace, until one fails."""
    temporary.mkdir(parents=True, exist_ok=True)
    definition = yaml.safe_load(action.read_text(encoding="utf-8"))
    unknown = set(inputs) - set(definition["inputs"])
    assert not unknown, unknown
    given = {name: inputs.get(name, each.get("default", "")) for name, each in definition["inputs"].items()}
    values: dict[str, Any] = {"inputs": given, "github": {"action_path": str(action.parent), **context}}
    ran = Ran()
    for step in definition["runs"]["steps"]:
        assert "${{" not in step["run"], "an expression in a script is code of whoever wrote its value"
        outputs = temporary / "outputs"
        outputs.write_text("")
        environ = {name: _expand(text, values) for name, text in step.get("env", {}).items()}
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
            cwd=root / _expand(step.get("working-directory", "."), values),
            env=environment(RUNNER_TEMP=str(temporary), GITHUB_OUTPUT=str(outputs), **environ),
            capture_output=True,
            text=True,
            check=False,
        )
        ran.output += done.stdout + done.stderr
        if "id" in step:
            found = dict(line.partition("=")[::2] for line in outputs.read_text().splitlines())
            values.setdefault("steps", {})[step["id"]] = {"outputs": found}
        if done.returncode:
            ran.code = done.returncode
            break
    ran.outputs = {name: _expand(each["value"], values) for name, each in definition["outputs"].items()}
    return ran


def _expand(text: str, values: Mapping[str, Any]) -> str:
    """The text with its `${{ a.b || c.d }}` replaced by the first value that is not empty."""

    def value(match: re.Match[str]) -> str:
        for alternative in match[1].split("||"):
            found: Any = values
            for part in alternative.strip().split("."):
                found = found.get(part, "") if isinstance(found, Mapping) else ""
            if found:
                return str(found)
        return ""

    return re.sub(r"\$\{\{(.*?)\}\}", value, text)


def run_gitlab_job(template: Path, name: str, root: Path, **variables: str) -> Ran:
    """Runs the script of a job with its variables; those given replace its own."""
    job = yaml.safe_load(template.read_text(encoding="utf-8"))[name]
    environ = environment(**{key: str(value) for key, value in job["variables"].items()} | variables)
    for key, value in environ.items():
        environ[key] = re.sub(r"^\$(\w+)$", lambda match: environ.get(match[1], ""), value)
    script = "set -e\n" + "\n".join(job["script"])
    done = subprocess.run(["sh", "-c", script], cwd=root, env=environ, capture_output=True, text=True, check=False)
    return Ran(code=done.returncode, output=done.stdout + done.stderr)
