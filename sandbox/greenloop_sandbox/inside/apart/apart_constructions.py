"""Watches constructors of the user's own classes, and makes one of their arguments wrong where a run asks for it.

It must not know which assertions look at the objects.
"""

import functools
import weakref

from apart_rules import PLAIN_TYPES
from apart_values import attributes_of
from apart_wrong import CHANCE, OPERANDS, perturbed

MOST_MADE = 50_000  # objects that are known
MOST_PLACES, MOST_PARTS = 8, 500  # arguments that are made wrong, parts of a side that are looked at
CONTAINERS = (list, tuple, set, frozenset, dict)


class Constructions:
    """Knows the objects that constructors have made, and by which arguments."""

    def __init__(self, wrong, is_changed):
        self._place, self._is_changed = wrong.partition(OPERANDS)[2], is_changed
        self._watched, self._made, self._running = {}, {}, set()
        self.shown = None  # a list for the object made last, where an assertion wants it

    def watch(self, kind):
        """Has the constructor of a class noted, where the class is one of the user's own; returns the class."""
        if issubclass(type(kind), type) and id(kind) not in self._watched and not issubclass(kind, BaseException):
            self._watched[id(kind)] = kind
            is_changed = self._is_changed(kind)
            of_typing = getattr(kind.__init__, "__module__", "") == "typing"
            name = "__new__" if kind.__init__ is object.__init__ or of_typing else "__init__"
            if is_changed is not None and getattr(kind, name) is not getattr(object, name):
                noted = self._noted(name, getattr(kind, name), is_changed)
                type.__setattr__(kind, name, staticmethod(noted) if name == "__new__" else noted)
        return kind

    def _noted(self, name, method, is_changed):
        @functools.wraps(method)
        def noted(this, *args, **keywords):
            key = id(this)
            if key in self._running:  # the constructor of a base
                return method(this, *args, **keywords)
            self._running.add(key)
            values = [*args, *keywords.values()]
            wrongs = {place: _wrong(value) for place, value in enumerate(values[:MOST_PLACES])}
            places = [place for place, wrong in wrongs.items() if wrong is not None]
            for place in places:
                values[place] = wrongs[place][0] if str(place) == self._place else values[place]
            try:
                result = method(this, *values[: len(args)], **dict(zip(keywords, values[len(args) :])))  # noqa: B905
            finally:
                self._running.discard(key)
            self._keep(result if name == "__new__" else this, places, is_changed)
            return result

        noted.apart_noted = True
        return noted

    def _keep(self, made, places, is_changed):
        key = id(made)
        if len(self._made) > MOST_MADE:
            return
        try:
            find = weakref.ref(made, lambda _: self._made.pop(key, None))
        except TypeError:
            find = functools.partial(lambda held: held, made)
        self._made[key] = find, places, is_changed
        self.shown = None if self.shown is None else [made]

    def of(self, values):
        """(the places of the arguments that objects in these values are made of, whether the code has a part in one)"""
        places, is_changed, todo = set(), False, [*values]
        for _ in range(MOST_PARTS):
            if not todo:
                break
            value = todo.pop()
            kind, made = type(value), self._made.get(id(value))
            if made and made[0]() is value:
                places.update(made[1])
                is_changed = is_changed or made[2]
                todo += attributes_of(value).values()
            elif kind not in PLAIN_TYPES and issubclass(kind, CONTAINERS):
                base = next(base for base in CONTAINERS if issubclass(kind, base))
                todo += [*base.__iter__(value), *(dict.values(value) if base is dict else ())]
        return sorted(places), is_changed


def _wrong(value):
    """A wrong argument in a 1-tuple; of a list, it is wrong at its end: code may look at the first ones alone."""
    if type(value) in (list, tuple) and value:
        last = perturbed(value[-1], CHANCE.randrange(2))
        return last and (type(value)([*value[:-1], *last]),)
    return perturbed(value, CHANCE.randrange(2))
