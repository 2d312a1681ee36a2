"""Varies the arguments of a call, one value at a time, always in the same way; pure functions on plain data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from itertools import islice
from typing import Any

from greenloop.plugins.other_inputs.plain_values import UnplainError, decode, encode

MOST_ITEMS = 12  # of a container, that are varied one by one
DEEPEST = 3  # of nested containers
MOVES = (3, 4, 9, 20)
RANGES = (("a", "z"), ("A", "Z"), ("0", "9"))
DAYS = (1, -1, 2, -2, 5, 7, 31, -30, 100, 366)


@dataclass(frozen=True, kw_only=True)
class Instance:
    """An object of a class of the project, by what it holds; without a module, a function of a test."""

    module: str
    qualname: str
    attributes: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Call:
    """Arguments of one of several functions (`function`, its number)."""

    function: int
    positional: tuple[Any, ...]
    named: Mapping[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """Equal for calls with the same arguments of the same types."""
        return repr(call_tree(self))

    @property
    def arguments(self) -> tuple[Any, ...]:
        """All arguments without their names."""
        return (*self.positional, *self.named.values())


def call_tree(call: Call) -> list[Any]:
    """Returns the call as a tree of JSON."""
    named = {name: _encode(value) for name, value in call.named.items()}
    return [call.function, [_encode(value) for value in call.positional], named]


def read_call(tree: Sequence[Any]) -> Call:
    """Returns the call of a tree. Raises `UnplainError` for one that has values which are only shown."""
    function, positional, named = tree
    return Call(
        function=int(function),
        positional=tuple(read_value(each) for each in positional),
        named={str(name): read_value(each) for name, each in named.items()},
    )


def read_value(tree: Any) -> Any:
    """Returns the value of a tree, objects as `Instance`. Raises `UnplainError` as `read_call`."""
    try:
        return decode(tree, lambda module, name, held: Instance(module=module, qualname=name, attributes=held))
    except (TypeError, ValueError, IndexError, KeyError) as error:
        raise UnplainError from error


def _encode(value: Any) -> Any:
    if isinstance(value, Instance):
        return ["object", value.module, value.qualname, [[k, _encode(v)] for k, v in value.attributes.items()]]
    if type(value) in (list, tuple):
        return [type(value).__name__, [_encode(each) for each in value]]
    if type(value) is dict:
        return ["dict", [[_encode(key), _encode(each)] for key, each in value.items()]]
    return encode(value)


def move_calls(calls: Sequence[Call]) -> list[Call]:
    """Returns calls of the same form in which every letter, digit, number and date is another one.

    Equal parts stay equal, so that a rule mostly does with them what it does with the call itself.
    """
    moved = [
        Call(
            function=call.function,
            positional=tuple(move(each, step) for each in call.positional),
            named={name: move(each, step) for name, each in call.named.items()},
        )
        for call in calls
        for step in MOVES
    ]
    known = {call.key for call in calls}
    return list({call.key: call for call in moved if call.key not in known}.values())


def move(value: Any, step: int) -> Any:
    """Returns the value with every part of it moved by so much."""
    kind = type(value)
    if kind in (int, float, Decimal, Fraction):
        return value + step
    if kind in (date, datetime):
        return _later(value, step)
    if kind is str:
        return "".join(_moved_sign(sign, step) for sign in value)
    if kind in (list, tuple, set, frozenset):
        return kind(move(each, step) for each in value)
    if kind is dict:
        return {move(key, step): move(each, step) for key, each in value.items()}
    return value


def _later(day: date, days: int) -> date:
    with suppress(OverflowError):
        return day + timedelta(days=days)
    return day


def _moved_sign(sign: str, step: int) -> str:
    for first, last in RANGES:
        if first <= sign <= last:
            size = ord(last) - ord(first) + 1
            return chr(ord(first) + (ord(sign) - ord(first) + step) % size)
    return sign


def vary_calls(calls: Sequence[Call], most: int, more: Sequence[Call] = ()) -> list[Call]:
    """Returns at most `most` calls near these: one change of each call, then the next; none of them, nor of `more`."""
    known = {call.key for call in (*calls, *more)}
    waiting = [_varied(call) for call in calls]
    found: list[Call] = []
    while waiting and len(found) < most:
        still = []
        for changes in waiting:
            new = next((call for call in changes if call.key not in known), None)
            if new is not None and len(found) < most:
                known.add(new.key)
                found.append(new)
                still.append(changes)
        waiting = still
    return found


def _varied(call: Call) -> Iterator[Call]:
    """The call with one argument changed, one change of each argument after the other."""
    waiting: list[tuple[Any, Iterator[Any]]] = [(place, vary(value)) for place, value in enumerate(call.positional)]
    waiting += [(name, vary(value)) for name, value in call.named.items()]
    while waiting:
        still = []
        for place, values in waiting:
            for value in islice(values, 1):
                still.append((place, values))
                if isinstance(place, str):
                    named = {**call.named, place: value}
                    yield Call(function=call.function, positional=call.positional, named=named)
                else:
                    positional = (*call.positional[:place], value, *call.positional[place + 1 :])
                    yield Call(function=call.function, positional=positional, named=call.named)
        waiting = still


def vary(value: Any, depth: int = 0) -> Iterator[Any]:
    """Yields values near this one, of the same type; of None and of objects nothing."""
    kind = type(value)
    if kind is bool:
        yield not value
    elif kind is int:
        yield from _distinct(value, (value + 1, value - 1, value + 7, value - 7, 2 * value, value + 2, value - 3))
        yield from _distinct(value, (value + 100, -value, 10 * value + 3, value // 2, value + 12, value + 31, 0))
    elif kind is float:
        yield from _distinct(value, (value + 1, value - 1, value + 7, 2 * value, value + 0.5, -value, value / 2))
        yield from _distinct(value, (value - 0.25, value + 100, value - 7, 10 * value + 3, value + 12, value + 31, 0.0))
    elif kind in (Decimal, Fraction):
        yield from _distinct(value, (value + 1, value - 1, value + 7, 2 * value, -value, value / 2))
    elif kind in (date, datetime):
        yield from _distinct(value, (_later(value, days) for days in DAYS))
    elif kind is timedelta:
        yield from _distinct(value, (value + timedelta(days=1), value * 2, -value, value / 2, timedelta()))
    elif kind is str:
        yield from _distinct(value, _texts(value))
    elif kind is bytes:
        yield from _distinct(value, (value + b"a", value[1:], value[:-1], value[::-1], value + value))
    elif kind in (list, tuple):
        yield from _distinct(value, (kind(each) for each in _sequences(list(value), depth)))
    elif kind in (set, frozenset):
        items = sorted(value, key=repr)
        more = [each for item in items[:1] for each in islice(vary(item, depth + 1), 3)]
        yield from _distinct(value, (kind(items[1:]), kind(items[:-1]), *(kind([*items, each]) for each in more)))
    elif kind is dict:
        yield from _distinct(value, _dicts(value, depth))


def _distinct(value: Any, found: Iterable[Any]) -> Iterator[Any]:
    """Those that are neither the value itself nor yielded before."""
    known = {repr(value)}
    for each in found:
        if repr(each) not in known:
            known.add(repr(each))
            yield each


def _texts(text: str) -> Iterator[str]:
    middle = len(text) // 2
    yield _shifted(text, 0)
    yield text + text[-1:] if text else "a"
    yield text[:-1]
    yield text.swapcase()
    yield _shifted(text, len(text) - 1)
    yield text[::-1]
    yield text[1:]
    yield _shifted(text, middle)
    yield text[:middle] + text[middle + 1 :]
    yield "b" + text
    yield text[:middle] + "7" + text[middle:]
    yield text + " " + text
    yield f"{text} a"
    yield ""


def _shifted(text: str, place: int) -> str:
    """The text with another character of the same sort at this place."""
    if not text:
        return text
    sign = text[place]
    other = _moved_sign(sign, 1)
    if other == sign:
        other = "." if sign != "." else ","
    return text[:place] + other + text[place + 1 :]


def _sequences(items: list[Any], depth: int) -> Iterator[list[Any]]:
    inner = [vary(item, depth + 1) for item in items[:MOST_ITEMS]] if depth < DEEPEST else []
    for place, values in enumerate(inner[:1]):
        yield from ([*items[:place], each, *items[place + 1 :]] for each in islice(values, 1))
    yield items[:-1]
    yield [*items, *items[-1:]]
    yield items[::-1]
    yield items[1:]
    for _turn in range(3):
        for place, values in reversed(list(enumerate(inner))):
            yield from ([*items[:place], each, *items[place + 1 :]] for each in islice(values, 1))
    yield [*items[1:], *items[:1]]
    for place in [place for place, item in enumerate(items) if type(item) is list][:1]:
        yield [*items[:place], [items[place]], *items[place + 1 :]]  # one level deeper
    yield items + items
    yield []


def _dicts(value: dict[Any, Any], depth: int) -> Iterator[dict[Any, Any]]:
    for key in list(value)[:MOST_ITEMS]:
        others = {each: inner for each, inner in value.items() if each != key}
        yield from ({**others, new: value[key]} for new in islice(vary(key, depth + 1), 1))
        yield from ({**value, key: new} for new in islice(vary(value[key], depth + 1), 2))
        yield others
    yield {}
