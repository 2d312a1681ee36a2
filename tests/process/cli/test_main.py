"""The command line as a process: a closed pipe, and what it imports."""

from __future__ import annotations

import subprocess
import sys

from fake_engine import CASE
from greenloop.cli.main import main


def test_export_into_a_closed_pipe_is_quiet(fake, project):
    for _ in range(3):
        main(["fix", CASE])
    command = f"{sys.executable} -m greenloop history export"
    done = subprocess.run(["sh", "-c", f"{command} | true"], capture_output=True, text=True, check=False)
    assert done.stderr == ""


def loaded(*words: str) -> set[str]:
    code = "import sys; from greenloop.cli.main import main; main(sys.argv[1:]); print('\\n'.join(sys.modules), file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, check=True)
    return set(done.stderr.split())


def test_the_version_loads_next_to_nothing(project):
    heavy = {
        "rich",
        "httpx",
        "litellm",
        "docker",
        "pygls",
        "psutil",
        "sqlite3",
        "asyncio",
        "tree_sitter",
        "greenloop.engine.refine",
    }
    assert not heavy & loaded("--version")


def test_fix_loads_neither_litellm_nor_docker_nor_pygls_by_itself(project):
    assert not {"litellm", "docker", "pygls", "lsprotocol"} & loaded("fix", "--help")
