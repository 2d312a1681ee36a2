"""Runs a project's suite on the host, as the user runs it, for lab/benchmarks/parity.py."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from greenloop_sandbox import Execution

HERE = Path(__file__).resolve().parent


def run_on_host(
    folder: Path,
    seconds: float,
    scratch: Path,
    python: Path | None = None,
    select: Sequence[str] = (),
    *,
    has_manage: bool = False,
) -> tuple[Execution, float]:
    """The suite as the user runs it in an activated environment, read by the same reader as the sandbox's report.

    `python` is the environment's, `.venv`'s where none is named; `scratch` is a folder outside the project.
    `has_manage`: it runs as `manage.py test`, not with pytest.
    """
    python = python or folder / ".venv" / "bin" / "python"
    plugin = scratch / "recorder"
    plugin.mkdir(exist_ok=True)
    for name in ("parity_recorder.py", "parity_django.py"):
        shutil.copy(HERE / name, plugin)
    pytest = ["-m", "pytest", "--continue-on-collection-errors", *select]
    manage = ["manage.py", "test", "--noinput", "--testrunner", "parity_django.Runner"]
    manage += [_django_label(folder, selector) for selector in select]
    out = plugin / "records.jsonl"
    out.unlink(missing_ok=True)
    began = time.monotonic()
    with tempfile.TemporaryFile() as output_file:
        process = subprocess.Popen(
            [python, *(manage if has_manage else pytest)],
            cwd=folder,
            env={
                **_user_environment(python),
                "PYTHONPATH": str(plugin),
                **({} if has_manage else {"PYTEST_PLUGINS": "parity_recorder"}),
                "GREENLOOP_PARITY_OUT": str(out),
                "PYTHONHASHSEED": "0",
            },
            stdin=subprocess.DEVNULL,
            stdout=output_file,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            status = process.wait(seconds)
        finally:  # also ends servers that a test started and did not end
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        output_file.seek(0)
        output = output_file.read().decode(errors="replace")
    seconds_taken = time.monotonic() - began
    text = out.read_text(encoding="utf-8") if out.exists() else ""
    if not text:
        raise RuntimeError(f"nothing was recorded on the host:\n{output[-1500:]}")
    return Execution(records=tuple(map(json.loads, text.splitlines())), status=status), seconds_taken


def _django_label(folder: Path, selector: str) -> str:
    """The folder as it is, a test's id as the dotted name below the folder from which its package is imported."""
    path, *names = selector.split("::")
    if not names:
        return selector
    parts = list(Path(path).with_suffix("").parts)
    while len(parts) > 1 and not (folder / parts[0] / "__init__.py").exists():
        folder /= parts.pop(0)
    return ".".join([*parts, *names])


def _user_environment(python: Path) -> dict[str, str]:
    """The user's variables with the environment activated, without what belongs to this run."""
    ours = {"PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "PYTHONDONTWRITEBYTECODE"}
    kept = {name: value for name, value in os.environ.items() if name not in ours}
    return {**kept, "VIRTUAL_ENV": str(python.parents[1]), "PATH": f"{python.parent}:{os.environ['PATH']}"}
