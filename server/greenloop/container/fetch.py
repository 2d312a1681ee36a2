"""Wheels and source archives from the user's own index, fetched by pip on the host. Nothing is built here.

What a lock or a requirement file says about indexes is not passed on: pip's own configuration alone decides.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from greenloop.container.facts import Facts
from greenloop.container.program import Failed
from greenloop.core.errors import CannotVerify
from greenloop.locks import Pin
from greenloop.locks.pins import pin

Run = Callable[[list[str], float], str]
SECONDS = 900
_MISSING = re.compile(r"No matching distribution found for ([A-Za-z0-9][\w.-]*)")
_OTHER_HASH = re.compile(r"DO NOT MATCH THE HASHES[^\n]*\n\s+([\w.-]+==[\w.!+-]+)")
_UNREACHABLE = re.compile(
    r"(Temporary failure|Name or service|Connection refused|timed out|ProxyError|Max retries)[^\n]*"
)


class NoWheel(Exception):
    """The index has no wheel of this package for the image; `str()` is its name."""


@dataclass(frozen=True, kw_only=True)
class Fetcher:
    """`run` is as in `program.runner`; wheels that were made here and stand in for missing ones lie in `made`.

    pip works in `temporary`.
    """

    run: Run
    facts: Facts
    made: Path
    temporary: Path

    def resolve(self, requirements: Sequence[str], constraints: Sequence[str], folder: Path) -> list[Pin]:
        """The exact packages that fit, with their hashes. Raises `NoWheel`, and `CannotVerify` when none do."""
        report, wanted, bounds = folder / "report.json", folder / "wanted.txt", folder / "bounds.txt"
        wanted.write_text("\n".join(requirements) + "\n", encoding="utf-8")
        bounds.write_text("\n".join(constraints) + "\n", encoding="utf-8")
        try:
            self._pip(
                "install", "--dry-run", "--ignore-installed", f"--report={report}", f"--target={folder / 'target'}",
                f"--constraint={bounds}", *self._wheels_only(), f"--requirement={wanted}",
            )  # fmt: skip
        except Failed as problem:
            raise CannotVerify(_with_lines(str(problem), requirements), remedy=problem.remedy) from problem
        found = []
        for item in json.loads(report.read_text(encoding="utf-8"))["install"]:
            hashes = item["download_info"].get("archive_info", {}).get("hashes", {})
            about = item["metadata"]
            found.append(pin(about["name"], about["version"], [f"sha256:{hashes['sha256']}"] if hashes else []))
        return sorted(found)

    def wheels(self, pins: Sequence[Pin], folder: Path) -> list[Path]:
        """Exactly these packages' wheels. Raises `NoWheel`, and `CannotVerify` when they cannot be had."""
        wanted = folder / "exact.txt"
        wanted.write_text("".join(f"{one}\n" for one in pins), encoding="utf-8")
        hashed = ["--require-hashes"] if pins and all(one.hashes for one in pins) else []
        self._pip("download", "--no-deps", *hashed, *self._wheels_only(), f"--dest={folder}", f"--requirement={wanted}")
        return sorted(folder.glob("*.whl"))

    def source(self, wanted: Pin | str) -> Path:
        """A package's unpacked source: of the pin, or the newest of that name.

        pip does not leave it at that: it goes on to ask the package for its metadata and is kept from it, so its
        failure is expected, and the source lies in its temporary folder. Raises `CannotVerify` when it does not.
        """
        name = wanted.name if isinstance(wanted, Pin) else re.split(r"[^\w.-]", wanted)[0]
        file = self.temporary / "source.txt"
        file.write_text(f"{wanted}\n", encoding="utf-8")
        before, said = self._sources(), ""
        try:
            self._pip(
                "download", "--no-deps", "--no-clean", "--no-build-isolation", f"--no-binary={name}",
                f"--dest={self.temporary}", f"--requirement={file}",
            )  # fmt: skip
        except (Failed, NoWheel) as problem:
            said = str(problem)
        found = sorted(self._sources() - before)
        if not found:
            title = str(wanted).split(" ", maxsplit=1)[0]
            raise CannotVerify(
                f"{title} has no wheel for Python {self.facts.version} and no source on your package index.",
                remedy=f"Look at pip's configuration ({said[:200]}), or name an image in `sandbox.image`.",
            )
        return found[0]

    def _sources(self) -> set[Path]:
        """Folders in which pip has unpacked a source."""
        marks = ("pyproject.toml", "setup.py")
        return {mark.parent for name in marks for mark in self.temporary.glob(f"pip-*/*/{name}")}

    def _wheels_only(self) -> list[str]:
        platforms = [f"--platform={name}" for name in self.facts.platforms()]
        made = [f"--find-links={self.made}"] if any(self.made.glob("*.whl")) else []
        return [
            "--only-binary=:all:", "--implementation=cp", f"--python-version={self.facts.version}", *platforms, *made
        ]  # fmt: skip

    def _pip(self, *arguments: str) -> str:
        guard = json.dumps({"markers": dict(self.facts.markers), "temporary": str(self.temporary)})
        program = [sys.executable, "-P", str(Path(__file__).with_name("guarded_pip.py")), guard]
        try:
            return self.run([*program, *arguments, "--disable-pip-version-check", "--no-input"], SECONDS)
        except Failed as problem:
            raise _explained(problem) from problem


def _explained(problem: Failed) -> Exception:
    text = problem.output
    unreachable = _UNREACHABLE.search(text)
    if unreachable:
        return CannotVerify(
            f"Your package index cannot be reached ({unreachable[0][:150]}), so the project's packages cannot be had.",
            remedy="Connect, or name an image that has them in `sandbox.image`.",
        )
    missing = _MISSING.search(text)
    if missing:
        return NoWheel(re.split(r"[=<>!~\[]", missing[1])[0])
    other = _OTHER_HASH.search(text)
    if other:
        return CannotVerify(
            f"What your package index has as {other[1]} is not what was locked: its hash is another.",
            remedy="Lock anew if that is expected, or look at pip's configuration.",
        )
    lines = [line.strip() for line in text.splitlines() if line.strip()] or ["no output"]
    why = next((line for line in lines if line.startswith("ERROR: ")), lines[-1])
    failed = Failed(
        f"The project's packages cannot be had: {why.removeprefix('ERROR: ')[:300]}",
        remedy="Mend what describes them, or name an image that has them in `sandbox.image`.",
    )
    failed.output = text
    return failed


def _with_lines(text: str, requirements: Sequence[str]) -> str:
    """Lines of the file that pip was given become what stands in them."""
    return re.sub(r"-r \S+ \(line (\d+)\)", lambda found: requirements[int(found[1]) - 1], text)
