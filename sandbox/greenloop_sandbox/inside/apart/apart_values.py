"""The types that are copied between judge and code, one row each: how a value comes apart and is put together again.

Scalars are themselves, everything else is a list that begins with the row's tag.
"""

import array
import base64
import builtins
import collections
import datetime
import decimal
import fractions
import functools
import io
import operator
import pathlib
import re
import threading
import types
import uuid
import weakref

import apart_tables
from apart_rules import CannotCross, is_python_class

GROUP = getattr(builtins, "BaseExceptionGroup", ())  # new in Python 3.11


def attributes_of(value):
    """The attributes that an instance itself holds, slots included, read without its own `__getattribute__`."""
    kind, found = type(value), {}
    for name, member in slots_of(kind):
        try:
            found[name] = member.__get__(value, kind)
        except AttributeError:
            pass
    try:
        found.update(object.__getattribute__(value, "__dict__"))
    except AttributeError:
        pass
    return found


@functools.lru_cache(maxsize=None)
def slots_of(kind):
    return tuple(
        (name, member)
        for base in kind.__mro__
        if is_python_class(base)
        for name, member in vars(base).items()
        if isinstance(member, types.MemberDescriptorType)
    )


def parts_of_error(value, kind):
    """(arguments, attributes) of an exception, with what built-in ones hold: an import's path, the code of an exit."""
    found = {}
    for base in kind.__mro__:
        if base not in (BaseException, Exception, object, GROUP) and not is_python_class(base):
            for name, member in vars(base).items():
                held = member.__get__(value, kind) if isinstance(member, types.MemberDescriptorType) else None
                if held is not None and type(held) in (str, int, bool):
                    found[name] = held
    args = (value.message, tuple(value.exceptions)) if isinstance(value, GROUP) else value.args
    return args, {**found, **attributes_of(value)}


# -- values that do not change ----------------------------------------------------------------------------------------

# {type: (tag, its parts, a value of these parts)}. The parts of these are plain data.
OF_PLAIN_DATA = {
    int: ("i", lambda value: (hex(value),), lambda text: int(text, 16)),
    float: ("f", lambda value: (repr(value),), float),
    bytes: ("b", lambda value: (base64.b64encode(value).decode(),), base64.b64decode),
    datetime.date: ("da", operator.attrgetter("year", "month", "day"), datetime.date),
    datetime.timedelta: ("td", operator.attrgetter("days", "seconds", "microseconds"), datetime.timedelta),
    decimal.Decimal: ("D", lambda value: (str(value),), decimal.Decimal),
    fractions.Fraction: (
        "F", lambda value: (hex(value.numerator), hex(value.denominator)),
        lambda *pair: fractions.Fraction(*(int(each, 16) for each in pair)),
    ),
    uuid.UUID: ("U", lambda value: (value.hex,), uuid.UUID),
    pathlib.PurePath: ("P", lambda value: (type(value).__name__, str(value)), lambda name, text: PATHS[name](text)),
    type(...): ("ell", lambda _: (), lambda: ...),
    type(NotImplemented): ("ni", lambda _: (), lambda: NotImplemented),
}  # fmt: skip
PATHS = {kind.__name__: kind for kind in (pathlib.PurePosixPath, pathlib.PureWindowsPath, pathlib.PosixPath)}
REAL_DATETIME, REAL_TIME = datetime.datetime, datetime.time  # freezegun gives its own while time stands still
FROZEN = {"FakeDatetime": REAL_DATETIME, "FakeDate": datetime.date}
CLOCK = ("hour", "minute", "second", "microsecond", "tzinfo", "fold")
BOUNDS = operator.attrgetter("start", "stop", "step")


def _make_timezone(offset, name):
    utc = datetime.timezone.utc
    return utc if (offset, name) == (utc.utcoffset(None), utc.tzname(None)) else datetime.timezone(offset, name)


def _make_zone(kind, key):
    if not (isinstance(kind, type) and any(base.__name__ == "ZoneInfo" for base in kind.__mro__)):
        raise CannotCross("no time zone")
    return kind(key)


# The parts of these are values.
OF_VALUES = {
    tuple: ("t", tuple, lambda *items: items),
    frozenset: ("z", tuple, lambda *items: frozenset(items)),
    complex: ("c", operator.attrgetter("real", "imag"), complex),
    range: ("r", BOUNDS, range),
    slice: ("sl", BOUNDS, slice),
    REAL_DATETIME: (
        "dt", operator.attrgetter("year", "month", "day", *CLOCK),
        lambda *parts: REAL_DATETIME(*parts[:-1], fold=parts[-1]),
    ),
    REAL_TIME: ("ti", operator.attrgetter(*CLOCK), lambda *parts: REAL_TIME(*parts[:-1], fold=parts[-1])),
    datetime.timezone: ("tz", lambda value: (value.utcoffset(None), value.tzname(None)), _make_timezone),
    re.Pattern: (
        "re", operator.attrgetter("pattern", "flags"),
        lambda text, flags: re.compile(text, flags & ~re.DEBUG),
    ),
    array.array: ("ar", lambda value: (value.typecode, value.tobytes()), array.array),
    memoryview: ("mv", lambda value: (value.tobytes(),), memoryview),
    types.MappingProxyType: ("mp", lambda value: (dict(value),), types.MappingProxyType),
    types.GenericAlias: ("ga", operator.attrgetter("__origin__", "__args__"), types.GenericAlias),
    property: ("property", operator.attrgetter("fget", "fset", "fdel"), property),
    staticmethod: ("staticmethod", lambda value: (value.__func__,), staticmethod),
    classmethod: ("classmethod", lambda value: (value.__func__,), classmethod),
    weakref.ref: ("wr", lambda value: (value(),), lambda owner: None if owner is None else weakref.ref(owner)),
    # The judge's alone: those of the code stay handles, and the judge calls none of its functions.
    functools.partial: (
        "pa", lambda value: (value.func, value.args, *flat(value.keywords.items())),
        lambda function, args, *keywords: functools.partial(function, *args, **pairs(keywords)),
    ),
    "zoneinfo": ("zi", lambda value: (type(value), value.key), _make_zone),
    **apart_tables.ROWS,
}  # fmt: skip
ROWS = {kind: (*row, False) for kind, row in OF_VALUES.items()}
ROWS.update((kind, (*row, True)) for kind, row in OF_PLAIN_DATA.items())
BY_TAG = {row[0]: row for row in ROWS.values()}
# Of these another value crosses; a traceback leads to the frames of the other side.
SEEN_AS = {type({}.keys()): list, type({}.values()): list, type({}.items()): list, types.TracebackType: lambda _: None}


