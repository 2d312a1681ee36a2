"""Encodes a message between judge and code as JSON: a closed set of types, no code.

A mutable object has a number that both sides keep, so that identity, cycles and changes in place survive a call; of
objects that the other side knows only changed states are sent. What cannot be copied crosses as a handle, on which the
other side may call back.
"""

import collections
import enum
import math
import operator
import types

from apart_handles import Handle
from apart_rules import FUNCTIONS, CannotCross, solid_base
from apart_values import FORMS, HOLDERS, SEEN_AS, attributes_of, content_of, flat, parts_of_error, row_of, slots_of

MOST_OBJECTS = 400_000  # in one message
# What both sides know of an object: its shape (to see a change), its encoded state, and the objects that it holds.
Known = collections.namedtuple("Known", ("shape", "state", "children"))  # noqa: PYI024 - nothing is annotated here


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
        if (kind is int and -(1 << 53) < value < 1 << 53) or (kind is float and math.isfinite(value)):
            return value
        row = row_of(kind)
        if row is not None and (row[0] != "pa" or self.peer.is_judge):
            tag, take, _, is_plain = row
            parts = take(value)
            if parts is not None:
                return [tag, *(parts if is_plain else map(self.encode, parts))]
        seen_as = SEEN_AS.get(kind)
        return self.encode(seen_as(value)) if seen_as else self._encode_object(value, kind)

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
                by_value = [] if value._name_ in kind.__members__ else [self.encode(value._value_)]
                return ["e", self.encode(kind), value._name_, *by_value]
            path = peer.path_of(value)
            number = peer.share(value, "g|%s|%s" % path if path else None)
        return ["s", self._note(number, value)]

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
        return list(map(self.encode, flat(table.items())))

    def _state(self, value, kind):
        encode, peer = self.encode, self.peer
        if kind in FORMS:
            return [FORMS[kind], *map(encode, HOLDERS[kind][0](value))]
        if kind is object:
            return ["o", encode(kind), [], []]
        if isinstance(value, type):
            return peer.class_state(self, value)
        if peer.is_judge and kind is types.FunctionType:
            return peer.function_state(self, value)
        if peer.is_opaque(value, kind):
            return peer.handle_state(self, value, kind)
        if isinstance(value, BaseException):
            cause = encode(value.__cause__)  # the context stays: it may hold anything
            args, attributes = parts_of_error(value, kind)
            return ["x", encode(kind), encode(args), self.flat(attributes), cause, value.__suppress_context__]
        return ["o", encode(kind), self.flat(attributes_of(value)), [*map(encode, content_of(value, solid_base(kind)))]]


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


def roots_of(values):
    """The objects among the values of a message, each once; those of small containers too."""
    found, todo = {}, list(values)
    while todo and len(found) < 200:
        value = todo.pop()
        if type(value) is tuple:
            todo += value
        elif not isinstance(value, (str, int, float, bytes, type(None))):
            found[id(value)] = value
            if type(value) in (list, dict) and len(value) < 8:
                todo += value if type(value) is list else value.values()
    return tuple(found.values())
