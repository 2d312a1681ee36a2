"""The user's files as the client has them, with unsaved texts, where it lets them be read and written."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Sequence
from pathlib import Path

from acp.interfaces import Client
from acp.schema import ClientCapabilities, ReadTextFileResponse

from greenloop.api.result_files import KEPT_IN_HISTORY, FileChange, write_changes
from greenloop.core.errors import GreenloopError, WorkspaceError
from greenloop.core.text.encoding import declared_encoding, decode, encode
from greenloop.plugins.agents.acp.updates import SOON, with_timeout


class ClientFiles:
    """The files of one session's folder; paths are relative to it."""

    def __init__(self, client: Client, capabilities: ClientCapabilities | None, session_id: str, root: Path) -> None:
        files = capabilities.fs if capabilities is not None else None
        self._can_read = files is not None and bool(files.read_text_file)
        self._can_write = files is not None and bool(files.write_text_file)
        self._client, self._session_id, self._root = client, session_id, root

    async def read(self, path: str) -> bytes | None:
        """Returns the content that the file would have if it were saved now; None: there is no file."""
        disk = await asyncio.to_thread(_read_disk, self._root / path)
        text = await self._read_text(path)
        if text is None:
            return disk
        with contextlib.suppress(GreenloopError):
            saved, encoding = decode(disk) if disk is not None else ("", declared_encoding(text))
            return encode(_with_ends_of(saved, text), encoding)
        return text.encode("utf-8", "surrogatepass")

    async def unsaved(self, paths: Sequence[str]) -> dict[str, bytes]:
        """The texts of these files that differ from the disk."""
        if not self._can_read:
            return {}
        found = {}
        for path in dict.fromkeys(paths):
            data = await self.read(path)
            if data is not None and data != await asyncio.to_thread(_read_disk, self._root / path):
                found[path] = data
        return found

    async def write(self, changes: Sequence[FileChange]) -> None:
        """Writes all of the changes or none, each over the text that it was made for. Raises `WorkspaceError`."""
        for change in changes:
            if await self.read(change.path) != change.old:
                raise WorkspaceError(f"{change.path} changed in the meantime.", remedy=KEPT_IN_HISTORY)
        if not self._can_write:
            await asyncio.to_thread(write_changes, self._root, changes)
            return
        done: list[FileChange] = []
        for change in changes:
            done.append(change)
            if await self._write_text(change.path, change.new):
                continue
            for written in reversed(done):
                if written.old is not None:
                    await self._write_text(written.path, written.old)
            raise WorkspaceError(f"Your client did not write {change.path}.", remedy=KEPT_IN_HISTORY)

    async def _read_text(self, path: str) -> str | None:
        if not self._can_read:
            return None
        asked = self._client.read_text_file(session_id=self._session_id, path=str(self._root / path))
        reply = await with_timeout(asked, SOON)
        return reply.content if isinstance(reply, ReadTextFileResponse) else None

    async def _write_text(self, path: str, data: bytes) -> bool:
        """Has the client written it? Its reply alone proves nothing, where the file can be read."""
        text = decode(data)[0]

        async def write() -> bool:
            await self._client.write_text_file(session_id=self._session_id, path=str(self._root / path), content=text)
            return True

        return await with_timeout(write(), SOON) is True and (not self._can_read or await self.read(path) == data)


def _with_ends_of(saved: str, text: str) -> str:
    """The text with the line ends of the file, where the client gives lines: with line feeds, and none at the end."""
    if "\r\n" in saved and "\r" not in text:
        text = text.replace("\n", "\r\n")
    if saved.endswith("\n") and text and not text.endswith("\n"):
        text += "\r\n" if "\r\n" in saved else "\n"
    return text


def _read_disk(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None
