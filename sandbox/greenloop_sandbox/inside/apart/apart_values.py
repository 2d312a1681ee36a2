"""Encodes values that are copied between judge and code as JSON, and reads what an instance itself holds.

Scalars are themselves, everything else is a list that begins with a tag. `apart_decoder.py` has a row for each tag.
"""

import array
import base64
import builtins
import datetime
import decimal
import fractions
import functools
import pathlib
import re
import sys
import types
import uuid
import weakref

from apart_rules import is_python_class, module_of

# freezegun gives its own classes while time stands still.
FROZEN = {"FakeDatetime": datetime.datetime, "FakeDate": datetime.date}
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


def members_of(value, kind):
    """Returns a built-in exception's values besides its arguments: an `ImportError`'s path, the code of an exit."""
    found = {}
    for base in kind.__mro__:
        if base not in (BaseException, Exception, object, GROUP) and not is_python_class(base):
            for name, member in vars(base).items():
                held = member.__get__(value, kind) if isinstance(member, types.MemberDescriptorType) else None
                if held is not None and type(held) in (str, int, bool):
                    found[name] = held
    return found


def text_of(data):
    return base64.b64encode(data).decode()


def _encode_datetime(encoder, value):
    moment = [value.year, value.month, value.day, value.hour, value.minute, value.second, value.microsecond]
    return ["dt", *moment, encoder.encode(value.tzinfo), value.fold]


def _encode_time(encoder, value):
    return ["ti", value.hour, value.minute, value.second, value.microsecond, encoder.encode(value.tzinfo), value.fold]


def _encode_timezone(encoder, value):
    if value is datetime.timezone.utc:
        return ["utc"]
    return ["tz", encoder.encode(value.utcoffset(None)), value.tzname(None)]


def _as_list(encoder, value):
    return encoder.encode(list(value))


BY_VALUE = {
    tuple: lambda encoder, value: ["t", *map(encoder.encode, value)],
    frozenset: lambda encoder, value: ["z", *map(encoder.encode, value)],
    bytes: lambda _encoder, value: ["b", text_of(value)],
    complex: lambda encoder, value: ["c", encoder.encode(value.real), encoder.encode(value.imag)],
    range: lambda encoder, value: ["r", *map(encoder.encode, (value.start, value.stop, value.step))],
    slice: lambda encoder, value: ["sl", *map(encoder.encode, (value.start, value.stop, value.step))],
    datetime.datetime: _encode_datetime,
    datetime.date: lambda _encoder, value: ["da", value.year, value.month, value.day],
    datetime.time: _encode_time,
    datetime.timedelta: lambda _encoder, value: ["td", value.days, value.seconds, value.microseconds],
    datetime.timezone: _encode_timezone,
    decimal.Decimal: lambda _encoder, value: ["D", str(value)],
    fractions.Fraction: lambda _encoder, value: ["F", hex(value.numerator), hex(value.denominator)],
    uuid.UUID: lambda _encoder, value: ["U", value.hex],
    type(...): lambda _encoder, _value: ["ell"],
    type(NotImplemented): lambda _encoder, _value: ["ni"],
    types.MappingProxyType: lambda encoder, value: ["mp", encoder.encode(dict(value))],
    array.array: lambda _encoder, value: ["ar", value.typecode, text_of(value.tobytes())],
    memoryview: lambda _encoder, value: ["mv", text_of(value.tobytes())],
    types.TracebackType: lambda _encoder, _value: None,  # it leads to the frames of the other side
    type({}.keys()): _as_list,
    type({}.values()): _as_list,
    type({}.items()): _as_list,
}


def _encode_numpy(encoder, value):
    numpy = sys.modules["numpy"]
    if type(value) is numpy.ndarray:
        if value.dtype.hasobject:
            return ["npo", list(value.shape), *map(encoder.encode, value.ravel().tolist())]
        return (
            ["np", value.dtype.str, list(value.shape), text_of(value.tobytes())] if value.dtype.names is None else None
        )
    return ["nps", value.dtype.str, text_of(value.tobytes())] if isinstance(value, numpy.generic) else None


def _encode_pandas(encoder, value):
    pandas = sys.modules["pandas"]
    if isinstance(value, pandas.DataFrame):
        columns = [_encode_pandas(encoder, value.iloc[:, place])[2] for place in range(value.shape[1])]
        return ["pdf", _encode_pandas(encoder, value.index), _encode_pandas(encoder, value.columns), *columns]
    array = value.to_numpy()
    held = _encode_numpy(encoder, array) if module_of(type(array)) == "numpy" else None
    form = [str(value.dtype), held, encoder.encode(value.name)]
    return ["pi", *form] if isinstance(value, pandas.Index) else ["ps", _encode_pandas(encoder, value.index), form]


def _encode_descriptor(encoder, value):
    parts = (value.fget, value.fset, value.fdel) if type(value) is property else (value.__func__,)
    return ["de", type(value).__name__, *map(encoder.encode, parts)]


def _encode_partial(encoder, value):
    """For the judge's partials alone: those of the code stay handles, and the judge calls none of its functions."""
    if not encoder.peer.is_judge:
        return None
    return ["pa", encoder.encode(value.func), encoder.encode(value.args), *encoder.flat(value.keywords)]


# Other types: (test of value and type, encoder), tried in this order. An encoder may decline by returning None.
BY_KIND = (
    (lambda value, kind: kind is functools.partial, _encode_partial),
    (lambda _, kind: kind is re.Pattern, lambda e, value: ["re", e.encode(value.pattern), value.flags]),
    (lambda _, kind: issubclass(kind, pathlib.PurePath), lambda _e, value: ["P", type(value).__name__, str(value)]),
    (
        lambda _, kind: any(base.__name__ == "ZoneInfo" for base in kind.__mro__),
        lambda e, value: ["zi", e.encode(type(value)), value.key],
    ),
    (lambda _, kind: kind.__module__ == "numpy", _encode_numpy),
    (
        lambda _, kind: module_of(kind) == "pandas" and kind.__name__ in ("DataFrame", "Series", "Index", "RangeIndex"),
        _encode_pandas,
    ),
    (lambda _, kind: kind in (property, staticmethod, classmethod), _encode_descriptor),
    (lambda _, kind: issubclass(kind, weakref.ref), lambda e, value: ["wr", e.encode(value())]),
    (
        lambda _, kind: kind is types.GenericAlias,
        lambda e, value: ["ga", e.encode(value.__origin__), e.encode(value.__args__)],
    ),
)
