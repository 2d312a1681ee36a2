"""Names, classes and attributes that may cross between judge and code.

One table for a reviewer; the judge enforces it.

The *judge* is the process with pytest, the tests and the user's own modules; the *code* is the one with the changed
modules. The judge believes nothing that the code says: it takes plain data, instances of classes that the user's own
sources use, and names that it can resolve itself, never a function or class of the code.
"""

import datetime
import functools
import importlib
import re
import sys
import types

# Classes of these modules may be rebuilt in the judge: their comparisons are those of Python.
STANDARD = frozenset((
    "builtins", "collections", "dataclasses", "datetime", "decimal", "fractions", "enum", "pathlib", "uuid", "types",
    "typing", "re", "io", "ipaddress", "abc", "contextlib", "string", "zoneinfo", "functools", "asyncio",
    "concurrent", "_thread", "posixpath",
))  # fmt: skip
# Nothing of these ever crosses to the judge: test frameworks, matchers that are equal to much, what reaches further.
NEVER = frozenset((
    "pytest", "_pytest", "unittest", "hypothesis", "mock", "test", "tests", "doctest", "dirty_equals", "freezegun",
    "conftest", "pluggy", "nose", "testfixtures", "sys", "gc", "importlib", "ctypes", "subprocess", "code", "pdb",
    "bdb", "__main__",
))  # fmt: skip
NO_BUILTINS = frozenset((
    "eval", "exec", "compile", "open", "input", "breakpoint", "__import__", "setattr", "delattr", "globals", "locals",
    "vars", "exit", "quit",
))  # fmt: skip
# Special methods of the code's classes that the judge never takes: they would decide how it looks at objects.
NO_MIRROR = frozenset((
    "__getattribute__", "__new__", "__class__", "__del__", "__setattr__", "__delattr__", "__init_subclass__",
    "__class_getitem__", "__instancecheck__", "__subclasscheck__", "__set_name__", "__reduce__", "__reduce_ex__",
    "__getstate__", "__setstate__", "__dir__", "__sizeof__", "__subclasshook__", "__prepare__", "__mro_entries__",
    "__getattr__",
))  # fmt: skip
COMPARISONS = frozenset(("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__contains__"))
# Operators of changed code whose result is a value that the test looks at itself.
VALUE_OPERATORS = frozenset((
    "__init__", "__new__", "__call__", "__enter__", "__exit__", "__getattr__", "__hash__", "__len__", "__repr__",
    "__str__", "__iter__", "__next__", "__bool__", "__int__", "__float__", "__index__", "__aenter__", "__aexit__",
    "__await__", "__getitem__",
))  # fmt: skip
# Objects of these modules hold a connection to the tests' database, so the code gets them as handles.
CONNECTED = frozenset(("django.db.models.query", "django.db.models.manager"))
SHOWN = frozenset(("__name__", "__doc__", "__qualname__"))
SPECIAL = re.compile(r"^__\w+__$")
OF_FRAMES = ("gi_", "cr_", "ag_", "f_", "tb_", "co_")
FUNCTIONS = (
    types.FunctionType,
    types.BuiltinFunctionType,
    types.MethodWrapperType,
    types.WrapperDescriptorType,
    types.MethodDescriptorType,
)
MOST_TEXTS = 100_000  # parts of a value that are searched for texts
PLAIN_TYPES = frozenset((int, str, float, bool, bytes, type(None), complex))
# Attributes by which a test asks a mock; the code may not set them.
OF_MOCKS = frozenset((
    "return_value", "side_effect", "called", "call_count", "call_args", "call_args_list", "mock_calls",
    "method_calls", "await_count",
))  # fmt: skip


class CannotCross(BaseException):
    """Something cannot cross, so the run proves nothing.

    A `BaseException`, so that no `except Exception` of a test or of the project takes it for an answer.
    """


def is_test_path(path):
    """True if a relative path is a test file or lies in a folder of tests."""
    *folders, name = path.split("/")
    return (
        any(folder in ("test", "tests", "testing_data") for folder in folders)
        or name == "conftest.py"
        or name.startswith("test_")
        or name.endswith("_test.py")
    )


