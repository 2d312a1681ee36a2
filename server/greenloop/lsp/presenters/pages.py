"""Writes read-only pages into the state folder; the editor opens them, or the user gets their path.

One file for each target and kind, so that the folder stays small. No page is ever written into the workspace.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import logging
import os
import re
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from greenloop.core.text.uris import uri_from_path
from greenloop.lsp.editor import Editor
from greenloop.lsp.presenters import page_text
from greenloop.lsp.presenters.notifications import name_cells
from greenloop.lsp.state import attempt_texts
from greenloop.lsp.state.run import Run
from greenloop.project.settings import state_folder

if TYPE_CHECKING:
    from greenloop.engine.doctor.report import DoctorFinding

log = logging.getLogger(__name__)

FILES = 200  # newest pages that are kept


class Pages:
    """The pages that this server opens."""

    def __init__(self, editor: Editor) -> None:
        self._client, self._documents = editor.client, editor.documents

    async def open_attempts(self, runs: Sequence[Run]) -> None:
        """Opens a page with all attempts of one run, or of several runs."""
        if len(runs) == 1:
            file = _file(runs[0])
        else:
            file = _named(Path(runs[0].uri).stem, *sorted({run.target.selector for run in runs}), str(runs[0].root))
        await self._open(file, await self.attempts(runs), "The attempts are in")

    async def attempts(self, runs: Sequence[Run]) -> str:
        """All attempts of these runs as Markdown; a notebook's lines are named as rows of its cells.

        Diffs of long files take a second, so they are made in a thread.
        """
        text = await asyncio.to_thread(page_text.attempts_page, runs)
        for run in runs:
            text = name_cells(self._documents, run, text)
        return text

    async def open_comparison(self, run: Run, number: int) -> None:
        """Opens a page with the change that an attempt would make to the current text."""
        attempt = next(attempt for attempt in run.attempts if attempt.number == number)
        texts = await attempt_texts.current_texts(self._documents, run, attempt)
        text = await asyncio.to_thread(page_text.comparison_page, run, attempt, texts)
        await self._open(_file(run, "compared"), name_cells(self._documents, run, text), "The comparison is in")

    async def open_findings(self, root: Path | None, rows: list[DoctorFinding]) -> None:
        """Opens a page with the doctor's findings about a folder, or about the machine where none is open."""
        await self._open(_named("doctor", str(root or "")), page_text.doctor_page(rows), "The findings are in")

    async def open_result(self, run: Run, diff: str) -> tuple[bool, Path | None]:
        """Opens a page with a result's change: whether the editor did, and the page's path (None: not written)."""
        page = await _write(_file(run, "result"), name_cells(self._documents, run, page_text.result_page(run, diff)))
        return page is not None and await self._client.show_document(uri_from_path(page)), page

    async def _open(self, file: str, text: str, otherwise: str) -> None:
        """Opens a page; an editor that cannot gets the sentence `otherwise` with its path."""
        page = await _write(file, text)
        if page is None:
            self._client.show_message(
                f"The page cannot be written to {state_folder()}. Free some space there, or make it writable."
            )
        elif not await self._client.show_document(uri_from_path(page)):
            self._client.show_message(f"{otherwise} {page}")


def _file(run: Run, kind: str = "") -> str:
    return _named(run.name, run.target.selector, str(run.root), kind=kind)


def _named(name: str, *key: str, kind: str = "") -> str:
    digest = hashlib.sha256("\0".join(key).encode()).hexdigest()[:12]
    return "-".join(filter(None, [re.sub(r"[^A-Za-z0-9_]+", "-", name)[:40], digest, kind])) + ".md"


async def _write(name: str, text: str) -> Path | None:
    try:
        return await asyncio.to_thread(_write_file, name, text)
    except OSError as error:
        log.warning("A page could not be written: %s", error.strerror)
        return None


def _write_file(name: str, text: str) -> Path:
    folder = state_folder() / "reports"
    folder.mkdir(exist_ok=True, mode=0o700)
    path, temporary = folder / name, folder / f".{uuid.uuid4()}"
    try:
        temporary.write_text(text, encoding="utf-8", errors="replace")
        temporary.chmod(0o400)
        if os.name == "nt" and path.exists():
            # Windows cannot replace a read-only file.
            path.chmod(0o600)
        temporary.replace(path)
    except OSError:
        # A full disk must not also keep half a page.
        temporary.unlink(missing_ok=True)
        raise
    with contextlib.suppress(OSError):
        pages = sorted(folder.glob("*.md"), key=lambda page: page.stat().st_mtime, reverse=True)
        for old in pages[FILES:]:
            old.unlink()
    return path
