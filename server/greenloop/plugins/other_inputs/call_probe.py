"""Writes down which calls tests make, and what functions do with given inputs, as plain data.

Its text runs in the sandbox, below those of `same_results`, `recorded_calls` and `plain_values`; what it writes leaves
as the message of a failing test. Standard library on Python 3.9; of greenloop it must not import anything else.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import inspect
import io
import json
import sys
import time
import types
from collections.abc import Sequence
from itertools import zip_longest
from typing import Any

from greenloop.plugins.function_calls.recorded_calls import find_function, read_arguments
from greenloop.plugins.function_calls.same_results import TooLongError, limit_call, seed_random
from greenloop.plugins.other_inputs.plain_values import decode, encode, make_object

LONGEST_CALL = 3000  # characters of recorded arguments; longer ones are left out
LONGEST_RESULT = 300  # characters of a result that is written out; of a longer one its digest
MOST_RECORDED = 40
ONE_CALL = 0.3  # seconds of processor time; half of it after each call that was not judged, so that others have theirs
LEAST_CALL = 0.02
ALL_CALLS = 1.0
DIGITS = 9  # of a float in a result
RAN: list[str] = []


def record_functions(functions: Sequence[Sequence[Any]]) -> None:
    """Records the calls of these functions from now on.

    Of each it gets the module, the qualified name, the parameters that the version before does not have, and whether
    it is called with what is around it.
    """
    wanted: dict[tuple[str, int, str], tuple[int, Sequence[str]]] = {}
    for number, (module, qualname, added, _is_wrapped) in enumerate(functions):
        with contextlib.suppress(Exception):
            function = find_function(importlib.import_module(module), qualname)
            if function is not None:
                wanted[_code_place(function.__code__)] = number, added

    def profile(frame: types.FrameType, event: str, _argument: Any) -> None:
        found = wanted.get(_code_place(frame.f_code)) if event == "call" else None
        caller = frame.f_back
        if found is not None and (caller is None or caller.f_code is not frame.f_code):
            number, added = found
            with contextlib.suppress(Exception):
                positional, named = read_arguments(frame)
                old = [name not in added for name in frame.f_code.co_varnames[: frame.f_code.co_argcount]]
                known = [each for each, is_old in zip_longest(positional, old, fillvalue=True) if is_old]
                record(number, known, {name: each for name, each in named.items() if name not in added})
            if len(RAN) == MOST_RECORDED:
                sys.setprofile(None)

    if wanted:
        sys.setprofile(profile)


def _code_place(code: types.CodeType) -> tuple[str, int, str]:
    """Equal for one function, under whatever name its module is imported."""
    return code.co_filename, code.co_firstlineno, code.co_name


def record(number: int, positional: list[Any], named: dict[str, Any]) -> None:
    """Keeps one call, unless its arguments are no plain data."""
    tree = [number, [encode(each, strict=True) for each in positional]]
    line = json.dumps([*tree, {name: encode(each, strict=True) for name, each in named.items()}])
    if len(line) <= LONGEST_CALL and line not in RAN:
        RAN.append(line)


def run_inputs(functions: Sequence[Sequence[Any]], inputs: str) -> None:
    """Calls the functions with each of these inputs twice; where both did the same, the line has what they did."""
    found = [load_function(module, qualname, is_wrapped) for module, qualname, _added, is_wrapped in functions]
    began, pending = time.process_time(), [*enumerate(json.loads(inputs))]
    for limit in (LEAST_CALL, ONE_CALL):  # quick ones first: the time is enough for few of the slow ones
        longest, slow = limit, []
        for place, (number, positional, named) in pending:
            if found[number] is None or time.process_time() - began > ALL_CALLS:
                continue
            first = observe_call(found[number], positional, named, longest)
            if first == ["unknown"]:
                slow.append((place, (number, positional, named)))
                longest = max(longest / 2, LEAST_CALL)
            elif first == observe_call(found[number], positional, named, longest):
                RAN.append(json.dumps([place, *shorten(first)]))
        pending = slow


def load_function(module: str, qualname: str, is_wrapped: bool) -> Any:
    try:
        imported = importlib.import_module(module)
        return getattr(imported, qualname) if is_wrapped else find_function(imported, qualname)
    except Exception:  # noqa: BLE001 - code that cannot be imported says nothing
        return None


def shorten(does: list[Any]) -> list[Any]:
    """Returns the behaviour of a call; if it is long, its kind and a digest."""
    text = json.dumps(does)
    return does if len(text) <= LONGEST_RESULT else [does[0], hashlib.sha256(text.encode()).hexdigest()]


def observe_call(function: Any, positional: Any, named: Any, seconds: float = ONE_CALL) -> list[Any]:
    """Observes a call: `returns` and a tree, or `raises` and a type; then changed arguments, and printed text."""
    printed = io.StringIO()
    try:
        arguments = [decode(each, make_object) for each in positional]
        words = {name: decode(each, make_object) for name, each in named.items()}
        before = encode([arguments, words], digits=DIGITS)
    except Exception:  # noqa: BLE001 - the class of an argument has changed
        return ["unknown"]
    seed_random()
    limit_call(seconds)
    try:
        with contextlib.redirect_stdout(printed):
            value = function(*arguments, **words)
            if inspect.iscoroutine(value):
                value.close()
                return ["unknown"]
            does = ["returns", encode(value, digits=DIGITS)]
    except TooLongError:
        return ["unknown"]
    except (Exception, SystemExit) as error:  # noqa: BLE001
        does = ["raises", type(error).__qualname__]
    finally:
        limit_call(0)
    after = encode([arguments, words], digits=DIGITS)
    return [*does, None if after == before else after, printed.getvalue()]


def tell_lines(item: Any) -> None:
    """Fails as this test, with all lines as the message."""
    sys.setprofile(None)
    item.greenloop_failure = lambda *_about: {
        "message": "\n".join(RAN),
        "frames": [],
        "expected": None,
        "observed": None,
    }
    raise AssertionError