class Rules:
    """The rules of one side. `request` is the `apart` field of a run after `apart_changes.complete`."""

    def __init__(self, is_judge, request):
        self.is_judge, self.root = is_judge, request["root"] + "/"
        self.allowed, self.project = frozenset(request["allowed"]), frozenset(request["project"])
        self.test_files = frozenset(request["tests"])
        changed = request["modules"].values()
        self.new_classes = {(module["name"], name) for module in changed for name in module["classes"]}
        self.new_names = {(module["name"], key.partition("#")[0]) for module in changed for key in module["new"]}
        self.new_names |= self.new_classes
        self.new_modules = {module["name"] for module in changed if module["is_new"]}
        self.modules = (self.allowed | {"os", "sys", "re", "math", "json", "time"}) - NEVER | {"sys"}
        self.made = {}  # id of a class built from the other side's -> the class
        dates = datetime.date, datetime.datetime, datetime.time  # a test may put others in their place
        self._names = {id(kind): (kind, ("datetime", kind.__name__)) for kind in dates}

    # -- whose is it? ---------------------------------------------------------------------------------------------

    def is_own(self, kind):
        return module_of(kind) in self.project

    def is_test_module(self, name):
        path = getattr(sys.modules.get(name), "__file__", None) or ""
        if not path.startswith(self.root):
            return name == "__main__" or name.split(".")[0] == "conftest"
        path = path[len(self.root) :]
        return is_test_path(path) or path in self.test_files

    def may_be_called(self, kind):
        """True if the user's own code may meet this class as a value, where it may call it: some run what they get."""
        top = module_of(kind)
        return top in STANDARD or top in self.project or id(kind) in self.made or issubclass(kind, BaseException)

    # -- names ----------------------------------------------------------------------------------------------------

    def name_of(self, value):
        """(module, qualified name) by which the other side may find a class or function, or None."""
        if id(value) in self._names:
            return self._names[id(value)][1]
        found = self._find_name(value)
        if found or isinstance(value, type):
            self._names[id(value)] = (value, found)
        return found

    def _find_name(self, value):
        name, qualname = getattr(value, "__module__", None), getattr(value, "__qualname__", None)
        if type(name) is not str or type(qualname) is not str or "<" in qualname:
            return None
        try:
            found = functools.reduce(lambda owner, part: vars(owner)[part], qualname.split("."), sys.modules.get(name))
        except (KeyError, TypeError):
            return None
        if _bare(found) is not value:
            return None
        top, is_class = name.split(".")[0], isinstance(value, type)
        if self.is_judge:
            return None if self.is_test_module(name) or (top in NEVER and not is_class) else (name, qualname)
        if name in self.new_modules or {(name, qualname), (name, qualname.split(".")[0])} & self.new_names:
            return None
        return (name, qualname) if (self.allows_class(value) if is_class else self._allows(name, qualname)) else None

    def _allows(self, module, name):
        """True if the other side may know a function; those of libraries stay handles."""
        return module.split(".")[0] in self.project or (module == "builtins" and name not in NO_BUILTINS)

    def allows_class(self, kind):
        """True if the other side may know this class by its name, or as the base of another."""
        if id(kind) in self.made:
            return True
        name = kind.__module__ if type(kind.__module__) is str else "?"
        top = name.split(".")[0]
        if top not in self.allowed or top in NEVER or (self.is_judge and self.is_test_module(name)):
            return False
        return not name.startswith("numpy.ma")

    def allows_instance(self, kind):
        """One of `contextlib` would keep a failed assertion from failing the test; it stays where it is."""
        return kind.__module__ != "contextlib" and self.allows_class(kind)

    def resolve(self, module, path, is_instance=False):
        """The class, function or (`is_instance`) object of a module that the other side has named.

        Raises `CannotCross`: the judge resolves only names of the user's own project and of what it uses.
        """
        top, parts = module.split(".")[0], path.split(".")
        if self.is_judge:
            special = top not in self.project and any(SPECIAL.match(part) for part in parts if part != "__call__")
            is_known = module in sys.modules and top in self.allowed and top not in NEVER
            if special or not is_known or self.is_test_module(module):
                raise CannotCross("the name %s.%s" % (module, path))
        found = sys.modules[module] if module in sys.modules else importlib.import_module(module)
        for part in parts:
            held = getattr(found, "__dict__", {})
            found = _bare(held[part] if part in held else getattr(found, part, CannotCross))
            if found is CannotCross:
                raise CannotCross("%s.%s is not on the other side" % (module, path))
        if isinstance(found, type):
            good = self.allows_class(found)
        elif isinstance(found, FUNCTIONS):
            # By the module that has it, as `name_of` does: one of the project also holds what it imports.
            good = getattr(found, "__module__", None) == module and self._allows(module, path)
        else:
            good = is_instance and (type(found) is object or self.is_own(type(found)))
        if self.is_judge and not good:
            raise CannotCross("the name %s.%s" % (module, path))
        return found

    def is_mirrored(self, kind):
        """True if a class of this process is shown to the other side as a mirror: it has no such class."""
        module, name = kind.__module__, kind.__qualname__
        is_new = (module, name) in self.new_classes or module in self.new_modules or "<locals>" in name
        is_made = module not in sys.modules or (issubclass(kind, tuple) and hasattr(kind, "_fields"))  # of a text
        return is_new or is_made or module_of(kind) in self.project

    # -- objects of the tests in the hands of the code --------------------------------------------------------------

    def check_lent(self, operation, value, name):
        """Raises `CannotCross` (or `AttributeError`) where the code asks too much of an object that it was lent."""
        kind = type(value)
        if not is_mock(value) and module_of(kind) in NEVER and not self.is_test_module(kind.__module__):
            raise CannotCross("an object of %s was handed to the code" % kind.__module__)
        if operation not in ("getattr", "setattr"):
            return
        if type(name) is not str or (SPECIAL.match(name) and name not in SHOWN) or name.startswith(OF_FRAMES):
            raise CannotCross("%s of a lent object" % (name,))
        changes = operation == "setattr"
        if isinstance(value, types.FunctionType) and (changes or (name not in vars(value) and name not in SHOWN)):
            if not changes:
                raise AttributeError(name)
            raise CannotCross("%s of a function of the tests" % name)
        if isinstance(value, (type, types.ModuleType)) or (changes and isinstance(value, types.MethodType)):
            raise CannotCross("%s of a class or module of the tests" % name)
        if is_mock(value):
            own = name in OF_MOCKS or any(
                name in vars(base) for base in kind.__mro__ if base.__module__ == "unittest.mock"
            )
            if own or (changes and (name in value._mock_children or name in vars(value))):
                raise CannotCross("%s of a mock belongs to the test" % name)


