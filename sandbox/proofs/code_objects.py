"""Finds functions of a file by their code objects, in its text and among the live ones of this process."""

import functools
import gc
import types


def codes_of_text(text, path):
    """The code objects of functions in a text, by qualified name; of functions inside functions too.

    Raises `SyntaxError` and `ValueError` for a text that does not compile.
    """
    return codes_in(compile(text, path, "exec", dont_inherit=True))


def codes_in(code):
    """The code objects of functions in the code of a module, by qualified name."""
    codes = {}
    _collect(code, "", codes)
    return codes


def _collect(code, prefix, codes):
    for constant in code.co_consts:
        if type(constant) is not types.CodeType or constant.co_name.startswith("<"):
            continue
        name = prefix + constant.co_name
        # A class body has no locals of a function: it neither is optimised nor has arguments.
        if constant.co_flags & 0x2:  # CO_NEWLOCALS
            codes[name] = constant
            _collect(constant, name + ".<locals>.", codes)
        else:
            _collect(constant, name + ".", codes)


def all_codes(text, path):
    """All code objects of a text, those of lambdas and comprehensions too."""
    codes, todo = [], [compile(text, path, "exec", dont_inherit=True)]
    while todo:
        code = todo.pop()
        codes.append(code)
        todo += [constant for constant in code.co_consts if type(constant) is types.CodeType]
    return codes


def same_code(one, other):
    """Whether two code objects do the same, wherever they stand in their files."""
    fields = ("co_code", "co_names", "co_varnames", "co_freevars", "co_cellvars", "co_flags", "co_argcount")
    if any(getattr(one, field) != getattr(other, field) for field in fields):
        return False
    if len(one.co_consts) != len(other.co_consts):
        return False
    for left, right in zip(one.co_consts, other.co_consts):  # noqa: B905 - Python 3.9
        if type(left) is not type(right):
            return False
        if type(left) is types.CodeType:
            if not same_code(left, right):
                return False
        elif repr(left) != repr(right):
            return False
    return True


def live_functions(path):
    """All functions of this process whose code comes from a file, with their code's name and first line."""
    functions = {}
    for value in gc.get_objects():
        if type(value) is types.FunctionType and value.__code__.co_filename == path:
            key = (value.__code__.co_name, value.__code__.co_firstlineno)
            functions.setdefault(key, []).append(value)
    return functions


def find_caches():
    """The caches of `functools.lru_cache` in this process."""
    cache_type = type(functools.lru_cache(None)(len))
    return [value for value in gc.get_objects() if type(value) is cache_type]


def clear_caches():
    """Empties the caches of `functools.lru_cache`: results of other code are none of this."""
    for value in find_caches():
        value.cache_clear()


class OwnCode:
    """What the user's own texts of the changed files have: code, and names that it uses."""

    def __init__(self, texts, asked):
        self._known = {}
        self._asked = {path: {name.rpartition(".")[2] for name in names} for path, names in asked.items()}
        self._codes, self.names = {}, set()
        for path, text in texts.items():
            by_name = self._codes.setdefault(path, {})
            try:
                codes = all_codes(text, path)
            except (SyntaxError, ValueError):  # a text that does not compile has no code
                continue
            for code in codes:
                by_name.setdefault(code.co_name, []).append(code)
                self.names.update(code.co_names)

    def is_new(self, code):
        """Whether this code is of these files, the user's text has none like it, and no change of it was asked for."""
        if code is None or code.co_filename not in self._codes:
            return False
        known = self._known.get(id(code))
        if known is None:
            own = self._codes[code.co_filename].get(code.co_name, ())
            is_asked = bool(own) and code.co_name in self._asked.get(code.co_filename, ())
            known = code, not is_asked and not any(same_code(code, other) for other in own)
            self._known[id(code)] = known  # it keeps the code, and so its id
        return known[1]
