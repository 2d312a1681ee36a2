"""Makes wrong values of the same look: operands, constants and arguments that code cannot tell from the right ones.

It must not know what they are used for.
"""

import datetime
import decimal
import enum
import fractions
import functools
import pathlib
import random
import re
import string
import types

from apart_handles import Handle
from apart_rules import is_plain, is_python_class, solid_base
from apart_values import attributes_of, slots_of

DAY = datetime.timedelta(days=1)
SHIFTED = {datetime.date: DAY, datetime.datetime: DAY, datetime.timedelta: DAY}
SHIFTED.update({decimal.Decimal: decimal.Decimal(1), fractions.Fraction: fractions.Fraction(1), complex: 1})
# Built-in bases of which an instance has a content of its own, besides its attributes: `parts_of` shows it as "".
HOLDING = (str, bytes, int, float, tuple, list, dict, set)
MOST_MEMBERS = 20
OPERANDS = "operands"  # the arguments of constructors, as what is wrong in a run; the place of one of them follows
CHANCE = random.SystemRandom()  # that of tests crosses to the code


def perturbed(value, place, sign=0):
    """A copy of a value in which one plain part is wrong, in a 1-tuple; None if there is none. `sign` is of numbers.

    Nothing tells that it is wrong but who knows the right one.
    """
    kind = type(value)
    if kind is bool:
        return (not value,)
    if kind in (int, float):
        return (value + (sign or CHANCE.choice((-1, 1))) * CHANCE.randint(*((1, 9) if place else (1_000, 9_999))),)
    if kind is str:
        return (_other_text(value),)
    if kind is bytes:
        return (_other_text(value.decode("latin-1")).encode("latin-1"),)
    if value is None:
        return (CHANCE.randint(1, 9),)
    if kind in (list, tuple, set, frozenset):
        if not value:
            return None if kind is tuple else (kind([None]),)
        if all(isinstance(each, type) for each in value):
            return (kind(),)  # any of them may be the one that matters
        items, chosen = [*value], CHANCE.randrange(len(value))
        items[chosen : chosen + 1] = perturbed(items[chosen], place, sign) or ()
        return (kind(items),)
    if kind is dict:
        key = next(iter(value), None)
        wrong = perturbed(value[key], place, sign) if value else (1,)
        return ({**value, key: wrong[0]} if wrong else {},)
    if kind is re.Pattern:
        return (re.compile("(?!)" if isinstance(value.pattern, str) else b"(?!)", value.flags),)
    if kind in SHIFTED:
        return (value - SHIFTED[kind] if sign < 0 else value + SHIFTED[kind],)
    if isinstance(value, enum.Enum):
        others = [each for each in kind if each is not value]
        return (CHANCE.choice(others),) if others else None
    if isinstance(value, pathlib.PurePath):
        return (value.with_name(_other_text(value.name)),) if value.name else (value / _other_text(""),)
    if not _is_instance(value):
        return None
    wrongs = {name: perturbed(held, place, sign) for name, held in parts_of(value).items()}
    is_whole = lambda name, wrong: name or not hasattr(value, "_fields") or len(wrong) == len(value)  # noqa: E731
    changes = [{name: wrong[0]} for name, wrong in wrongs.items() if wrong and is_whole(name, wrong[0])]
    return (copy_of(value, **CHANCE.choice(changes)),) if changes else None


def wrong_operands(left, right, is_contained):
    """(wrong value in place of `right`, whether a comparison with `left` has to notice it).

    It need not notice what is wrong in an attribute in which the two are the same.
    """
    if isinstance(right, enum.Enum):
        return [(each, not is_contained) for each in type(right) if each is not right][:MOST_MEMBERS]
    if not _is_instance(right):
        wrongs = [perturbed(right, place) for place in range(3)]
        matters = isinstance(right, str) or not is_contained
        return [(wrong[0], matters) for wrong in wrongs if wrong]
    of_left = parts_of(left) if type(left) is type(right) else {}
    found = []
    for name, held in parts_of(right).items():
        wrong = perturbed(held, 0)
        if wrong is not None:
            found.append((copy_of(right, **{name: wrong[0]}), name in of_left and not is_same(of_left[name], held)))
    return found


