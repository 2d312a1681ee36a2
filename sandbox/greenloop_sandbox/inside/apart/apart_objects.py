"""Shows what cannot be copied between judge and code: classes as mirrors, functions as signatures, the rest as handles.

A mirror has the other side's methods as stubs. In the judge it gets no special method that would decide how the judge
looks at objects, and a comparison of it is asked again with wrong operands (`apart_judge.py`).
"""

import collections
import enum
import inspect
import operator
import os
import sys
import types

import apart_signatures as signatures
from apart_handles import ASKED_BY_BOTH, ASKED_BY_CODE, Handle, LentHandle, handle_class
from apart_rules import COMPARISONS, FUNCTIONS, NEVER, NO_MIRROR, SPECIAL, CannotCross, is_bound, module_of, solid_base
from apart_values import PAYLOADS

HAVE_CODE = (types.FunctionType, types.MethodType, property)
PAYLOAD_METHODS = frozenset(("__init__", "__repr__", "__str__"))
WRAP = {"": lambda function: function, "property": property, "staticmethod": staticmethod, "classmethod": classmethod}
TUPLE_FIELD = type(collections.namedtuple("_", "x").x)  # noqa: PYI024


class NoClass(CannotCross):
    """A class cannot be made: its bases, or what they do with subclasses, raised `error`."""

    def __init__(self, name, error):
        super().__init__("the class %s: %s" % (name, error))
        self.error = error


