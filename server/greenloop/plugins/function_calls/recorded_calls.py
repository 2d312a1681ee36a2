"""Records the calls that tests make, and compares two versions of a function on them, as they were and varied.

Its text runs in the sandbox, below that of `same_results`. Standard library on Python 3.9; of greenloop it must not
import anything else.
"""

from __future__ import annotations

import contextlib
import copy
import importlib
import inspect
import sys
import time
import types
from collections.abc import Iterator
from typing import Any

from greenloop.plugins.function_calls.same_results import (
    SKIPPED,
    TOO_MUCH,
    describe,
    is_same,
    load_before,
    observe,
    restart_time,
    tell,
    time_left,
)

MOST_CALLS = 60  # that are recorded
MOST_COPYING = 2.0  # seconds for copying their arguments
MOST_VARIED = 300  # calls with varied arguments
FAR = 100_000  # from a number to a much larger one
ONE_CALL = 1.0  # second for the old version; what takes longer is not compared
CALLS: list[tuple[list[Any], dict[str, Any]]] = []
RETURNED: dict[int, Any] = {}  # what those of them that returned gave the test then, described, by their number
CHANGED: list[str] = []  # sentences about calls that gave a test something else than before
_COPYING = [0.0]
_PAUSES = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


def find_function(module: types.ModuleType, qualname: str) -> types.FunctionType | None:
    """Returns the function without its decorators; None where it is not to be found."""
    value: Any = module
    for name in qualname.split("."):
        value = vars(value).get(name) if isinstance(value, (type, types.ModuleType)) else None
    for _step in range(10):
        inner = (getattr(value, name, None) for name in ("__func__", "fget", "func", "__wrapped__"))
        value = next((each for each in inner if callable(each)), value)
    return value if isinstance(value, types.FunctionType) else None


def record_calls(name: str, qualname: str) -> None:
    """Records the calls of a function from now on, each with copies of its arguments as they were."""
    function = find_function(importlib.import_module(name), qualname)
    if function is None:
        return
    wanted = _place(function.__code__)
    running: dict[types.FrameType, int] = {}

    def profile(frame: types.FrameType, event: str, value: Any) -> None:
        began, code, caller = time.monotonic(), frame.f_code, frame.f_back
        with contextlib.suppress(Exception):
            if event == "return" and frame in running:
                number = running.pop(frame)
                if value is not None and not code.co_flags & _PAUSES:  # None: perhaps it raises an exception
                    RETURNED[number] = describe(copy.deepcopy(value))
            elif event != "call" or len(CALLS) == MOST_CALLS or (caller is not None and caller.f_code is code):
                return
            elif _place(code) == wanted:
                CALLS.append(copy.deepcopy(read_arguments(frame)))
                running[frame] = len(CALLS) - 1
        _COPYING[0] += time.monotonic() - began
        if (len(CALLS) == MOST_CALLS and not running) or _COPYING[0] > MOST_COPYING:
            sys.setprofile(None)

    sys.setprofile(profile)


def _place(code: types.CodeType) -> tuple[str, int, str]:
    return code.co_name, code.co_firstlineno, code.co_filename


def read_arguments(frame: types.FrameType) -> tuple[list[Any], dict[str, Any]]:
    """Returns the positional and the named arguments of a call that has just begun."""
    values = inspect.getargvalues(frame)
    code = frame.f_code
    count, more = code.co_argcount, code.co_kwonlyargcount
    names = code.co_varnames[: count + more]
    positional = [values.locals[each] for each in names[:count]]
    positional += values.locals[values.varargs] if values.varargs else []
    named = {each: values.locals[each] for each in names[count:]}
    named.update(values.locals[values.keywords] if values.keywords else {})
    return positional, named


