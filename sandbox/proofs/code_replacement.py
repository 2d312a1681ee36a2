"""What is put in the place of what changed while a case runs again: the user's own code, wrong results, nothing."""

import cmath
import inspect
import types

OWN, WRONG, NOTHING = "own", "wrong", "nothing"


class ChangedFile:
    """One changed file: its functions whose code differs from the user's, and what can be put in their place.

    `text` is the user's own, empty for a new file; `values` are its changed values. `replaces_new`: functions
    that the user's text does not have get wrong results too.
    """

    def __init__(self, path, text, values, code_objects):
        same = code_objects.same_code
        try:
            own = code_objects.codes_of_text(text, path)
        except (SyntaxError, ValueError):
            own = {}
        live = code_objects.live_functions(path)
        present = code_objects.codes_of_text(read_present(path), path)
        self._replaceable, self._with_defaults = [], []
        self.replaces_new = not text  # the whole file is new
        for name, code in present.items():
            if name in values.defaults:
                found = live.get((code.co_name, code.co_firstlineno), [])
                self._with_defaults += [(function, name) for function in found]
            if "<locals>" in name or (name in own and same(code, own[name])):
                continue
            functions = live.get((code.co_name, code.co_firstlineno), [])
            self._replaceable += [(function, function.__code__, own.get(name)) for function in functions]
        self._values = values
        self.has_own_code = values.has_own or any(own_code for _function, _code, own_code in self._replaceable)

    def put(self, mode):
        """Puts other code into the changed functions; why that cannot be done, or ""."""
        for function, code, own in self._replaceable:
            if mode == OWN and own is not None:
                if own.co_freevars != code.co_freevars:
                    return "%s has other variables of the code around it" % code.co_name
                function.__code__ = own
            elif mode != OWN and (own is not None or self.replaces_new):
                function.__code__ = code_instead(function, mode)
        self._values.put(mode, self.replaces_new)
        for function, name in self._with_defaults if mode == OWN else ():
            self._values.put_defaults(function, name)
        return ""

    def restore(self):
        for function, code, _own in self._replaceable:
            function.__code__ = code
        self._values.restore()


def read_present(path):
    """The candidate's bytes of a file; empty where it took the file away."""
    try:
        with open(path, "rb") as stream:
            return stream.read()
    except FileNotFoundError:
        return b""


def code_instead(function, mode):
    """Code that calls this function as it is now and gives a result that is slightly wrong, or that does nothing."""
    same = types.FunctionType(
        function.__code__, function.__globals__, function.__name__, function.__defaults__, function.__closure__
    )
    same.__kwdefaults__ = function.__kwdefaults__
    if mode == NOTHING:
        template = _do_nothing
    elif inspect.iscoroutinefunction(function):
        template = _await_wrongly
    elif inspect.isgeneratorfunction(function):
        template = _yield_wrongly
    else:
        template = _return_wrongly
    constants = tuple(
        {"SAME": same, "WRONG": wrong, "ERROR": Exception}.get(constant, constant)
        if isinstance(constant, str)
        else constant
        for constant in template.__code__.co_consts
    )
    code = function.__code__
    return template.__code__.replace(
        co_consts=constants, co_freevars=code.co_freevars, co_name=code.co_name, co_filename=code.co_filename
    )


# The texts in these are replaced by the function itself, `wrong` and `Exception`: no name of theirs may be looked up in
# the candidate's module.


def _return_wrongly(*args, **keywords):
    same = "SAME"
    change = "WRONG"
    error = "ERROR"
    try:
        result = same(*args, **keywords)
    except error:
        return None
    return change(result)


def _yield_wrongly(*args, **keywords):
    same = "SAME"
    change = "WRONG"
    for result in same(*args, **keywords):
        yield change(result)
    yield None


async def _await_wrongly(*args, **keywords):
    same = "SAME"
    change = "WRONG"
    error = "ERROR"
    try:
        result = await same(*args, **keywords)
    except error:
        return None
    return change(result)


def _do_nothing(*_args, **_keywords):
    return None


def wrong(value):
    """A value of the same kind that is not equal to this one, where its type is plain; else None."""
    kind = type(value)
    if kind is bool:
        return not value
    if kind is int:
        return value + 1
    if kind in (float, complex):
        return value + 1 if cmath.isfinite(value) and value + 1 != value else kind(0)
    if kind is str:
        return value + "~"
    if kind is bytes:
        return value + b"~"
    if kind is list:
        return [*value, None]
    if kind is tuple:
        return (*value, None)
    if kind in (set, frozenset):
        return kind([*value, ("another",)])
    if kind is dict:
        return {**value, ("another",): None}
    return 1 if value is None else None