class Objects:
    """The part of a peer that shows objects without copying them."""

    # -- handles --------------------------------------------------------------------------------------------------

    def is_opaque(self, value, kind):
        """True if an object crosses as a handle, because it cannot be copied or must not be."""
        base = solid_base(kind)
        if base is not object and base not in PAYLOADS and not issubclass(base, BaseException):
            return True
        if not self.is_judge:
            return not self.rules.allows_instance(kind) and not self.rules.is_mirrored(kind)
        if is_bound(value):
            return True
        foreign = module_of(kind) in NEVER and not self.rules.is_test_module(kind.__module__)
        return foreign and not isinstance(value, BaseException)

    def handle_state(self, encoder, value, kind):
        held = () if self.is_judge else signatures.closure_roots(value)  # never what the tests' functions hold
        if not self.is_judge:
            self.handle_roots.setdefault(id(value), (*self.current_roots(), *held))
        shown = getattr(value, "__class__", kind)
        bases = shown.__mro__ if isinstance(shown, type) else ()
        own = [base for base in bases if base is not object and self.rules.name_of(base) and self.rules.is_own(base)]
        special = {name for base in kind.__mro__ if base is not object for name in vars(base)}
        names = [name for name in ASKED_BY_BOTH + ASKED_BY_CODE if "__%s__" % name in special]
        return ["h", encoder.encode(own[0]) if own else None, names, *map(encoder.encode, held)]

    def make_handle(self, decoder, state, number):
        handle = handle_class(Handle if self.is_judge else LentHandle, tuple(map(str, state[2])))()
        kind = decoder.decode(state[1]) if state[1] and not self.is_judge else None
        roots = (*self.current_roots(), *[decoder.decode(each) for each in state[3:]])
        for name, value in (("peer", self), ("number", number), ("roots", roots), ("kind", kind)):
            object.__setattr__(handle, "_apart_" + name, value)
        return handle

    # -- functions of the tests -----------------------------------------------------------------------------------

    def function_state(self, encoder, function):
        """The outside of a function of the tests; its text, globals and closure stay in the judge."""
        flags = function.__code__.co_flags
        flavour = "async" if flags & inspect.CO_COROUTINE else "generator" if flags & inspect.CO_GENERATOR else ""
        attributes = {name: value for name, value in vars(function).items() if name != "__wrapped__"}
        names = [function.__name__, function.__qualname__, function.__doc__]
        return ["fn", flavour, names, encoder.encode(signatures.signature_of(function)), encoder.flat(attributes)]

    def make_function(self, decoder, state, number):
        """A function with the same signature that calls the judge's."""
        _, flavour, (name, qualname, doc), signature, attributes = state
        function = make_stub(lambda: self, lambda: ("op", "call", function), name, flavour)
        function.__qualname__, function.__doc__, function.__module__ = qualname, doc, "app"
        self.keep(number, function)
        signatures.give_signature(function, *decoder.decode(signature))
        rows = [each for each in function.__signature__.parameters.values() if each.default is not each.empty]
        function.__defaults__ = tuple(each.default for each in rows if each.kind is not each.KEYWORD_ONLY) or None
        function.__kwdefaults__ = {each.name: each.default for each in rows if each.kind is each.KEYWORD_ONLY} or None
        vars(function).update(decoder.table(attributes))
        return function

    # -- classes that the other side does not have ----------------------------------------------------------------

    def class_state(self, encoder, kind):
        encode, name = encoder.encode, [kind.__name__, kind.__module__]
        bases = [encode(base) for base in kind.__bases__]
        if issubclass(kind, enum.Enum):
            members = [each for key, member in kind.__members__.items() for each in (key, encode(member._value_))]
            own = {key: value for key, value in vars(kind).items() if not key.startswith("_")}
            methods = [each for each in map(signatures.method_of, own, own.values()) if each and not self.is_judge]
            return ["C", "enum", *name, bases, members, methods]
        if self.is_judge:
            is_shown = module_of(kind) not in NEVER or self.rules.is_test_module(kind.__module__)
        else:
            is_shown = self.rules.is_mirrored(kind)
        if not is_shown:
            raise CannotCross("the class %s" % kind.__name__)
        methods, attributes = [], []
        for key, value in vars(kind).items():
            if method := signatures.method_of(key, value):
                methods.append(method)
            elif (key == "__annotations__" and self.is_judge) or (
                not SPECIAL.match(key)
                and not inspect.ismemberdescriptor(value)
                and not inspect.isgetsetdescriptor(value)
                and not isinstance(value, TUPLE_FIELD)
            ):
                attributes += [key, encode(value)]
        signature = None if self.is_judge else signatures.plain_signature(kind)
        given = encoder.flat(self.class_keywords.get(id(kind), {}))
        shape = signatures.fields_of(kind), signatures.own_slots(kind)
        return ["C", "class", *name, bases, methods, attributes, *shape, signature, given]

    def make_class(self, decoder, state, number):
        """The mirror of a class. Raises `CannotCross` where its bases or names are not those of plain classes."""
        _, form, name, module, bases, *rest = state
        bases = tuple(map(decoder.decode_class, bases))
        if not all(isinstance(base, type) and (not self.is_judge or self.rules.allows_class(base)) for base in bases):
            raise CannotCross("the bases of %s" % name)
        if form == "enum":
            return self._make_enum(decoder, name, bases, rest, number)
        methods, attributes, fields, slots, signature, given = rest
        payloads = [solid_base(base) for base in bases]
        payloads = [base for base in payloads if base is not object and not issubclass(base, BaseException)]
        if slots and any(SPECIAL.match(each) and each != "__weakref__" for each in slots):
            raise CannotCross("the slots of %s" % name)
        body = {"__module__": str(module)} if slots is None else {"__module__": str(module), "__slots__": tuple(slots)}
        for key, wrapper, flavour in methods:
            if key in NO_MIRROR and not (key == "__getattr__" and not self.is_judge):
                continue
            if self.is_judge and key not in PAYLOAD_METHODS and any(hasattr(base, key) for base in payloads):
                continue
            body[key] = self._wrapped_stub(number, name, key, wrapper, flavour)
        try:
            given = {} if self.is_judge else decoder.table(given)
            kind = types.new_class(str(name), bases, given, lambda space: space.update(body))
        except Exception as error:
            raise NoClass(name, error) from None
        self.keep(number, kind)
        signatures.give_fields(kind, fields)
        if signature is not None:
            kind.__signature__ = signatures.make_signature(signature)
        for key, value in decoder.table(attributes).items():
            forbidden = (*FUNCTIONS, Handle, property, staticmethod, classmethod)
            if not self.is_judge or not (SPECIAL.match(key) or isinstance(value, forbidden)):
                type.__setattr__(kind, key, value)
            if key == "_fields" and tuple in payloads:
                for place, field in enumerate(value):
                    type.__setattr__(kind, str(field), property(operator.itemgetter(place)))
        return kind

    def _make_enum(self, decoder, name, bases, rest, number):
        flat, methods = rest
        if not all(type(key) is str and key.isidentifier() and not key.startswith("_") for key in flat[::2]):
            raise CannotCross("the name of a member")
        enums = [base for base in bases if issubclass(base, enum.Enum)]
        data = [base for base in bases if not issubclass(base, enum.Enum)]
        members = [(flat[place], decoder.decode(flat[place + 1])) for place in range(0, len(flat), 2)]
        kind = enums[0](str(name), members, **({"type": data[0]} if data else {}))
        self.keep(number, kind)
        for key, wrapper, flavour in methods:
            if not key.startswith("_") and key not in kind.__members__:
                type.__setattr__(kind, key, self._wrapped_stub(number, name, key, wrapper, flavour))
        return kind

    def _wrapped_stub(self, number, class_name, key, wrapper, flavour):
        def stub(name, flavour="plain"):
            question = lambda: ("method", self.objects[number], name)  # noqa: E731
            return make_stub(lambda: self, question, name, flavour, class_name, is_new=True)

        made = stub(key, "async" if flavour == "async" else "plain")
        return property(made, stub(key + "=")) if wrapper == "property+" else WRAP[wrapper](made)

    def is_class_of_tests(self, value):
        return isinstance(value, type) and self.numbers.get(id(value), "?")[0] == "j"

    # -- objects that both sides find by a path -------------------------------------------------------------------

    def path_of(self, value):
        """(module, path) of an object that a module of the project holds from its import on, or None."""
        if len(sys.modules) != self._module_count:
            self._module_count = len(sys.modules)
            for name, module in list(sys.modules.items()):
                if name.split(".")[0] in self.rules.project and type(module) is types.ModuleType:
                    for key, held in list(vars(module).items()) if not self.rules.is_test_module(name) else ():
                        self._index(name, key, held, 0)
        found = self._paths.get(id(value))
        return found[1:] if found and found[0] is value else None

    def _index(self, module, path, value, depth):
        kind = type(value)
        # Not `isinstance`, which would ask an object that pretends to have another class.
        if depth > 4 or id(value) in self._paths or issubclass(kind, (type, types.ModuleType, enum.Enum, Handle)):
            return
        if path.startswith("__") or not (kind is object or self.rules.is_own(kind)):
            return
        self._paths[id(value)] = (value, module, path)
        try:
            held = object.__getattribute__(value, "__dict__")
        except AttributeError:
            return
        for key, each in list(held.items()):
            if type(each) is kind and type(key) is str:
                self._index(module, path + "." + key, each, depth + 1)


