"""Compares two versions of a module by what their functions do; its text runs in the sandbox, beside the tests.

Standard library on Python 3.9. It must not import anything of greenloop.
"""

from __future__ import annotations

import copy
import importlib
import itertools
import math
import random
import signal
import time
import types
from collections.abc import Callable
from typing import Any

MOST_SECONDS = 5.0  # for all made up inputs
MOST_ITEMS = 1000  # of an iterator
DEEPEST = 50
TOO_MUCH = ("too much",)


def load_before(name: str, text: str) -> types.ModuleType:
    """Returns the module of this name as it was before, with `text` as its source."""
    now = importlib.import_module(name)
    before = types.ModuleType(now.__name__)
    for key in ("__file__", "__package__", "__spec__", "__path__"):
        if hasattr(now, key):
            setattr(before, key, getattr(now, key))
    exec(compile(text, str(now.__file__), "exec"), before.__dict__)  # noqa: S102
    return before


_BEGAN = time.monotonic()


def time_left() -> bool:
    """May more inputs be tried?"""
    return time.monotonic() - _BEGAN < MOST_SECONDS


class TooLongError(Exception):
    """A call took longer than its share."""


def limit_call(seconds: float) -> None:
    """Lets the running call go on for so many seconds; 0: without a limit."""

    def end(_signal: int, _frame: Any) -> None:
        raise TooLongError

    if seconds:
        signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, seconds)


def observe(function: Callable[..., Any], arguments: dict[str, Any], seconds: float = 0.0) -> tuple[Any, ...]:
    """Returns what a call gives, raises and does to its arguments, as nested tuples; `TOO_MUCH` after `seconds`."""
    random.seed(0)
    arguments = copy.deepcopy(arguments)
    limit_call(seconds)
    try:
        value = function(**arguments)
        limit_call(0)
    except (RecursionError, MemoryError, TooLongError):
        return TOO_MUCH
    except Exception as error:  # noqa: BLE001
        limit_call(0)
        return "raises", type(error).__qualname__, describe(arguments)
    finally:
        limit_call(0)
    return "returns", describe(value), describe(arguments)


def evaluate(source: str, module: types.ModuleType) -> tuple[Any, ...]:
    """Returns what an expression gives or raises in a module."""
    random.seed(0)
    try:
        return "returns", describe(eval(source, dict(module.__dict__)))  # noqa: S307
    except Exception as error:  # noqa: BLE001
        return "raises", type(error).__qualname__


def describe(value: Any, depth: int = 0) -> Any:
    """Returns nested tuples that are equal for values of the same types and contents; objects by their attributes."""
    kind = type(value)
    if depth > DEEPEST:
        return kind.__qualname__
    if kind is float:
        # Another order of additions is no other result.
        return kind.__name__, "nan" if math.isnan(value) else float(f"{value:.9e}")
    if kind in (int, bool, str, bytes, complex, type(None)):
        return kind.__name__, value
    if kind in (list, tuple):
        return kind.__name__, tuple(describe(each, depth + 1) for each in value)
    if kind in (set, frozenset):
        return kind.__name__, tuple(sorted((describe(each, depth + 1) for each in value), key=repr))
    if isinstance(value, dict):
        return kind.__qualname__, tuple((describe(k, depth + 1), describe(v, depth + 1)) for k, v in value.items())
    if isinstance(value, (types.GeneratorType, itertools.chain, map, filter, zip)):
        return "iterator", tuple(describe(each, depth + 1) for each in itertools.islice(value, MOST_ITEMS))
    attributes = getattr(value, "__dict__", None)
    if attributes is not None and not isinstance(value, (type, types.FunctionType, types.ModuleType)):
        return kind.__qualname__, describe(dict(attributes), depth + 1)
    return kind.__qualname__, repr(value) if "__repr__" in vars(kind) else ""
