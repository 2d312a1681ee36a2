"""Rebuilds the values of a message between judge and code; refuses what the encoder never makes."""

import array
import base64
import collections
import datetime
import decimal
import enum
import fractions
import functools
import importlib
import io
import pathlib
import re
import sys
import threading
import types
import uuid
import weakref

from apart_encoder import Known
from apart_rules import FUNCTIONS, SPECIAL, CannotCross, solid_base
from apart_values import attributes_of, slots_of

IN_PLACE = "arguments that are changed in place"
MAKE_LOCK = {"Lock": threading.Lock, "RLock": threading.RLock}
MUTABLE = {"l": list, "d": dict, "S": set, "ba": bytearray}
STREAMS = {"StringIO": io.StringIO, "BytesIO": io.BytesIO}
# Built-in bases whose subclasses are rebuilt from a payload and attributes.
PAYLOADS = frozenset((
    str, bytes, bool, int, float, complex, tuple, list, dict, set, frozenset, bytearray, collections.OrderedDict,
    collections.defaultdict, collections.deque, datetime.datetime, datetime.date, datetime.time, datetime.timedelta,
    types.SimpleNamespace,
))  # fmt: skip
MADE_EMPTY = frozenset(
    (list, dict, set, bytearray, collections.OrderedDict, collections.defaultdict, types.SimpleNamespace)
)
SLOT = types.MemberDescriptorType
UNCHANGING = frozenset((tuple, frozenset, str, int, float, bytes, complex, bool))
REAL_DATETIME, REAL_DATE = datetime.datetime, datetime.date
# States are applied in this order: a container hashes and compares what it holds.
_ORDER = {"o": 0, "x": 0, "io": 0, "l": 1, "ba": 1, "d": 2, "S": 2}


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
            self._fill(peer.objects[number], state, is_mine, number)
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

    def _fill(self, value, state, is_mine, number):
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
            self._fill_instance(value, kind, state, number if is_mine else "")

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

    def _fill_instance(self, value, kind, state, number):
        if self.decode_class(state[1]) is not kind:
            raise CannotCross("an object changed its class")
        if state[0] == "x":
            value.args = tuple(self.decode(state[2]))
            self._set_attributes(value, kind, state[3], "")
            value.__cause__ = self.decode(state[4])
            value.__suppress_context__ = bool(state[5])
            return
        self._set_attributes(value, kind, state[2], number)
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

    def _set_attributes(self, value, kind, flat, number):
        """`number` is that of an object of this side."""
        new = {self.decode(flat[place]): self.decode(flat[place + 1]) for place in range(0, len(flat), 2)}
        if number:
            new = self.peer.changed_attributes(number, attributes_of(value), new)
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
