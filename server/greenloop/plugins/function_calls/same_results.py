"""Compares two versions of a function by what they do; its text runs in the sandbox, next to the tests.

Standard library on Python 3.9. It must not import anything of greenloop.
"""

from __future__ import annotations

import asyncio
import contextlib
import copy
import functools
import gc
import importlib
import inspect
import io
import itertools
import math
import os
import random
import re
import signal
import sys
import threading
import time
import types
from collections.abc import Callable, Iterator
from typing import Any

MOST_SECONDS = 4.0  # of processor time for all made up inputs, and for all recorded calls
SOON = 0.01  # seconds
WAITING = 4  # times as much wall time, as the machine may be busy
MOST_ITEMS = 1000  # of an iterator
DEEPEST = 50
TOO_MUCH = ("too much",)
_ADDRESS = re.compile("0x[0-9a-f]+")
_DATA = (int, float, str, bytes, bytearray, list, dict, set, frozenset, tuple, type(None))


@functools.cache
def load_before(name: str, text: str) -> types.ModuleType:
    """Returns the module of this name as it was before, with `text` as its source; always the same one."""
    now = importlib.import_module(name)
    before = types.ModuleType(now.__name__)
    for key in ("__file__", "__package__", "__spec__", "__path__"):
        if hasattr(now, key):
            setattr(before, key, getattr(now, key))
    exec(compile(text, str(now.__file__), "exec"), before.__dict__)  # noqa: S102
    return before


COMPARED: list[bool] = []  # an item for each input or call that was
SKIPPED: list[bool] = []  # and for each that took too long, or came too late
LATE: list[bool] = []  # and for each that was ended, even if its own code caught the error
_BEGAN: list[tuple[float, float]] = []


def time_left() -> bool:
    """May more be compared? The time begins with the first question."""
    now = time.process_time(), time.monotonic()
    _BEGAN[:] = _BEGAN or [now]
    began = _BEGAN[0]
    return now[0] - began[0] < MOST_SECONDS and now[1] - began[1] < WAITING * MOST_SECONDS


def restart_time() -> None:
    """Lets the time begin anew."""
    _BEGAN.clear()


class TooLongError(BaseException):
    """A call took longer than its share; no `except Exception` of the function hides it."""


def limit_call(seconds: float) -> None:
    """Ends the running call after these seconds of processor time; 0: without a limit."""

    def end(_signal: int, frame: Any) -> None:
        # Hypothesis listens to the garbage collector; what is raised there is lost.
        if frame is not None and str(frame.f_globals.get("__name__")).startswith("hypothesis."):
            signal.setitimer(signal.ITIMER_REAL, SOON)
            return
        LATE.append(True)
        raise TooLongError

    if seconds:
        signal.signal(signal.SIGPROF, end)
        signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    signal.setitimer(signal.ITIMER_REAL, WAITING * seconds)


# -- effects that no result shows -----------------------------------------------------------------------------------

_EFFECTS: set[str] = set()  # of the call in progress
_WATCHED: list[bool] = []
BEFORE_EFFECTS: set[str] = set()  # of all calls of the version before
_KINDS = {
    "writes files": (
        "os.remove",
        "os.rename",
        "os.mkdir",
        "os.rmdir",
        "os.truncate",
        "os.link",
        "os.symlink",
        "shutil.",
    ),
    "uses the network": ("socket.connect", "socket.bind", "socket.sendto", "socket.getaddrinfo", "urllib."),
    "starts programs": ("subprocess.", "os.system", "os.exec", "os.fork", "os.posix_spawn"),
    "uses a database": ("sqlite3.connect",),
}
_WRITING = os.O_WRONLY | os.O_RDWR


def _note_effect(event: str, arguments: tuple[Any, ...]) -> None:
    if not _WATCHED:
        return
    if event == "open":
        path, mode, flags = arguments
        is_written = bool(flags & _WRITING) if isinstance(flags, int) else bool(set(str(mode)) & set("wax+"))
        if is_written and "__pycache__" not in str(path) and str(path) != os.devnull:
            _EFFECTS.add("writes files")
        return
    for kind, events in _KINDS.items():
        if event.startswith(events) and "__pycache__" not in str(arguments[:1]):
            _EFFECTS.add(kind)


@contextlib.contextmanager
def watch_effects(function: Callable[..., Any] | None) -> Iterator[None]:
    """Collects into `_EFFECTS` what the block does beyond its result, as far as audit hooks and names show it."""
    if not _WATCHED:
        sys.addaudithook(_note_effect)
    _EFFECTS.clear()
    _WATCHED.append(True)
    state, start, is_collecting = _read_state(function), threading.Thread.start, gc.isenabled()

    def note_start(thread: threading.Thread) -> None:
        _EFFECTS.add("starts threads")
        start(thread)

    threading.Thread.start = note_start  # type: ignore[method-assign, assignment]
    try:
        yield
    finally:
        threading.Thread.start = start  # type: ignore[method-assign]
        _WATCHED.clear()
        if gc.isenabled() is not is_collecting:
            _EFFECTS.add("switches garbage collection on or off")
        _EFFECTS.update(f"changes the global `{name}`" for name, old in state.items() if _read(function, name) != old)


def _read_state(function: Callable[..., Any] | None) -> dict[str, Any]:
    """The module's data that the code of the function names."""
    inner = inspect.unwrap(function) if function is not None else None
    if not isinstance(inner, types.FunctionType):
        return {}
    values = {name: inner.__globals__.get(name) for name in inner.__code__.co_names if name in inner.__globals__}
    return {name: _read(function, name) for name, value in values.items() if isinstance(value, _DATA)}


