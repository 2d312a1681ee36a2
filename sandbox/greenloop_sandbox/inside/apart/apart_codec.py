"""Encodes values between judge and code as JSON: a closed set of types, no code.

Scalars are themselves, everything else is a list that begins with a tag. A mutable object has a number that both sides
keep, so that identity, cycles and changes in place survive a call; of objects that the other side knows only changed
states are sent. What cannot be copied crosses as a handle, on which the other side may call back.
"""

import array
import base64
import builtins
import collections
import datetime
import decimal
import enum
import fractions
import functools
import importlib
import io
import math
import operator
import pathlib
import re
import sys
import threading
import types
import uuid
import weakref

from apart_rules import FUNCTIONS, SPECIAL, CannotCross, is_python_class, module_of, solid_base

IN_PLACE = "arguments that are changed in place"
MOST_OBJECTS = 400_000  # in one message
LOCKS = {type(threading.Lock()): "Lock", type(threading.RLock()): "RLock"}
MAKE_LOCK = {"Lock": threading.Lock, "RLock": threading.RLock}
MUTABLE = {"l": list, "d": dict, "S": set, "ba": bytearray}
STREAMS = {"StringIO": io.StringIO, "BytesIO": io.BytesIO}
# Built-in bases whose subclasses are rebuilt from a payload and attributes.
PAYLOADS = frozenset(
    (
        str, bytes, bool, int, float, complex, tuple, list, dict, set, frozenset, bytearray, collections.OrderedDict,
        collections.defaultdict, collections.deque, datetime.datetime, datetime.date, datetime.time, datetime.timedelta,
        types.SimpleNamespace,
    )
)  # fmt: skip
# freezegun gives its own classes while time stands still.
FROZEN = {"FakeDatetime": datetime.datetime, "FakeDate": datetime.date}
MADE_EMPTY = frozenset(
    (list, dict, set, bytearray, collections.OrderedDict, collections.defaultdict, types.SimpleNamespace)
)
GROUP = getattr(builtins, "BaseExceptionGroup", ())  # new in Python 3.11
SLOT = types.MemberDescriptorType
UNCHANGING = frozenset((tuple, frozenset, str, int, float, bytes, complex, bool))
REAL_DATETIME, REAL_DATE = datetime.datetime, datetime.date
# States are applied in this order: a container hashes and compares what it holds.
_ORDER = {"o": 0, "x": 0, "io": 0, "l": 1, "ba": 1, "d": 2, "S": 2}


