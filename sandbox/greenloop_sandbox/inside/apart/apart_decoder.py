"""Rebuilds the values of a message between judge and code; refuses what the encoder never makes."""

import enum
import importlib
import sys
import types

from apart_encoder import Known
from apart_rules import FUNCTIONS, CannotCross, solid_base
from apart_values import BY_TAG, FORMS, HOLDERS, MADE_OF, PAYLOADS, attributes_of, make_instance, pairs, slots_of

IN_PLACE = "arguments that are changed in place"
SLOT = types.MemberDescriptorType
# States are applied in this order: a container hashes and compares what it holds.
_ORDER = {"o": 0, "x": 0, "st": 0, "sb": 0, "l": 1, "ba": 1, "d": 2, "S": 2}


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
        if tag in MADE_OF:
            return MADE_OF[tag]()
        if tag == "h":
            return peer.make_handle(self, state, number)
        if tag == "fn" and not peer.is_judge:
            return peer.make_function(self, state, number)
        if tag == "C":
            return peer.make_class(self, state, number)
        kind = self.decode_class(state[1])
        if not isinstance(kind, type) or (peer.is_judge and not peer.rules.allows_instance(kind)):
            raise CannotCross("an instance of %r" % (kind,))
        base = solid_base(kind)
        if tag == "x":
            if not issubclass(kind, BaseException) or issubclass(kind, CannotCross):
                raise CannotCross("no exception")
            return base.__new__(kind, *self.decode(state[2]))
        if tag != "o" or issubclass(kind, BaseException):
            raise CannotCross("an unknown form")
        return make_instance(kind, base, map(self.decode, state[3]))

    def _fill(self, value, state, is_mine, number):
        """Gives an object the state that the other side has sent."""
        tag, kind = state[0], type(value)
        if tag in ("h", "C", "fn"):
            return
        if tag not in MADE_OF:
            self._fill_instance(value, kind, state, number if is_mine else "")
        elif FORMS.get(kind) != tag:
            raise CannotCross("another kind of object under one number")
        else:
            items = [self.decode(each) for each in state[1:]]
            if is_mine and self.peer.is_judge and tag in ("l", "d", "S"):
                items = self.peer.changed_items(tag, items, number, value)
            HOLDERS[kind][1](value, items)

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
        if self.peer.is_judge:
            self.peer.watch_equality(kind)
        base = solid_base(kind)
        if base in HOLDERS and base in PAYLOADS:
            HOLDERS[base][1](value, [self.decode(each) for each in state[3]])

    def _set_attributes(self, value, kind, flat, number):
        """`number` is that of an object of this side."""
        new = self.table(flat)
        if number and self.peer.is_judge:
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
        tag, *parts = value
        if tag in NAMES:
            return NAMES[tag](self, *parts)
        row = BY_TAG.get(tag)
        if row is None or (tag == "pa" and self.peer.is_judge):
            raise CannotCross("an unknown form")
        _, _, make, is_plain = row
        if not is_plain:
            return make(*[self.decode(each) for each in parts])
        if any(type(each) in (list, dict) for each in parts):
            raise CannotCross("an unknown form")
        return make(*parts)

    def table(self, flat):
        return pairs([self.decode(each) for each in flat])

    def decode_class(self, value):
        """The class of an object or the base of a class, which nobody calls."""
        tag = value[0] if type(value) is list else ""
        if tag == "s":
            return self._object(value[1])
        return self.peer.rules.resolve(value[1], value[2]) if tag == "g" else self.decode(value)

    def _value(self, found):
        if self.peer.is_judge and isinstance(found, type) and not self.peer.takes_class(found):
            raise CannotCross("the class %s as a value" % found.__name__)
        return found

    def _member(self, kind, name, *value):
        kind = self.decode_class(kind)
        if not (isinstance(kind, type) and issubclass(kind, enum.Flag if value else enum.Enum)):
            raise CannotCross("no enumeration")
        return kind(self.decode(*value)) if value else kind.__members__[name]

    def _module(self, name):
        if self.peer.is_judge and (name.split(".")[0] not in self.peer.rules.modules or name not in sys.modules):
            raise CannotCross("a module")
        return sys.modules.get(name) or importlib.import_module(name)


# What is found on this side by a number or name.
NAMES = {
    "s": lambda decoder, number: decoder._value(decoder._object(number)),
    "g": lambda decoder, *path: decoder._value(decoder.peer.rules.resolve(*path)),
    "e": Decoder._member,
    "m": Decoder._module,
}
