"""Formats new code with the formatter that the project configures: ruff or black.

Only code that greenloop wrote passes through here. A program inside the workspace is never started.
"""

from __future__ import annotations

import ast
import os
import re
import subprocess
import tomllib
from pathlib import Path, PurePosixPath

from greenloop.core.python.ast_source import dump_tree, parse_module, parse_module_strictly
from greenloop.project import sources
from greenloop.project.environment.programs import find_tool

SECONDS = 10.0  # time limit of the formatter


def configured_formatter(root: Path, path: str) -> str:
    """The formatter that the nearest configuration above a file of the workspace names; "" without one."""
    for folder in PurePosixPath(path).parents:
        try:
            tables = {**tomllib.loads(sources.read_text(root, str(folder / "pyproject.toml")) or "").get("tool", {})}
        except (tomllib.TOMLDecodeError, TypeError):
            tables = {}
        hooks = sources.read_text(root, str(folder / ".pre-commit-config.yaml")) or ""
        if "black" in tables or re.search(r"\bid:\s*black\b", hooks):
            return "black"
        ruff_files = (sources.read_text(root, str(folder / name)) for name in (".ruff.toml", "ruff.toml"))
        if (
            "ruff" in tables
            or re.search(r"\bid:\s*ruff-format\b", hooks)
            or any(text is not None for text in ruff_files)
        ):
            return "ruff"
    return ""


def format_code(code: str, root: Path, path: str, seconds: float = SECONDS) -> str:
    """The code as the project's formatter lays it out in the file `path`; unchanged where that is not possible."""
    name = configured_formatter(root, path)
    tool = find_tool(name, root) if name else None
    if tool is None:
        return code
    words = ["format", "--no-cache", "--force-exclude"] if name == "ruff" else []
    try:
        completed = subprocess.run(
            [tool, *words, "--quiet", "--stdin-filename", str(root / path), "-"],
            input=code.encode(),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=seconds,
            cwd=Path(tool).parent,  # not the workspace, whose modules a Python program might import
            env={key: value for key, value in os.environ.items() if not key.startswith("PYTHON")},
            check=True,
        )
        formatted = completed.stdout.decode()
    except (OSError, subprocess.SubprocessError, ValueError):
        return code
    module = parse_module(formatted)
    is_same = isinstance(module, ast.Module) and dump_tree(module) == dump_tree(parse_module_strictly(code))
    return formatted if is_same else code