class Encoder:
    """Encodes one message: its values, and the states of all objects that hang on them and have changed."""

    def __init__(self, peer):
        self.peer, self.states, self.seen, self.bare = peer, {}, set(), set()
        self._todo, self._in_instance, self._children = collections.deque(), False, []

    def message(self, values, roots):
        encoded = [self.encode(value) for value in values]
        for root in roots:
            self.encode(root)
        known = self.peer.known
        while self._todo:
            number, value, is_bare = self._todo.popleft()
            self._in_instance = not (is_bare and type(value) in (list, dict, set, bytearray))
            if is_bare and not self._in_instance:
                self.bare.add(number)
            shape = _shape(value)
            entry = known.get(number)
            if entry is not None and shape is not None and entry.children is not None and _is_same(shape, entry.shape):
                for child, held in entry.children:
                    self._note(child, held)
                continue
            self._children = children = []
            state = self._state(value, type(value))
            if entry is None and number[0] == "g":
                pass  # a named object of a module: at first sight it is the same on both sides
            elif entry is None or entry.state != state:
                self.states[number] = state
            known[number] = Known(shape, state, children)
            if len(self.seen) > MOST_OBJECTS:
                raise CannotCross("more than %d objects" % MOST_OBJECTS)
        return encoded

    def encode(self, value):
        kind = type(value)
        if value is None or kind is bool or kind is str:
            return value
        if kind is int:
            return value if -(1 << 53) < value < 1 << 53 else ["i", hex(value)]
        if kind is float:
            return value if math.isfinite(value) else ["f", repr(value)]
        by_value = BY_VALUE.get(kind) or (kind.__name__ in FROZEN and BY_VALUE[FROZEN[kind.__name__]])
        return by_value(self, value) if by_value else self._encode_object(value, kind)

    def _encode_object(self, value, kind):
        peer, rules = self.peer, self.peer.rules
        if issubclass(kind, Handle):
            return ["s", self._note(value._apart_number, None)]
        number = peer.numbers.get(id(value))
        if number is None:
            if issubclass(kind, (type, *FUNCTIONS)):
                name = rules.name_of(value)
                if name:
                    return ["g", *name]
            elif kind is types.ModuleType:
                if value.__name__.split(".")[0] in rules.modules:
                    return ["m", value.__name__]
            elif issubclass(kind, enum.Enum):
                if value._name_ in kind.__members__:
                    return ["e", self.encode(kind), value._name_]
                return ["ev", self.encode(kind), self.encode(value._value_)]
            elif kind is types.MethodType:
                if self._is_plain_method(value):
                    return ["bm", self.encode(value.__self__), value.__name__]
            else:
                for test, encode in BY_KIND:
                    if test(value, kind):
                        encoded = encode(self, value)
                        if encoded is not None:
                            return encoded
            path = peer.path_of(value)
            number = peer.share(value, "g|%s|%s" % path if path else None)
        return ["s", self._note(number, value)]

    def _is_plain_method(self, value):
        owner, name = value.__self__, value.__name__
        if SPECIAL.match(name) or getattr(owner, name, None) != value:
            return False
        if isinstance(owner, type):
            return self.peer.rules.name_of(owner) is not None
        return not self.peer.is_opaque(owner, type(owner)) and (
            self.peer.is_judge or self.peer.rules.is_own(type(owner))
        )

    def _note(self, number, value):
        """Notes that an object belongs to the message; its state is looked at later."""
        # Of a stand-in for the other side's function or class, what it holds is not looked at.
        is_foreign = number[0] == self.peer.other_tag
        is_stand_in = value is None or (is_foreign and isinstance(value, (type, types.FunctionType)))
        self._children.append((number, None if is_stand_in else value))
        if number not in self.seen:
            self.seen.add(number)
            if not is_stand_in:
                self._todo.append((number, value, not self._in_instance))
        return number

    def flat(self, table):
        return [each for pair in table.items() for each in (self.encode(pair[0]), self.encode(pair[1]))]

    def _state(self, value, kind):
        encode, peer = self.encode, self.peer
        if kind is list:
            return ["l", *map(encode, value)]
        if kind is dict:
            return ["d", *self.flat(value)]
        if kind is set:
            return ["S", *map(encode, value)]
        if kind is bytearray:
            return ["ba", _text(bytes(value))]
        if kind in LOCKS:
            return ["lk", LOCKS[kind]]
        if kind in (io.StringIO, io.BytesIO):
            closed = value.closed
            return ["io", kind.__name__, None if closed else encode(value.getvalue()), 0 if closed else value.tell()]
        if kind is object:
            return ["o", encode(kind), [], None]
        if isinstance(value, type):
            return peer.class_state(self, value)
        if peer.is_judge and kind is types.FunctionType:
            return peer.function_state(self, value)
        if peer.is_opaque(value, kind):
            return peer.handle_state(self, value, kind)
        if isinstance(value, BaseException):
            cause = encode(value.__cause__)  # the context stays: it may hold anything
            args = (value.message, tuple(value.exceptions)) if isinstance(value, GROUP) else value.args
            args, attributes = encode(args), self.flat({**_members_of(value, kind), **attributes_of(value)})
            return ["x", encode(kind), args, attributes, cause, value.__suppress_context__]
        return ["o", encode(kind), self.flat(attributes_of(value)), self._payload(value, solid_base(kind))]

    def _payload(self, value, base):
        """The part of an instance that a built-in base holds."""
        encode = self.encode
        if base in (object, types.SimpleNamespace):
            return None
        if base is collections.deque:
            return ["t", value.maxlen, *map(encode, base.__iter__(value))]
        if base is collections.defaultdict:
            return ["t", encode(value.default_factory), *self.flat(dict.copy(value))]
        if issubclass(base, dict):
            return ["t", *[each for pair in dict.items(value) for each in map(encode, pair)]]
        if base in (list, tuple, set, frozenset):
            return ["t", *map(encode, base.__iter__(value))]
        if base is str:
            return str.__str__(value)
        if base in (int, float):
            return encode(base.__int__(value) if base is int else base.__float__(value))
        if base in BY_VALUE and base.__module__ == "datetime":
            return BY_VALUE[base](self, value)
        return encode(bytes(value)) if base in (bytes, bytearray) else encode(complex(value))


