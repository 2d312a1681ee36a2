"""Calls the real git, with an identity and without the settings of whoever runs the tests."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path


def git(root: Path, *words: str) -> str:
    identity = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "protocol.file.allow=always")
    environ = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environ |= {"GIT_CONFIG_GLOBAL": os.devnull}
    return subprocess.run(
        ["git", *identity, *words], cwd=root, check=True, capture_output=True, text=True, env=environ
    ).stdout.strip()


def commit_all(root: Path) -> None:
    """Puts a folder under git, with all its files in one commit."""
    git(root, "init", "-q")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "x")
