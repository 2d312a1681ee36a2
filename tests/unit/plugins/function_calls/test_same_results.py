"""When two values are the same result."""

from __future__ import annotations

import asyncio
import contextlib
import copy
import gc
import socket
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from greenloop.plugins.function_calls import same_results


class Point:
    def __init__(self, x) -> None:
        self.x = x


@pytest.mark.parametrize(
    ("one", "other", "are_same"),
    [
        (1, True, False),
        (0.1 + 0.2, 0.3, True),
        (float("nan"), float("nan"), True),
        ({1, 2}, {2, 1}, True),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, False),
        (Point([1]), Point([1]), True),
        (Point([1]), Point([2]), False),
        ((n for n in (1, 2)), (n for n in (1, 2)), True),
        ((n for n in (1, 2)), iter([1, 2]), False),
        ([1], (1,), False),
    ],
)
def test_values_are_compared_by_type_and_content(one, other, are_same):
    assert (same_results.describe(one) == same_results.describe(other)) is are_same


def test_what_holds_itself_has_an_end():
    endless: list = []
    endless.append(endless)
    assert same_results.describe(endless) == same_results.describe(endless)


LOG: list[int] = []


def writes(path):
    path.write_text("x")


def remembers(number):
    LOG.append(number)


def starts_a_thread():
    thread = threading.Thread(target=len, args=("",))
    thread.start()
    thread.join()


def connects():
    with contextlib.suppress(OSError), socket.socket() as one:
        one.settimeout(0.01)
        one.connect(("127.0.0.1", 9))


@pytest.mark.parametrize(
    ("function", "arguments", "effect"),
    [
        (writes, [Path("/tmp/greenloop-effect")], "writes files"),
        (remembers, [1], "changes the global `LOG`"),
        (starts_a_thread, [], "starts threads"),
        (connects, [], "uses the network"),
    ],
)
def test_what_no_result_shows_is_an_effect(function, arguments, effect):
    seen = same_results.observe(function, arguments, {})
    assert seen[0] == "returns"
    assert seen[-1] == {effect}
    none = (*seen[:-1], frozenset())
    assert same_results.is_same(seen, none)
    assert not same_results.is_same(none, seen)
    assert same_results.tell(none, seen) == f"it {effect}"


def test_what_is_printed_is_compared():
    old, new = (same_results.observe(print, [word], {}) for word in ("a", "a "))
    assert not same_results.is_same(old, new)


async def wait(number):
    await asyncio.sleep(0)
    return number


async def give(number):
    yield number


@pytest.mark.parametrize(("function", "result"), [(wait, ("int", 2)), (give, ("list", (("int", 2),)))])
def test_a_coroutine_is_run_to_its_end(function, result):
    assert same_results.observe(function, [2], {})[:2] == ("returns", result)


def test_a_returned_function_is_not_comparable():
    assert same_results.observe(lambda: test_what_is_printed_is_compared, [], {}) == same_results.TOO_MUCH


def test_a_call_ends_after_its_time():
    def endless():
        while True:
            pass

    assert same_results.observe(endless, [], {}, 0.01) == same_results.TOO_MUCH


def test_a_call_that_catches_the_end_of_its_time_is_not_compared():
    """What it returns then is no result: without the limit it returns another one."""

    def gives_up():
        try:
            while True:
                pass
        except BaseException:  # noqa: BLE001
            return "nothing found"

    assert same_results.observe(gives_up, [], {}, 0.01) == same_results.TOO_MUCH
    assert same_results.observe(len, ["a"], {})[:2] == ("returns", ("int", 1))


class Slotted:
    __slots__ = ("left", "right")


def test_objects_that_hold_each_other_have_an_end():
    one, other = Slotted(), Slotted()
    one.left, one.right, other.left, other.right = other, other, one, 3
    assert same_results.describe(one) != same_results.describe(other)
    assert same_results.describe(one) == same_results.describe(copy.deepcopy(one))


def test_the_limit_waits_for_the_end_of_a_callback_of_hypothesis_where_it_would_be_lost():
    seen: list[int] = []
    module = {"__name__": "hypothesis.stand_in", "process_time": time.process_time, "seen": seen}
    body = "    end = process_time() + 0.2\n    while process_time() < end:\n        pass\n    seen.append(1)\n"
    exec(f"def collect():\n{body}", module)
    collect: Any = module["collect"]

    def endless() -> None:
        collect()
        while True:
            pass

    assert same_results.observe(endless, [], {}, 0.05) == same_results.TOO_MUCH
    assert seen == [1]


def raises(message):
    raise ValueError(message)


def test_messages_of_exceptions_are_compared_but_for_made_up_inputs():
    old, new = (same_results.observe(raises, [message], {}) for message in ("a", "b"))
    assert not same_results.is_same((*old[:2], [], *old[3:]), (*new[:2], [], *new[3:]))
    assert same_results.is_same((*old[:2], [], *old[3:]), (*new[:2], [], *new[3:]), is_made_up=True)
    assert same_results.tell(old, new) == "('raises', ('ValueError', 'b')) instead of ('raises', ('ValueError', 'a'))"


def test_addresses_in_messages_are_no_difference():
    old, new = (same_results.observe(lambda: raises(object()), [], {}) for _ in range(2))
    assert same_results.is_same(old, new)


def test_the_error_output_is_compared():
    def show(word):
        sys.stderr.write(word)

    old, new = (same_results.observe(show, [word], {})[4:] for word in ("a", "b"))
    assert old[:-1] != new[:-1]


def test_switching_the_collector_of_garbage_is_an_effect():
    try:
        assert same_results.observe(gc.disable, [], {})[-1] == {"switches garbage collection on or off"}
    finally:
        gc.enable()