class Known:
    """Shared knowledge of an object: its shape (to see a change), its encoded state, and the objects that it holds."""

    __slots__ = ("children", "shape", "state")

    def __init__(self, shape, state, children):
        self.shape, self.state, self.children = shape, state, children


def _shape(value):
    """A shallow copy that shows a change in place without encoding anything; None where there is no cheap one."""
    kind = type(value)
    if kind is list:
        return list(value)
    if kind is dict:
        return [*value.keys(), *value.values()]
    if isinstance(value, (type, BaseException)) or solid_base(kind) is not object:
        return None
    try:
        held = object.__getattribute__(value, "__dict__")
    except AttributeError:
        return None
    return None if slots_of(kind) else [kind, *held.keys(), *held.values()]


def _is_same(one, other):
    return other is not None and len(one) == len(other) and all(map(operator.is_, one, other))


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


def _members_of(value, kind):
    """Returns a built-in exception's values besides its arguments: an `ImportError`'s path, the code of an exit."""
    found = {}
    for base in kind.__mro__:
        if base not in (BaseException, Exception, object, GROUP) and not is_python_class(base):
            for name, member in vars(base).items():
                held = member.__get__(value, kind) if isinstance(member, types.MemberDescriptorType) else None
                if held is not None and type(held) in (str, int, bool):
                    found[name] = held
    return found


def _text(data):
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
    bytes: lambda _encoder, value: ["b", _text(value)],
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
    array.array: lambda _encoder, value: ["ar", value.typecode, _text(value.tobytes())],
    memoryview: lambda _encoder, value: ["mv", _text(value.tobytes())],
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
        return ["np", value.dtype.str, list(value.shape), _text(value.tobytes())] if value.dtype.names is None else None
    return ["nps", value.dtype.str, _text(value.tobytes())] if isinstance(value, numpy.generic) else None


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