def _read(function: Callable[..., Any] | None, name: str) -> Any:
    inner = inspect.unwrap(function) if function is not None else None
    return describe(inner.__globals__.get(name)) if isinstance(inner, types.FunctionType) else None


# -- one call -------------------------------------------------------------------------------------------------------


def observe(
    function: Callable[..., Any], positional: list[Any], named: dict[str, Any], seconds: float = 0.0
) -> tuple[Any, ...]:
    """Returns what a call gives, raises, prints and does to its arguments; `TOO_MUCH` after `seconds`.

    The result is nested tuples; the last part are effects beyond these.
    """
    positional, named = copy.deepcopy((positional, named))
    seed_random()
    late = len(LATE)
    printed, errors = io.StringIO(), io.StringIO()
    limit_call(seconds)
    try:
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(errors), watch_effects(function):
            value = function(*positional, **named)
            if inspect.iscoroutine(value):
                value = asyncio.run(value)
            elif inspect.isasyncgen(value):
                value = asyncio.run(_collect(value))
            if isinstance(value, (types.FunctionType, types.MethodType)):
                return TOO_MUCH  # nobody knows what it would do
            result = ("returns", describe(value))
    except (RecursionError, MemoryError, TooLongError):
        return TOO_MUCH
    except Exception as error:  # noqa: BLE001
        result = ("raises", (type(error).__qualname__, _ADDRESS.sub("0x", str(error))))
    finally:
        limit_call(0)
    if len(LATE) > late:
        return TOO_MUCH
    shown = printed.getvalue(), errors.getvalue()
    return (*result, describe(positional), describe(named), *shown, frozenset(_EFFECTS))


async def _collect(values: Any) -> Any:
    found = []
    async for each in values:
        found.append(each)
        if len(found) == MOST_ITEMS:
            break
    return found


def seed_random() -> None:
    """Lets chance be the same for every call."""
    random.seed(0)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(0)


def is_same(old: tuple[Any, ...], new: tuple[Any, ...], *, is_made_up: bool = False) -> bool:
    """Did both do the same? The new version may have fewer effects. Remembers those of the old one.

    For inputs that are made up, the message of an exception may be another one: they may be nothing to expect.
    """
    (SKIPPED if old == TOO_MUCH else COMPARED).append(True)
    if TOO_MUCH in (old, new):
        return old == TOO_MUCH
    BEFORE_EFFECTS.update(old[-1])
    if is_made_up and old[0] == new[0] == "raises":
        old, new = ((each[0], each[1][0], *each[2:]) for each in (old, new))
    return old[:-1] == new[:-1] and new[-1] <= old[-1]


def tell(old: tuple[Any, ...], new: tuple[Any, ...]) -> str:
    """Says how the new version differs."""
    if new == TOO_MUCH:
        return "it runs out of stack or memory"
    if old[:-1] == new[:-1]:
        return f"it {' and '.join(sorted(new[-1] - old[-1]))}"
    shown = next((n, o) for n, o in zip((new[:2], *new[2:]), (old[:2], *old[2:])) if n != o)  # noqa: B905
    return f"{shown[0]!r:.200} instead of {shown[1]!r:.200}"


def evaluate(source: str, module: types.ModuleType) -> tuple[Any, ...]:
    """Returns what an expression gives, raises, prints and does in a module."""
    return observe(lambda: eval(source, dict(module.__dict__)), [], {})  # noqa: S307


def describe(value: Any, depth: int = 0, seen: dict[int, Any] | None = None) -> Any:
    """Returns nested tuples that are equal for values of the same types and contents; objects by their attributes.

    An object that occurs again, `seen` before, is its number.
    """
    kind = type(value)
    if depth > DEEPEST:
        return kind.__qualname__
    if kind is float:
        # Another order of additions is no other result.
        return kind.__name__, "nan" if math.isnan(value) else float(f"{value:.9e}")
    if kind in (int, bool, str, bytes, complex, type(None)):
        return kind.__name__, value
    seen = {} if seen is None else seen
    deeper = functools.partial(describe, depth=depth + 1, seen=seen)
    if kind in (list, tuple):
        return kind.__name__, tuple(map(deeper, value))
    if kind in (set, frozenset):
        return kind.__name__, tuple(sorted(map(deeper, value), key=repr))
    if isinstance(value, dict):
        return kind.__qualname__, tuple((deeper(k), deeper(v)) for k, v in value.items())
    if isinstance(value, (types.GeneratorType, itertools.chain, map, filter, zip)):
        return "iterator", tuple(map(deeper, itertools.islice(value, MOST_ITEMS)))
    attributes = None if isinstance(value, (type, types.FunctionType, types.ModuleType)) else _attributes(value)
    if attributes is None:
        return kind.__qualname__, repr(value) if "__repr__" in vars(kind) else ""
    if id(value) in seen:
        return kind.__qualname__, list(seen).index(id(value))
    seen[id(value)] = value  # kept, so that no other object gets its id
    return kind.__qualname__, deeper(attributes)


def _attributes(value: Any) -> dict[str, Any] | None:
    """The attributes of an object, in its slots too; None where it has neither."""
    found = getattr(value, "__dict__", None)
    slots = [vars(each).get("__slots__", ()) for each in type(value).__mro__]
    names = [name for each in slots for name in ([each] if isinstance(each, str) else each)]
    if not names:
        return None if found is None else dict(found)
    return {**(found or {}), **{name: getattr(value, name, None) for name in names if not name.startswith("__")}}
