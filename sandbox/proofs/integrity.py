"""Notices in the worker when something of the machinery that decides a test was replaced while the tests ran."""

import ast
import importlib
import inspect
import os
import sys

# Modules whose functions decide whether a test passes, or how a value compares, is shown and is printed.
WATCHED_OF_PYTEST = (
    "assertion.rewrite", "assertion.util", "capture", "doctest", "fixtures", "main", "nodes", "outcomes", "python",
    "python_api", "raises", "recwarn", "reports", "runner", "skipping", "unittest",
)  # fmt: skip
WATCHED = (
    "builtins", "datetime", "difflib", "doctest", "math", "operator", "pluggy._callers", "pluggy._hooks",
    "pluggy._manager", "pprint", "pytest", "random", "reprlib", "runpy", "time", "unittest",
    "unittest.case", "unittest.mock", "unittest.util",
    *("_pytest." + name for name in WATCHED_OF_PYTEST),
)  # fmt: skip
# Part of `sys` that a test can see; the rest changes while tests run.
WATCHED_OF_SYS = ("displayhook", "excepthook", "__displayhook__", "__excepthook__")
# Modules of the standard library that do something when they are imported.
TALKATIVE = frozenset({"antigravity", "idlelib", "this", "turtle", "turtledemo"})
MOST_NAMES = 20
MOST_ENTRIES = 8000


INSTALLED = ("site-packages", "dist-packages")


def make_watch(code_objects=None):
    """Takes a snapshot and makes `altered()`, the dotted names that were replaced since.

    `altered.add(modules)` names further modules that it looks at. `altered.excuse(function, code, frame)` is to be told
    of a function that gets other code: packages that compile theirs at the first call (networkx) may do so. Without
    the module `code_objects` nothing is excused.
    To be called when pytest has loaded its plugins, which replace some themselves, and before any code of the project.
    """
    if "_pytest.doctest" in sys.modules:
        sys.modules["_pytest.doctest"]._get_checker()  # its class is made with the first one
    code_of, function_type = _code_of, type(make_watch)
    watched = {name for name in WATCHED if name in sys.modules}
    snapshot, others = {}, {}  # dotted name -> (namespace, attribute, value, code); the same by module
    for name, module in sorted(sys.modules.items()):
        if type(module) is not type(sys):
            continue
        if name in WATCHED:
            snapshot.update(_entries(name, module))
        else:
            others[name] = _entries(name, module)
    for attribute in WATCHED_OF_SYS:
        value = getattr(sys, attribute, None)
        snapshot["sys." + attribute] = (vars(sys), attribute, value, code_of(value, function_type))
    missing = object()
    entries = [(dotted, *entry) for dotted, entry in snapshot.items()]
    # What packages' functions hold, by id; the code that they got and may have; the code of packages' files.
    states, excused, known = {}, {}, {}
    _note_states(states, others)

    def add(modules):
        for name in modules:
            if name in watched or name == "sys" or type(sys.modules.get(name)) is not type(sys):
                continue
            watched.add(name)
            added = others[name] if name in others else _entries(name, sys.modules[name])
            entries.extend((dotted, *entry) for dotted, entry in added.items() if len(entries) < MOST_ENTRIES)
            _note_states(states, {name: added})

    def excuse(function, code, frame):
        is_as_before = _is_same_state(states.get(id(function), {}), _state_of(function))
        if is_as_before and code_objects is not None and _is_of_package(frame.f_code, known, code_objects):
            excused[id(function)] = (function, code)

    def altered():
        names = []
        for dotted, namespace, attribute, value, code in entries:
            present = namespace.get(attribute, missing)
            if present is not value:
                names.append(dotted)
            elif code is None:
                continue
            else:
                other = value.__code__ if type(value) is function_type else code_of(value, function_type)
                if other is not code and excused.get(id(value), (None, code))[1] is not other:
                    names.append(dotted)
        return names[:MOST_NAMES]

    altered.add, altered.excuse = add, excuse
    return altered