class Decoder:
    """Rebuilds one message. `lent` are the numbers whose states the other side may change for this call.

    `bare`: containers that were handed over as such; changes in them are applied only where the run allows it. Raises
    `CannotCross` for anything that the other side's encoder never makes.
    """

    def __init__(self, peer, states, lent, bare):
        self.peer, self.states, self.lent, self.bare = peer, states, lent, bare
        self._being_made = set()

    def decode_message(self, values):
        peer = self.peer
        for number in self.states:
            self._object(number)
        for number, state in sorted(self.states.items(), key=lambda item: _ORDER.get(item[1][0], 3)):
            is_mine = number[0] in (peer.tag, "g")
            if peer.is_judge and is_mine and number not in self.lent:
                continue  # no changes of what was not lent for this call
            if peer.is_judge and is_mine and number in self.bare and not peer.takes_change(IN_PLACE):
                continue
            self._fill(peer.objects[number], state, is_mine)
            peer.known[number] = Known(None, state, None)
        return [self.decode(value) for value in values]

    def _object(self, number):
        peer = self.peer
        found = peer.objects.get(number, self)
        if found is not self:
            return found
        if number[:2] == "g|":
            _, module, path = number.split("|")
            found = peer.rules.resolve(module, path, is_instance=True)
        else:
            state = self.states.get(number)
            if state is None or number[0] != peer.other_tag or number in self._being_made:
                raise CannotCross("a number without an object")
            self._being_made.add(number)
            found = self._make(state, number)
        if number not in peer.objects:
            peer.keep(number, found)
        return peer.objects[number]

    def _make(self, state, number):
        """A new object without its content."""
        tag, peer = state[0], self.peer
        if tag in MUTABLE:
            return MUTABLE[tag]()
        if tag == "lk":
            return MAKE_LOCK[state[1]]()
        if tag == "io":
            return STREAMS[state[1]]()
        if tag == "h":
            return peer.make_handle(self, state, number)
        if tag == "fn" and not peer.is_judge:
            return peer.make_function(self, state, number)
        if tag == "C":
            return peer.make_class(self, state, number)
        kind = self.decode_class(state[1])
        if not isinstance(kind, type) or (peer.is_judge and not peer.rules.allows_class(kind)):
            raise CannotCross("an instance of %r" % (kind,))
        base = solid_base(kind)
        if tag == "x":
            if not issubclass(kind, BaseException) or issubclass(kind, CannotCross):
                raise CannotCross("no exception")
            return base.__new__(kind, *self.decode(state[2]))
        if tag != "o" or issubclass(kind, BaseException):
            raise CannotCross("an unknown form")
        return object.__new__(kind) if base is object else self._make_with_payload(kind, base, state[3])

    def _make_with_payload(self, kind, base, payload):
        if base not in PAYLOADS:
            raise CannotCross("an instance of %s" % kind.__name__)
        if base in (tuple, frozenset):
            return base.__new__(kind, [self.decode(each) for each in payload[1:]])
        if base in MADE_EMPTY:
            return base.__new__(kind)
        if base is collections.deque:
            found = base.__new__(kind)
            base.__init__(found, (), self.decode(payload[1]))
            return found
        value = self.decode(payload)
        if base is REAL_DATETIME:
            moment = (value.year, value.month, value.day, value.hour, value.minute, value.second, value.microsecond)
            return base.__new__(kind, *moment, value.tzinfo, fold=value.fold)
        if base is REAL_DATE:
            return base.__new__(kind, value.year, value.month, value.day)
        if base is datetime.timedelta:
            return base.__new__(kind, value.days, value.seconds, value.microseconds)
        if type(value) is not base:
            raise CannotCross("an instance of %s with another value" % kind.__name__)
        return base.__new__(kind, value)

    def _fill(self, value, state, is_mine):
        """Gives an object the state that the other side has sent."""
        tag, kind = state[0], type(value)
        if tag in ("h", "C", "lk", "fn"):
            return
        if MUTABLE.get(tag, kind) is not kind:
            raise CannotCross("another kind of object under one number")
        if tag == "ba":
            value[:] = base64.b64decode(state[1])
        elif tag == "io":
            self._fill_stream(value, state)
        elif tag in MUTABLE:
            items = [self.decode(each) for each in state[1:]]
            if is_mine:
                items = self.peer.changed_items(tag, items)
            if tag == "l":
                value[:] = items
            else:
                value.clear()
                value.update(zip(items[::2], items[1::2]) if tag == "d" else items)  # noqa: B905 - Python 3.9
        else:
            self._fill_instance(value, kind, state)

    def _fill_stream(self, value, state):
        if state[2] is None:
            value.close()
            return
        content = self.decode(state[2])
        if value.getvalue() != content:
            value.seek(0)
            value.truncate()
            value.write(content)
        value.seek(state[3])

    def _fill_instance(self, value, kind, state):
        if self.decode_class(state[1]) is not kind:
            raise CannotCross("an object changed its class")
        if state[0] == "x":
            value.args = tuple(self.decode(state[2]))
            self._set_attributes(value, kind, state[3])
            value.__cause__ = self.decode(state[4])
            value.__suppress_context__ = bool(state[5])
            return
        self._set_attributes(value, kind, state[2])
        base, payload = solid_base(kind), state[3]
        if base is object or payload is None or base in UNCHANGING:
            return
        if base is collections.defaultdict:
            value.default_factory = self.decode(payload[1])
            payload = ["t", *payload[2:]]
        items = [self.decode(each) for each in payload[2 if base is collections.deque else 1 :]]
        if issubclass(base, dict):
            base.clear(value)
            for place in range(0, len(items), 2):
                base.__setitem__(value, items[place], items[place + 1])
        elif base is list:
            list.__setitem__(value, slice(None), items)
        elif base is set:
            set.clear(value)
            set.update(value, items)
        elif base is collections.deque:
            base.clear(value)
            base.extend(value, items)

    def _set_attributes(self, value, kind, flat):
        new = {self.decode(flat[place]): self.decode(flat[place + 1]) for place in range(0, len(flat), 2)}
        if isinstance(value, BaseException):
            for name in [name for name in new if isinstance(getattr(solid_base(kind), name, None), SLOT)]:
                setattr(value, name, new.pop(name))
        for name, member in reversed(slots_of(kind)):
            if name in new:
                member.__set__(value, new.pop(name))
        try:
            held = object.__getattribute__(value, "__dict__")
        except AttributeError:
            if new:
                raise CannotCross("attributes without a place") from None
            return
        if self.peer.is_judge:
            for name in new:
                if type(name) is not str:
                    raise CannotCross("no attribute")
                hidden = next((vars(base)[name] for base in kind.__mro__ if name in vars(base)), None)
                if name not in held and isinstance(hidden, (*FUNCTIONS, classmethod, staticmethod)):
                    raise CannotCross("the method %s hidden by a value" % name)
        if len(held) != len(new) or any(held.get(name, self) is not new[name] for name in new):
            held.clear()
            held.update(new)

    def decode(self, value):
        kind = type(value)
        if kind is not list:
            if kind is dict:
                raise CannotCross("an unknown form")
            return value
        make = BY_TAG.get(value[0])
        if make is None:
            raise CannotCross("an unknown form")
        return make(self, value)

    def decode_class(self, value):
        """The class of an object or the base of a class, which nobody calls."""
        tag = value[0] if type(value) is list else ""
        if tag == "s":
            return self._object(value[1])
        return self.peer.rules.resolve(value[1], value[2]) if tag == "g" else self.decode(value)

    def _value(self, found):
        if isinstance(found, type) and not self.peer.takes_class(found):
            raise CannotCross("the class %s as a value" % found.__name__)
        return found

    def _members(self, kind):
        kind = self.decode_class(kind)
        if not (isinstance(kind, type) and issubclass(kind, enum.Enum)):
            raise CannotCross("no enumeration")
        return kind

    def _enum_by_value(self, value):
        kind = self._members(value[1])
        if not issubclass(kind, enum.Flag):
            raise CannotCross("no member of an enumeration")
        return kind(self.decode(value[2]))

    def _module(self, value):
        name, rules = value[1], self.peer.rules
        if self.peer.is_judge and (name.split(".")[0] not in rules.modules or name not in sys.modules):
            raise CannotCross("a module")
        return sys.modules.get(name) or importlib.import_module(name)

    def _method(self, value):
        owner, rules = self.decode(value[1]), self.peer.rules
        kind = owner if isinstance(owner, type) else type(owner)
        if self.peer.is_judge and (SPECIAL.match(value[2]) or not rules.is_own(kind)):
            raise CannotCross("a method")
        return getattr(owner, value[2])

    def _partial(self, value):
        if self.peer.is_judge:
            raise CannotCross("a partial function")
        flat = [self.decode(each) for each in value[3:]]
        keywords = dict(zip(flat[::2], flat[1::2]))  # noqa: B905 - Python 3.9
        return functools.partial(self.decode(value[1]), *self.decode(value[2]), **keywords)

    def _zone(self, value):
        kind = self.decode(value[1])
        if not (isinstance(kind, type) and any(base.__name__ == "ZoneInfo" for base in kind.__mro__)):
            raise CannotCross("no time zone")
        return kind(value[2])

    def _weak(self, value):
        owner = self.decode(value[1])
        return weakref.ref(owner) if owner is not None else None

    def _library(self, name):
        return sys.modules[name] if self.peer.is_judge else importlib.import_module(name)

    def _numpy(self, value):
        numpy = self._library("numpy")
        if value[0] == "npo":
            array = numpy.empty(len(value) - 2, dtype=object)
            for place, each in enumerate(value[2:]):
                array[place] = self.decode(each)
            return array.reshape(value[1])
        if numpy.dtype(value[1]).hasobject:
            raise CannotCross("objects in an array")
        raw = numpy.frombuffer(base64.b64decode(value[-1]), dtype=numpy.dtype(value[1])).copy()
        return raw.reshape(value[2]) if value[0] == "np" else raw[0]

    def _pandas(self, value):
        pandas = self._library("pandas")
        if value[0] == "pi":
            return self._column(pandas.Index, value[1:])
        index = self.decode(value[1])
        if value[0] == "ps":
            return self._column(pandas.Series, value[2], index=index)
        columns = {place: self._column(pandas.Series, form, index=index) for place, form in enumerate(value[3:])}
        frame = pandas.DataFrame(columns, index=index)
        frame.columns = self.decode(value[2])
        return frame

    def _column(self, make, form, **keywords):
        kind = None if form[0] == "object" else form[0]
        return make(self.decode(form[1]), name=self.decode(form[2]), dtype=kind, **keywords)