def is_failure(error):
    """True of what ends a test: a failed assertion, and what `pytest.fail` and the like raise."""
    of_pytest = any(base.__module__ == "_pytest.outcomes" for base in type(error).__mro__)
    return of_pytest or isinstance(error, AssertionError)


def is_bound(value):
    """True if an object cannot leave the tests: a mock, or one that holds a connection to a database."""
    return is_mock(value) or any(base.__module__ in CONNECTED for base in type(value).__mro__[:-1])


def module_of(kind):
    """The top-level module of a class; "?" where it says nothing usable."""
    name = getattr(kind, "__module__", None)
    return name.split(".")[0] if type(name) is str else "?"


def is_plain(value, counts_too=lambda _: False, depth=0):
    """True if a value is made of plain data alone, and of what `counts_too`."""
    if depth > 6:
        return False
    if isinstance(value, (list, tuple, set, frozenset)):
        return all(is_plain(each, counts_too, depth + 1) for each in value)
    if isinstance(value, dict):
        return all(is_plain(each, counts_too, depth + 1) for pair in value.items() for each in pair)
    if type(value) in PLAIN_TYPES or type(value).__module__ in ("re", "datetime", "decimal", "fractions"):
        return True
    return counts_too(value)


def texts_in(value):
    """The texts in plain containers, up to a limit."""
    todo, count = [value], 0
    while todo and count < MOST_TEXTS:
        value, count = todo.pop(), count + 1
        if isinstance(value, str):
            yield value
        elif type(value) in (list, tuple, set, frozenset, dict):
            todo += [*value, *(value.values() if type(value) is dict else ())]


def is_mock(value):
    mock = sys.modules.get("unittest.mock")
    return mock is not None and isinstance(value, mock.NonCallableMock)


def is_python_class(kind):
    """True if a class was made by a `class` statement, so that its state is in attributes."""
    heap_type = 1 << 9
    return bool(kind.__flags__ & heap_type) and not any(
        (isinstance(value, (types.WrapperDescriptorType, types.MethodDescriptorType)) and value.__objclass__ is kind)
        or (isinstance(value, types.BuiltinFunctionType) and name == "__new__")
        for name, value in vars(kind).items()
    )


@functools.lru_cache(maxsize=None)
def solid_base(kind):
    """The innermost base that is not written in Python: `dict` for a subclass of `dict`, `object` for most classes."""
    return next((base for base in kind.__mro__ if not is_python_class(base)), object)


def _bare(value):
    return value.__func__ if isinstance(value, (staticmethod, classmethod)) else value