def make_stub(find_peer, question, name, flavour="plain", class_name="", is_new=False):
    """A function that asks the other side; the judge may ask more (`Questions.ask_stub`).

    `question` gives what is asked, but for the arguments. `class_name`: it is a method of a mirror of this class.
    """

    def ask(args, keywords):
        return find_peer().call(question(), args, keywords)

    def stub(*args, **keywords):
        peer, asked = find_peer(), lambda args: ask(args, keywords)
        return peer.ask_stub(class_name, name, args, asked, is_new) if peer.is_judge else asked(args)

    def generate(*args, **keywords):
        found, peer = ask(args, keywords), find_peer()
        return (yield from peer.steps(found) if peer.is_judge and isinstance(found, Handle) else found)

    async def wait(*args, **keywords):
        return await find_peer().call_async(question(), args, keywords)

    async def generate_async(*args, **keywords):
        async for item in ask(args, keywords):
            yield item

    kinds = {"generator": generate, "async": wait, "async generator": generate_async}
    # In the judge a comparison is none of these: a coroutine or generator is true.
    made = stub if name in COMPARISONS and find_peer().is_judge else kinds.get(flavour, stub)
    made.__name__ = made.__qualname__ = name
    return made


def is_stub(value):
    """True for a function, method or property of the proof's own, at any depth of decorators."""
    while isinstance(value, (*HAVE_CODE, classmethod, staticmethod)):
        code = getattr(value, "__code__", None)
        is_ours = code and os.path.dirname(code.co_filename) == os.path.dirname(is_stub.__code__.co_filename)
        if is_ours and not hasattr(value, "apart_noted"):  # a constructor that is watched
            return not hasattr(value, "apart_peer")  # a method of the user's own that is watched
        value = getattr(value, "__wrapped__", None) or getattr(value, "__func__", None) or getattr(value, "fget", None)
    return False
