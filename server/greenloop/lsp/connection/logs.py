"""The server's log: on standard error, in its own file, and sent to the client once it is ready.

Nothing of the user's (source, prompts, keys) is logged above DEBUG, and no DEBUG record is ever sent to the client.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import re
import stat
import sys
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import Any

from greenloop import __version__
from greenloop.api.settings import state_folder
from greenloop.core.errors import UsageError

# A level's name; anything else means WARNING.
LOG_LEVEL_VARIABLE = "GREENLOOP_LOG"

FORMAT = "%(asctime)s %(levelname)s %(name)s: %(message)s"
SIZE = 1 << 20  # bytes of a log file; one older file is kept
FILES = 5  # files of ended servers that are kept
HELD = 200  # records that wait for the client

log = logging.getLogger(__name__)


def start(*, level: str = "", file: str = "") -> None:
    """Begins to log at a level (else that of the environment, else WARNING, and INFO in the file).

    `file` replaces the log file in the state folder. Raises `UsageError` where it cannot be written.
    """
    requested = level or os.environ.get(LOG_LEVEL_VARIABLE, "")
    number = logging.getLevelName(requested.upper())
    threshold = number if isinstance(number, int) else logging.WARNING
    console = logging.StreamHandler(sys.stderr)
    console.setLevel(threshold)
    handlers: list[logging.Handler] = [console, ToClient(max(threshold, logging.INFO))]
    try:
        # The file may hold more, because the user need not look at it.
        handlers.append(
            _File(Path(file).absolute() if file else _new_log_path(), threshold if requested else logging.INFO)
        )
    except OSError as error:
        if file:
            sentence = f"The log file {file} cannot be written: {error.strerror}."
            raise UsageError(sentence, remedy="Name another with --log-file.") from error
    for handler in handlers:
        handler.setFormatter(logging.Formatter(FORMAT) if threshold <= logging.DEBUG else _Brief(FORMAT))
    logging.basicConfig(level=min(threshold, logging.WARNING), handlers=handlers, force=True)
    for package in ("greenloop", "greenloop_sandbox"):
        logging.getLogger(package).setLevel(min(threshold, logging.INFO))
    logging.getLogger("pygls").setLevel(logging.WARNING if threshold > logging.DEBUG else logging.DEBUG)
    # Its warning about a cancelled request that was already answered is not a client's fault.
    late = "Cancel notification for unknown message id"
    logging.getLogger("pygls.protocol.json_rpc").addFilter(lambda record: not str(record.msg).startswith(late))
    log.info("greenloop %s, Python %s, process %d", __version__, sys.version.split()[0], os.getpid())


def path() -> Path | None:
    """The log file of this process; None where it could not be written."""
    return next((Path(each.baseFilename) for each in logging.getLogger().handlers if isinstance(each, _File)), None)


def connect(send: Callable[[int, str], None]) -> None:
    """Sends log records to the client from now on: calls `send` on this event loop with level and text."""
    for handler in logging.getLogger().handlers:
        if isinstance(handler, ToClient):
            handler.connect(asyncio.get_running_loop(), send)


class ToClient(logging.Handler):
    """Holds the newest records until the client is ready; sends them from any thread, but none that sending causes."""

    def __init__(self, level: int) -> None:
        super().__init__(level)
        self._held: deque[tuple[int, str]] = deque(maxlen=HELD)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._send: Callable[[int, str], None] = lambda _level, _text: None
        self._sending: int | None = None

    def connect(self, loop: asyncio.AbstractEventLoop, send: Callable[[int, str], None]) -> None:
        self._loop, self._send = loop, send
        loop.call_soon(self._flush)

    def emit(self, record: logging.LogRecord) -> None:
        is_own = record.name.startswith("greenloop")
        if self._sending == threading.get_ident() or (record.levelno < logging.WARNING and not is_own):
            return
        self._held.append((record.levelno, _format_for_client(record, is_own=is_own)))
        if self._loop is not None:
            with contextlib.suppress(RuntimeError):  # the loop is closed: the server has ended
                self._loop.call_soon_threadsafe(self._flush)

    def _flush(self) -> None:
        self._sending = threading.get_ident()
        try:
            while self._held:
                self._send(*self._held.popleft())
        except Exception:  # noqa: BLE001 - a failing log must not stop anything, and cannot be logged
            self._loop = None
        finally:
            self._sending = None


class _File(RotatingFileHandler):
    """A log file of bounded size that only its owner can read."""

    def __init__(self, path: Path, level: int) -> None:
        super().__init__(path, maxBytes=SIZE, backupCount=1, encoding="utf-8", errors="backslashreplace")
        self.setLevel(level)

    def _open(self) -> Any:
        descriptor = os.open(self.baseFilename, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        if hasattr(os, "fchmod") and stat.S_ISREG(os.fstat(descriptor).st_mode):
            # An existing file may have other permissions.
            os.fchmod(descriptor, 0o600)
        return os.fdopen(descriptor, "a", encoding="utf-8", errors=self.errors)


class _Brief(logging.Formatter):
    """Shortens pygls' messages, and exceptions to type and lines: the rest may quote source, a prompt or a key."""

    def format(self, record: logging.LogRecord) -> str:
        record = logging.makeLogRecord(record.__dict__)
        record.exc_text = None
        if record.name.startswith("pygls"):
            record.msg, record.args, record.exc_info = _outline(record), None, None
        return super().format(record)

    def formatException(self, ei: Any) -> str:  # noqa: N802 - the base class's name
        frames = [f"  {frame.filename}:{frame.lineno} in {frame.name}" for frame in traceback.extract_tb(ei[2])]
        return "\n".join([ei[0].__name__, *frames])


def _format_for_client(record: logging.LogRecord, *, is_own: bool) -> str:
    """A record as one line for the client."""
    kind = _kind(record)
    if is_own:
        return f"{record.name}: {record.getMessage()}" + (f" ({kind})" if kind else "")
    if record.name.startswith("pygls"):
        return f"{record.name}: {_outline(record)}"
    return f"{record.name}: {record.levelname.lower()}{f' ({kind})' if kind else ''}; greenloop.showLog opens the log."


def _outline(record: logging.LogRecord) -> str:
    """A pygls record without its arguments, which are whole messages (the user's source)."""
    text = re.sub(r"%[srd]", "…", str(record.msg)).split("\n")[0]
    return f"{text} {_kind(record)}".rstrip()


def _kind(record: logging.LogRecord) -> str:
    return record.exc_info[0].__name__ if record.exc_info and record.exc_info[0] else ""


def _new_log_path() -> Path:
    """The path of a new log file in the state folder; removes the oldest files of servers that ended."""
    folder = state_folder() / "logs"
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    ended = sorted(path for path in folder.glob("serve-*.log") if not _running(path))
    for path in ended[: max(len(ended) - FILES + 1, 0)]:
        for old in (path, path.with_name(path.name + ".1")):
            old.unlink(missing_ok=True)
    return folder / f"serve-{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}.log"


def _running(path: Path) -> bool:
    """True if the server that writes a file may still run."""
    number = path.stem.rsplit("-", 1)[-1]
    if os.name == "nt":
        return False  # Windows does not remove an open file anyway
    try:
        os.kill(int(number), 0)
    except (ProcessLookupError, ValueError):
        return False
    except (OSError, OverflowError):
        return True
    return True
