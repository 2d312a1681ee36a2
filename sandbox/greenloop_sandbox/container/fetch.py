"""Fetches wheels from the user's own index with pip on the host; builds nothing.

Index settings of a lock or requirement file are not passed on: only pip's own configuration decides.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from greenloop_sandbox.container.image_python import ImagePython
from greenloop_sandbox.errors import CannotVerifyError

PIP_SECONDS = 900
_MISSING = re.compile(r"No matching distribution found for ([A-Za-z0-9][\w.-]*)")
_HASH_MISMATCH = re.compile(r"DO NOT MATCH THE HASHES[^\n]*\n\s+([\w.-]+==[\w.!+-]+)")
_UNREACHABLE = re.compile(
    r"(Temporary failure|Name or service|Connection refused|timed out|ProxyError|Max retries)[^\n]*"
)


@dataclass(frozen=True, kw_only=True)
class Fetcher:
    """Fetches wheels that fit the Python of an image. `should_stop()` true ends it within a second."""

    python: ImagePython
    should_stop: Callable[[], bool] = bool

    def fetch(self, folder: Path, requirements: Sequence[str], *options: str) -> list[Path]:
        """Fetches the wheels of these lines of a requirement file into a new folder, with `options` of `pip download`.

        Raises `CannotVerifyError` when there are none that fit.
        """
        folder.mkdir()
        file = folder / "requirements.txt"
        file.write_text("".join(f"{line}\n" for line in requirements), encoding="utf-8")
        settings = {"markers": dict(self.python.markers), "temporary": str(folder)}
        command = [
            sys.executable, "-P", str(Path(__file__).with_name("guarded_pip.py")), json.dumps(settings),
            "download", "--disable-pip-version-check", "--no-input", f"--dest={folder}", f"--requirement={file}",
            "--only-binary=:all:", "--implementation=cp", f"--python-version={self.python.version}",
            *(f"--platform={name}" for name in self.python.platforms()), *options,
        ]  # fmt: skip
        status, output = run_program(command, PIP_SECONDS, self.should_stop)
        if status:
            raise explain(output, requirements)
        return sorted(folder.glob("*.whl"))


def run_program(arguments: Sequence[str], seconds: float, should_stop: Callable[[], bool]) -> tuple[int, str]:
    """Runs a program; returns its status and output. Raises `CannotVerifyError` if it is stopped or takes too long."""
    deadline = time.monotonic() + seconds
    with subprocess.Popen(
        arguments,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    ) as process:
        while True:
            try:
                output = process.communicate(timeout=0.5)[0].decode("utf-8", "replace")
            except subprocess.TimeoutExpired:
                if should_stop() or time.monotonic() >= deadline:
                    process.kill()
                    process.communicate()
                    reason = "was stopped" if should_stop() else f"took longer than {seconds:g} s"
                    raise CannotVerifyError(f"Fetching packages {reason}.") from None
            else:
                return process.returncode, output


def explain(output: str, requirements: Sequence[str] = ()) -> CannotVerifyError:
    """The error that the output of a failed pip means; it refers to lines of the requirement file by their number."""
    if unreachable := _UNREACHABLE.search(output):
        return CannotVerifyError(
            f"Your package index cannot be reached ({unreachable[0][:150]}), so the packages cannot be fetched.",
            remedy="Connect, or set `sandbox.image` to an image that has them.",
        )
    if missing := _MISSING.search(output):
        return CannotVerifyError(
            f"Your package index has no wheel of {re.split(r'[=<>!~[]', missing[1])[0]} that fits.",
            remedy="Use a version that has wheels, or set `sandbox.image` to an image that has it.",
        )
    if mismatch := _HASH_MISMATCH.search(output):
        return CannotVerifyError(
            f"{mismatch[1]}: the file on your package index does not match the hash in the lock file.",
            remedy="Update the lock file if that is expected, or check pip's configuration.",
        )
    lines = [line.strip() for line in output.splitlines() if line.strip()] or ["no output"]
    reason = next((line for line in lines if line.startswith("ERROR: ")), lines[-1])
    named = re.sub(r"-r \S+ \(line (\d+)\)", lambda match: requirements[int(match[1]) - 1].split(" --hash")[0], reason)
    return CannotVerifyError(
        f"The project's packages cannot be fetched: {named.removeprefix('ERROR: ')[:300]}",
        remedy="Fix the requirements, or set `sandbox.image` to an image that has them.",
    )