def _note_states(states, modules):
    """Adds what the functions in these entries of modules hold, by the functions' id; nothing for one without that."""
    function_type = type(make_watch)
    for entries in modules.values():
        for _namespace, _attribute, value, _code in entries.values():
            if type(value) is function_type and value.__dict__ and id(value) not in states:
                states[id(value)] = _state_of(value)


def _state_of(function):
    """What a function holds, and what that is made of: each value with its code, by dotted name.

    No code of these values runs for it: some make themselves when they are asked for an attribute.
    """
    state, function_type = {}, type(make_watch)
    for name, value in vars(function).items():
        state[name] = value, value.__code__ if type(value) is function_type else None
        try:
            held = object.__getattribute__(value, "__dict__")
        except AttributeError:
            continue
        for inner, part in held.items():
            state[name + "." + inner] = part, part.__code__ if type(part) is function_type else None
    return state


def _is_same_state(before, now):
    """Whether all is as it was, but what was left open and is a plain value now: packages keep what they look up."""
    if before.keys() != now.keys():
        return False
    for name, (value, code) in now.items():
        old, old_code = before[name]
        is_filled_in = old is None and type(value) in (bool, int, str, inspect.Signature)
        if (old is not value or old_code is not code) and not is_filled_in:
            return False
    return True


def _is_of_package(code, known, code_objects):
    """Whether this is code of an installed file, as it is on disk."""
    path = code.co_filename
    if not any(part in INSTALLED for part in path.split(os.sep)):
        return False
    if path not in known:
        try:
            with open(path, encoding="utf-8") as stream:
                known[path] = code_objects.all_codes(stream.read(), path)
        except (OSError, SyntaxError, ValueError):
            known[path] = []
    return any(code.co_name == each.co_name and code_objects.same_code(code, each) for each in known[path])


def _entries(name, module):
    """The functions and classes of a module, and the functions of its own classes, by dotted name."""
    entries, function_type, code_of = {}, type(make_watch), _code_of
    for attribute, value in list(vars(module).items()):
        if not callable(value):  # variables change in every run
            continue
        entries[name + "." + attribute] = (vars(module), attribute, value, code_of(value, function_type))
        if type(value) is type and value.__module__ == name:
            for member, inner in list(vars(value).items()):
                code = code_of(inner, function_type)
                if code is not None or member in ("__eq__", "__hash__", "__repr__", "__bool__"):
                    entries[name + "." + attribute + "." + member] = (vars(value), member, inner, code)
    return entries


def import_what_tests_use(paths):
    """Imports the modules of the standard library that these files import: a snapshot has them before new code runs."""
    standard = getattr(sys, "stdlib_module_names", ())  # Python 3.9 has no such list
    for path in paths:
        try:
            with open(path, "rb") as stream:
                tree = ast.parse(stream.read())
        except (OSError, SyntaxError, ValueError):
            continue
        for node in ast.walk(tree):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module] if isinstance(node, ast.ImportFrom) and node.module and not node.level else []
            for name in names:
                if name.partition(".")[0] in standard and name.partition(".")[0] not in TALKATIVE:
                    try:
                        importlib.import_module(name)
                    except Exception:  # the test will meet the same error
                        continue


def referenced_modules(paths, root):
    """The names of modules outside of the project that the modules of these files use by a name of their own."""
    names = set()
    for module in list(sys.modules.values()):
        if type(module) is type(sys) and getattr(module, "__file__", None) in paths:
            for value in list(vars(module).values()):
                name = value.__name__ if type(value) is type(sys) else getattr(value, "__module__", None)
                if isinstance(name, str):
                    names.add(name)
    outside = []
    for name in sorted(names):
        path = getattr(sys.modules.get(name), "__file__", None) or ""
        if not path.startswith(root + "/") or "/site-packages/" in path:
            outside.append(name)
    return outside


def _code_of(value, function_type):
    """The code object of a function, or of the one that a static or class method or a property holds; else None."""
    if type(value) in (staticmethod, classmethod):
        value = value.__func__
    elif type(value) is property:
        value = value.fget
    return value.__code__ if type(value) is function_type else None