def parts_of(value):
    """The attributes of an instance; under "" its content, where it has one of its own."""
    if isinstance(value, BaseException):
        return {"": value.args, **attributes_of(value)}
    base = solid_base(type(value))
    if base not in HOLDING:
        return attributes_of(value)
    content = base.__getnewargs__(value)[0] if hasattr(base, "__getnewargs__") else base.copy(value)
    return {"": content, **attributes_of(value)}


def copy_of(value, /, **changed):
    """A copy of an instance with other parts; of anything else the value itself."""
    if not _is_instance(value):
        return value
    kind, parts = type(value), {**parts_of(value), **changed}
    base, slots, content = solid_base(kind), dict(slots_of(kind)), parts.pop("", None)
    arguments = content if isinstance(value, BaseException) else () if content is None else (content,)
    copy = base.__new__(kind, *arguments)
    if type(content) in (list, dict, set):
        base.__init__(copy, content)
    for name, held in parts.items():
        if name in slots:
            slots[name].__set__(copy, held)
        else:
            object.__getattribute__(copy, "__dict__")[name] = held
    return copy


def fresh(value, change=lambda part: part, copies=None):
    """A copy of an instance that shares nothing with it, each of its plain parts and lists changed."""
    copies, kind = {} if copies is None else copies, type(value)
    inner = functools.partial(fresh, change=change, copies=copies)
    if id(value) in copies or len(copies) > 500:
        return copies.get(id(value), value)
    if kind in (list, tuple, set, frozenset, dict):
        copies[id(value)] = value  # if it holds itself
        parts = {key: inner(held) for key, held in value.items()} if kind is dict else change([*map(inner, value)])
        copies[id(value)] = kind(parts)
    elif not _is_instance(value):
        return change(value)
    else:
        content = {name: inner(held) for name, held in parts_of(value).items() if not name}
        copies[id(value)] = found = copy_of(value, **content)
        for name, held in attributes_of(value).items():
            object.__setattr__(found, name, inner(held))
    return copies[id(value)]


def larger(part):
    """A part that comes after this one, by its value as well as by its length."""
    if type(part) is list:
        return [*part, *part, 1]
    wrong = perturbed(part, 0, 1) if type(part) in (int, float, str, bytes, *SHIFTED) else (part,)
    return part + wrong[0] if type(part) in (str, bytes) else wrong[0]


def _is_instance(value):
    kind = type(value)
    special = (type, types.FunctionType, types.ModuleType, enum.Enum, pathlib.PurePath, Handle)
    is_held = solid_base(kind) in (object, *HOLDING) or isinstance(value, Exception)
    return is_python_class(kind) and is_held and not isinstance(value, special)


def is_same(one, other, depth=0):
    """True if two values have the same state, as the judge sees it."""
    if one is other:
        return True
    if type(one) is not type(other) or depth > 6:
        return False
    if _is_instance(one):
        return is_same(parts_of(one), parts_of(other), depth + 1)
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(is_same(a, b, depth + 1) for a, b in zip(one, other))  # noqa: B905
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(is_same(one[key], other[key], depth + 1) for key in one)
    return (is_plain(one) or isinstance(one, pathlib.PurePath)) and one == other


def _other_text(text):
    """A text of the same look with another letter or digit."""
    if not text:
        return CHANCE.choice(string.ascii_lowercase)
    place = CHANCE.randrange(len(text))
    old = text[place]
    letters = string.digits if old.isdigit() else string.ascii_uppercase if old.isupper() else string.ascii_lowercase
    new = CHANCE.choice([each for each in letters if each.lower() != old.lower()])
    return text[:place] + new + text[place + 1 :]