@functools.lru_cache(maxsize=None)
def row_of(kind):
    """(tag, taking apart, making, whether the parts are plain data) of a type; None of one without a row."""
    key = FROZEN.get(kind.__name__, kind)
    for family in (pathlib.PurePath, weakref.ref):
        key = family if issubclass(kind, family) else key
    names = [base.__name__ for base in kind.__mro__]
    return ROWS.get("zoneinfo" if "ZoneInfo" in names else apart_tables.family_of(kind, names) or key)


# -- containers, and the content of a subclass of a built-in type -----------------------------------------------------


def pairs(content):
    return dict(zip(content[::2], content[1::2]))  # noqa: B905 - Python 3.9


def flat(items):
    return [each for pair in items for each in pair]


def _table(base):
    def fill(value, content):
        base.clear(value)
        for key, held in pairs(content).items():
            base.__setitem__(value, key, held)

    return lambda value: flat(base.items(value)), fill


def _fill_set(value, items):
    set.clear(value)
    set.update(value, items)


def _fill_defaultdict(value, content):
    value.default_factory = content[0]
    HOLDERS[dict][1](value, content[1:])


def _take_stream(value):
    return (None, 0) if value.closed else (value.getvalue(), value.tell())


def _fill_stream(value, content):
    text, place = content
    if text is None:
        value.close()
        return
    if value.getvalue() != text:
        value.seek(0)
        value.truncate()
        value.write(text)
    value.seek(place)


# {type: (the tag of a form of its own, its content, taking over such a content)}
_HELD = {
    list: ("l", list.__iter__, lambda value, items: list.__setitem__(value, slice(None), items)),
    dict: ("d", *_table(dict)),
    set: ("S", set.__iter__, _fill_set),
    bytearray: (
        "ba", lambda value: (bytes(value),), lambda value, held: bytearray.__setitem__(value, slice(None), *held),
    ),
    collections.OrderedDict: ("", *_table(collections.OrderedDict)),
    collections.defaultdict: ("", lambda value: [value.default_factory, *flat(dict.items(value))], _fill_defaultdict),
    collections.deque: (
        "", lambda value: [value.maxlen, *collections.deque.__iter__(value)],
        lambda value, content: collections.deque.__init__(value, content[1:], content[0]),
    ),
    types.SimpleNamespace: ("", lambda _: (), lambda *_: None),
    io.StringIO: ("st", _take_stream, _fill_stream),
    io.BytesIO: ("sb", _take_stream, _fill_stream),
    type(threading.Lock()): ("lk", lambda _: (), lambda *_: None),
    type(threading.RLock()): ("rl", lambda _: (), lambda *_: None),
}  # fmt: skip
HOLDERS = {kind: row[1:] for kind, row in _HELD.items()}
FORMS = {kind: row[0] for kind, row in _HELD.items() if row[0]}
MADE_OF = {**{form: kind for kind, form in FORMS.items()}, "lk": threading.Lock, "rl": threading.RLock}
UNCHANGING = frozenset((
    tuple, frozenset, str, int, float, bytes, complex, REAL_DATETIME, datetime.date, REAL_TIME, datetime.timedelta,
))  # fmt: skip
# Built-in bases whose subclasses are rebuilt from a content and attributes.
PAYLOADS = (HOLDERS.keys() - FORMS.keys()) | UNCHANGING | {list, dict, set, bytearray}


def content_of(value, base):
    """The content of an instance of such a base, besides its attributes: items, or the arguments that make it."""
    if base in HOLDERS:
        return HOLDERS[base][0](value)
    if base in ROWS and base.__module__ == "datetime":
        return ROWS[base][1](value)
    if base is frozenset:
        return (tuple(frozenset.__iter__(value)),)
    return base.__getnewargs__(value) if base in PAYLOADS else ()


def make_instance(kind, base, content):
    """An instance of such a base; of those that do not change, with its content."""
    if base is not object and base not in PAYLOADS:
        raise CannotCross("an instance of %s" % kind.__name__)
    if base not in UNCHANGING:
        return base.__new__(kind)
    *arguments, last = content
    if base in (REAL_DATETIME, REAL_TIME):
        return base.__new__(kind, *arguments, fold=last)
    return base.__new__(kind, *arguments, last)