DESCRIPTORS = {"property": property, "staticmethod": staticmethod, "classmethod": classmethod}
PATHS = {kind.__name__: kind for kind in (pathlib.PurePosixPath, pathlib.PureWindowsPath, pathlib.PosixPath)}
BY_TAG = {
    "s": lambda d, v: d._value(d._object(v[1])),
    "t": lambda d, v: tuple([d.decode(each) for each in v[1:]]),
    "z": lambda d, v: frozenset([d.decode(each) for each in v[1:]]),
    "g": lambda d, v: d._value(d.peer.rules.resolve(v[1], v[2])),
    "b": lambda d, v: base64.b64decode(v[1]),
    "i": lambda d, v: int(v[1], 16),
    "f": lambda d, v: float(v[1]),
    "e": lambda d, v: d._members(v[1]).__members__[v[2]],
    "ev": Decoder._enum_by_value,
    "c": lambda d, v: complex(d.decode(v[1]), d.decode(v[2])),
    "r": lambda d, v: range(*map(d.decode, v[1:])),
    "sl": lambda d, v: slice(*map(d.decode, v[1:])),
    "dt": lambda d, v: REAL_DATETIME(*v[1:8], d.decode(v[8]), fold=v[9]),
    "da": lambda d, v: REAL_DATE(*v[1:]),
    "ti": lambda d, v: datetime.time(*v[1:5], d.decode(v[5]), fold=v[6]),
    "td": lambda d, v: datetime.timedelta(*v[1:]),
    "utc": lambda d, v: datetime.timezone.utc,
    "tz": lambda d, v: datetime.timezone(d.decode(v[1]), v[2]),
    "zi": Decoder._zone,
    "D": lambda d, v: decimal.Decimal(v[1]),
    "F": lambda d, v: fractions.Fraction(int(v[1], 16), int(v[2], 16)),
    "U": lambda d, v: uuid.UUID(v[1]),
    "P": lambda d, v: PATHS[v[1]](v[2]),
    "re": lambda d, v: re.compile(d.decode(v[1]), v[2] & ~re.DEBUG),
    "ell": lambda d, v: ...,
    "ni": lambda d, v: NotImplemented,
    "m": Decoder._module,
    "bm": Decoder._method,
    "pa": Decoder._partial,
    "wr": Decoder._weak,
    "ga": lambda d, v: types.GenericAlias(d.decode(v[1]), d.decode(v[2])),
    "mp": lambda d, v: types.MappingProxyType(d.decode(v[1])),
    "mv": lambda d, v: memoryview(base64.b64decode(v[1])),
    "ar": lambda d, v: array.array(v[1], base64.b64decode(v[2])),
    "de": lambda d, v: DESCRIPTORS[v[1]](*map(d.decode, v[2:])),
    "np": Decoder._numpy,
    "nps": Decoder._numpy,
    "npo": Decoder._numpy,
    "pi": Decoder._pandas,
    "ps": Decoder._pandas,
    "pdf": Decoder._pandas,
}


