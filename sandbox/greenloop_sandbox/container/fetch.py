"""Fetches wheels from the user's own index with pip on the host; builds nothing.

Index settings of a lock or requirement file are not passed on: only pip's own configuration decides.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from greenloop_sandbox.container.bounded_process import ProgramError
from greenloop_sandbox.container.image_python import ImagePython
from greenloop_sandbox.errors import CannotVerifyError
from greenloop_sandbox.locks import Pin
from greenloop_sandbox.locks.pins import make_pin

RunProgram = Callable[[list[str], float], str]
PIP_SECONDS = 900
_MISSING = re.compile(r"No matching distribution found for ([A-Za-z0-9][\w.-]*)")
_HASH_MISMATCH = re.compile(r"DO NOT MATCH THE HASHES[^\n]*\n\s+([\w.-]+==[\w.!+-]+)")
_UNREACHABLE = re.compile(
    r"(Temporary failure|Name or service|Connection refused|timed out|ProxyError|Max retries)[^\n]*"
)


@dataclass(frozen=True, kw_only=True)
class Fetcher:
    """Runs pip through `run_program` (see `bounded_process`), in `temporary_folder`."""

    run_program: RunProgram
    python: ImagePython
    temporary_folder: Path

    def resolve(self, requirements: Sequence[str], constraints: Sequence[str], folder: Path) -> list[Pin]:
        """Resolves requirements to exact pins with hashes.

        Raises `CannotVerifyError` when none fit.
        """
        report, requirement_file, constraint_file = folder / "report.json", folder / "wanted.txt", folder / "bounds.txt"
        requirement_file.write_text("\n".join(requirements) + "\n", encoding="utf-8")
        constraint_file.write_text("\n".join(constraints) + "\n", encoding="utf-8")
        try:
            self._run_pip(
                "install", "--dry-run", "--ignore-installed", f"--report={report}", f"--target={folder / 'target'}",
                f"--constraint={constraint_file}", *self._wheel_options(), f"--requirement={requirement_file}",
            )  # fmt: skip
        except ProgramError as problem:
            raise CannotVerifyError(_quote_requirements(str(problem), requirements), remedy=problem.remedy) from problem
        pins = []
        for item in json.loads(report.read_text(encoding="utf-8"))["install"]:
            hashes = item["download_info"].get("archive_info", {}).get("hashes", {})
            metadata = item["metadata"]
            pins.append(
                make_pin(metadata["name"], metadata["version"], [f"sha256:{hashes['sha256']}"] if hashes else [])
            )
        return sorted(pins)

    def fetch_wheels(self, pins: Sequence[Pin], folder: Path) -> list[Path]:
        """Fetches the wheels of exactly these pins. Raises `CannotVerifyError`."""
        requirement_file = folder / "exact.txt"
        requirement_file.write_text("".join(f"{pin}\n" for pin in pins), encoding="utf-8")
        hash_options = ["--require-hashes"] if pins and all(pin.hashes for pin in pins) else []
        self._run_pip(
            "download",
            "--no-deps",
            *hash_options,
            *self._wheel_options(),
            f"--dest={folder}",
            f"--requirement={requirement_file}",
        )
        return sorted(folder.glob("*.whl"))

    def _wheel_options(self) -> list[str]:
        platforms = [f"--platform={name}" for name in self.python.platforms()]
        return ["--only-binary=:all:", "--implementation=cp", f"--python-version={self.python.version}", *platforms]

    def _run_pip(self, *arguments: str) -> str:
        guard = json.dumps({"markers": dict(self.python.markers), "temporary": str(self.temporary_folder)})
        program = [sys.executable, "-P", str(Path(__file__).with_name("guarded_pip.py")), guard]
        try:
            return self.run_program([*program, *arguments, "--disable-pip-version-check", "--no-input"], PIP_SECONDS)
        except ProgramError as problem:
            raise _explain(problem) from problem


def _explain(problem: ProgramError) -> Exception:
    text = problem.output
    unreachable = _UNREACHABLE.search(text)
    if unreachable:
        return CannotVerifyError(
            f"Your package index cannot be reached ({unreachable[0][:150]}), so the packages cannot be fetched.",
            remedy="Connect, or set `sandbox.image` to an image that has them.",
        )
    missing = _MISSING.search(text)
    if missing:
        return CannotVerifyError(
            f"Your package index has no wheel of {re.split(r'[=<>!~[]', missing[1])[0]} that fits.",
            remedy="Use a version that has wheels, or set `sandbox.image` to an image that has it.",
        )
    mismatch = _HASH_MISMATCH.search(text)
    if mismatch:
        return CannotVerifyError(
            f"{mismatch[1]}: the file on your package index does not match the hash in the lock file.",
            remedy="Update the lock file if that is expected, or check pip's configuration.",
        )
    lines = [line.strip() for line in text.splitlines() if line.strip()] or ["no output"]
    reason = next((line for line in lines if line.startswith("ERROR: ")), lines[-1])
    error = ProgramError(
        f"The project's packages cannot be fetched: {reason.removeprefix('ERROR: ')[:300]}",
        remedy="Fix the requirements, or set `sandbox.image` to an image that has them.",
    )
    error.output = text
    return error


def _quote_requirements(text: str, requirements: Sequence[str]) -> str:
    """Replaces references to lines of the requirement file by the requirements on those lines."""
    return re.sub(r"-r \S+ \(line (\d+)\)", lambda match: requirements[int(match[1]) - 1], text)
