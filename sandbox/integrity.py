"""Notices in the worker when something of the machinery that decides a test was replaced while the tests ran."""

import sys

# Modules whose functions decide whether a test passes, or how a value compares, is shown and is printed.
WATCHED_OF_PYTEST = (
    "assertion.rewrite", "assertion.util", "doctest", "fixtures", "main", "nodes", "outcomes", "python", "python_api",
    "raises", "recwarn", "reports", "runner", "skipping", "unittest",
)  # fmt: skip
WATCHED = (
    "builtins", "datetime", "difflib", "doctest", "math", "operator", "pluggy._callers", "pluggy._hooks",
    "pluggy._manager", "pprint", "pytest", "random", "reprlib", "time", "unittest", "unittest.case", "unittest.mock",
    "unittest.util",
    *("_pytest." + name for name in WATCHED_OF_PYTEST),
)  # fmt: skip
# Part of `sys` that a test can see; the rest changes while tests run.
WATCHED_OF_SYS = ("displayhook", "excepthook", "__displayhook__", "__excepthook__")
MOST_NAMES = 20


def make_watch():
    """Takes a snapshot and makes `altered()`, the dotted names that were replaced since.

    To be called when pytest has loaded its plugins, which replace some themselves, and before any code of the project.
    """
    modules, code_of, kind = sys.modules, _code_of, type
    function_type, plain_type = type(make_watch), type
    watched = [
        (name, module) for name, module in sorted(modules.items()) if name in WATCHED and kind(module) is kind(sys)
    ]
    snapshot = {}  # dotted name -> (namespace, attribute, value, code)
    for name, module in watched:
        for attribute, value in list(vars(module).items()):
            if not callable(value):  # variables change in every run
                continue
            snapshot[name + "." + attribute] = (vars(module), attribute, value, code_of(value, function_type))
            if kind(value) is plain_type and value.__module__ == name:
                for member, inner in list(vars(value).items()):
                    inner_code = code_of(inner, function_type)
                    if inner_code is not None or member in ("__eq__", "__hash__", "__repr__", "__bool__"):
                        snapshot[name + "." + attribute + "." + member] = (vars(value), member, inner, inner_code)
    for attribute in WATCHED_OF_SYS:
        value = getattr(sys, attribute, None)
        snapshot["sys." + attribute] = (vars(sys), attribute, value, code_of(value, function_type))
    missing = object()
    entries = tuple((dotted, *entry) for dotted, entry in snapshot.items())

    def altered():
        names = []
        for dotted, namespace, attribute, value, code in entries:
            present = namespace.get(attribute, missing)
            if present is not value or (code is not None and code_of(present, function_type) is not code):
                names.append(dotted)
        return names[:MOST_NAMES]

    return altered


def _code_of(value, function_type):
    """The code object of a function, or of the one that a static or class method or a property holds; else None."""
    if type(value) in (staticmethod, classmethod):
        value = value.__func__
    elif type(value) is property:
        value = value.fget
    return value.__code__ if type(value) is function_type else None