class Handle:
    """Stands for an object of the other process. In the judge it answers no comparison."""

    __slots__ = ("__weakref__", "_apart_kind", "_apart_number", "_apart_peer", "_apart_roots")

    def __getattr__(self, name):
        return self._apart_peer.get_attribute(self, name)

    def __setattr__(self, name, value):
        self._apart_peer.request("op", "setattr", self, name, value)

    def __copy__(self):
        if callable(self):
            return self  # as of a function
        raise CannotCross("a handle was copied")

    def __deepcopy__(self, _memo):
        return self.__copy__()

    def __reduce_ex__(self, _protocol):
        raise CannotCross("a handle was pickled")


class LentHandle(Handle):
    """The judge's object in the hands of the code: it may ask more, and the judge decides."""

    __slots__ = ()
    __hash__ = object.__hash__

    @property
    def __class__(self):
        return self._apart_kind or type(self)

    def __eq__(self, other):
        return self is other or self._apart_peer.ask_handle("eq", self, (other,))


AWAITED = ("anext", "aenter", "aexit")


def _forward(operation):
    if operation == "call":
        return lambda self, *args, **keywords: self._apart_peer.ask_handle("call", self, args, keywords)
    if operation == "await":
        return lambda self: self._apart_peer.await_handle(self).__await__()
    if operation in AWAITED:
        return lambda self, *args: self._apart_peer.await_handle(self._apart_peer.ask_handle(operation, self, args))
    return lambda self, *args: self._apart_peer.ask_handle(operation, self, args)