def compare_calls(name: str, qualname: str, text: str) -> str:
    """Compares both versions on the recorded calls, as they were and with varied arguments.

    Returns the first difference as a sentence, or "".
    """
    sys.setprofile(None)
    now, before = importlib.import_module(name), load_before(name, text)
    new, old_code = find_function(now, qualname), find_function(before, qualname)
    if new is None or old_code is None:
        return ""
    owner = _owner(now, qualname)
    old = _rebuild(old_code, new, owner, before)
    is_method = isinstance(owner, type) and bool(vars(owner).get(new.__name__) is new)
    restart_time()
    is_bound = isinstance(owner, type) and not isinstance(vars(owner).get(new.__name__), staticmethod)
    for number, (positional, named, is_varied) in enumerate(_with_varied(int(is_bound))):
        if not time_left():
            SKIPPED.append(True)
            break
        with contextlib.ExitStack() as swapped:
            if is_method:  # so that it calls itself, not the new one
                swapped.callback(setattr, owner, new.__name__, new)
                setattr(owner, new.__name__, old)
            first = observe(old, positional, named, ONE_CALL)
        if is_varied and first[0] == "raises" and first[1][0] in ("TypeError", "AttributeError"):
            continue
        if first[0] == "returns" and first[1] != RETURNED.get(number, first[1]):
            CHANGED.append(f"{_format_call(qualname, positional, named)} gave a test {RETURNED[number]!r:.200}")
        second = observe(new, positional, named) if first != TOO_MUCH else first
        if is_varied and second != TOO_MUCH and (first[0], second[0]) == ("raises", "raises"):
            continue  # values that it is not made for: which error they cause is no promise
        if not is_same(first, second):
            return f"{_format_call(qualname, positional, named)} differs from before: {tell(first, second)}"
    restart_time()
    return ""


def _format_call(qualname: str, positional: list[Any], named: dict[str, Any]) -> str:
    arguments = [f"{each!r:.60}" for each in positional] + [f"{key}={each!r:.60}" for key, each in named.items()]
    return f"{qualname}({', '.join(arguments)})"


def _owner(module: types.ModuleType, qualname: str) -> Any:
    owner: Any = module
    for name in qualname.split(".")[:-1]:
        owner = vars(owner)[name]
    return owner


def _rebuild(
    old: types.FunctionType, new: types.FunctionType, owner: Any, before: types.ModuleType
) -> types.FunctionType:
    """Returns the function as it was, with the classes of today, so that today's instances are its own.

    Variables of the module are its own: what either version assigns to them, the other does not see.
    """
    values = dict(new.__globals__)
    cells = dict(zip(new.__code__.co_freevars, new.__closure__ or ()))  # noqa: B905
    closure = tuple(cells.get(each) or types.CellType(owner) for each in old.__code__.co_freevars)
    function = types.FunctionType(old.__code__, values, old.__name__, new.__defaults__, closure)
    function.__kwdefaults__ = new.__kwdefaults__
    if not isinstance(owner, type):
        values[old.__name__] = function if vars(before)[old.__name__] is old else vars(before)[old.__name__]
    return function


def _with_varied(first: int) -> Iterator[tuple[list[Any], dict[str, Any], bool]]:
    """The recorded calls, then these with one argument changed, one change of each call after the other.

    Arguments before number `first` stay: an object may have rules that no variation knows.
    """
    calls = list(CALLS)
    for positional, named in calls:
        yield positional, named, False
    changing = [_vary_arguments(positional, named, first) for positional, named in calls]
    for _number in range(MOST_VARIED):
        changing = [each for each in changing if each]
        for changes in changing:
            call = next(changes, None)
            if call is not None:
                yield (*call, True)


def _vary_arguments(
    positional: list[Any], named: dict[str, Any], first: int
) -> Iterator[tuple[list[Any], dict[str, Any]]]:
    for place in range(first, len(positional)):
        for value in vary(positional[place]):
            yield [*positional[:place], value, *positional[place + 1 :]], named
    for key, argument in named.items():
        for value in vary(argument):
            yield positional, {**named, key: value}


def vary(value: Any) -> Iterator[Any]:
    """Values like this one: its neighbours, its negative, a part of it, more of it."""
    kind = type(value)
    if kind is bool:
        yield not value
    elif kind in (int, float):
        yield from (each for each in (-value, value + 1, value - 1, kind(0), value + FAR) if each != value)
    elif kind in (str, bytes, list, tuple):
        yield from (each for each in (value[:0], value[::-1], value[1:], value + value, value[:1]) if each != value)
        if kind in (list, tuple) and value:
            yield from (kind([each, *value[1:]]) for each in vary(value[0]))
    elif kind in (set, frozenset):
        yield from (kind(list(value)[:-1]), kind()) if value else ()
    elif kind is dict and value:
        first = next(iter(value))
        yield from ({key: each for key, each in value.items() if key != first}, {})
        yield from ({**value, first: each} for each in vary(value[first]))