# Operations on a handle; the second ones only in the code's process.
ASKED_BY_BOTH = (
    "call", "iter", "next", "await", "len", "getitem", "setitem", "delitem", "enter", "exit", "str", "repr", "fspath",
    "aiter", "anext", "aenter", "aexit",
)  # fmt: skip
ASKED_BY_CODE = (
    "lt", "gt", "le", "ge", "add", "sub", "mul", "truediv", "mod", "contains", "bool", "int", "float", "index",
    "reversed",
)  # fmt: skip
OPERATIONS = {
    "len": len, "iter": iter, "next": next, "repr": repr, "str": str, "bool": bool, "float": float, "int": int,
    "index": operator.index, "getitem": operator.getitem, "setitem": operator.setitem, "delitem": operator.delitem,
    "contains": operator.contains, "eq": operator.eq, "lt": operator.lt, "gt": operator.gt, "le": operator.le,
    "ge": operator.ge, "add": operator.add, "sub": operator.sub, "mul": operator.mul, "truediv": operator.truediv,
    "mod": operator.mod, "reversed": reversed, "fspath": lambda value: type(value).__fspath__(value),
    "enter": lambda value: type(value).__enter__(value),
    "exit": lambda value, *args: type(value).__exit__(value, *args),
    "aiter": lambda value: type(value).__aiter__(value), "anext": lambda value: type(value).__anext__(value),
    "aenter": lambda value: type(value).__aenter__(value),
    "aexit": lambda value, *args: type(value).__aexit__(value, *args),
    "call": lambda value, *args, **keywords: value(*args, **keywords),
}  # fmt: skip


@functools.lru_cache(maxsize=None)
def handle_class(base, names):
    """A class of handles with those special methods that the object has, as far as they are allowed on this side."""
    allowed = ASKED_BY_BOTH if base is Handle else ASKED_BY_BOTH + ASKED_BY_CODE
    methods = {"__%s__" % name: _forward(name) for name in names if name in allowed}
    if "call" in names:
        methods["__doc__"] = property(lambda handle: handle._apart_peer.get_attribute(handle, "__doc__"))
    return type(base.__name__, (base,), {"__slots__": (), **methods})
