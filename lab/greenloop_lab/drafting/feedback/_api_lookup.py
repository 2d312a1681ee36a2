"""Looks up what the installed libraries really offer; tests report the answers by failing with them.

This text and a list of questions form a test file that runs in the sandbox like any other. It never imports anything of
the workspace. Standard library, Python 3.9 or newer.
"""

import builtins
import difflib
import importlib
import importlib.util
import inspect
import json
import os
import pkgutil
import sys
import unittest

ITEM_LENGTH = 160  # characters of a signature, and of the documentation
MAX_NAMES = 3  # names in an answer
MAX_TYPE_NAMES = 40  # a type with at most this many names has all of them listed
ANSWER_LENGTH = 1500  # characters of an answer
INSTALLED = ("site-packages", "dist-packages")
# Searched for a name that the candidate forgot to import.
COMMON_MODULES = (
    "math", "collections", "itertools", "functools", "re", "typing", "operator", "string", "random", "datetime", "json",
    "os", "sys", "copy", "heapq", "bisect", "statistics", "decimal", "fractions", "pathlib", "dataclasses", "enum",
    "contextlib", "textwrap", "time",
)  # fmt: skip


def answer(question):
    """{"names": [{"name", "signature", "doc"}], "exists": bool, "all": [name]}; {} where nothing is known.

    `question` has `kind` (attribute, call, module or name), `owner` (dotted), `name`, and `modules` to look in.
    """
    kind, owner, name = question["kind"], question["owner"], question["name"]
    if kind == "module":
        module_names = sorted(
            {*getattr(sys, "stdlib_module_names", ()), *(module.name for module in pkgutil.iter_modules())}
        )
        return {"names": [{"name": closest, "signature": "", "doc": ""} for closest in _closest(name, module_names)]}
    if kind == "name":
        return {
            "names": [_describe(*definition) for definition in _find_definitions(name, question["modules"])][:MAX_NAMES]
        }
    resolved = _resolve(owner, question["modules"])
    if resolved is None:
        return {}
    path, value = resolved
    if kind == "call":
        return {"names": [_describe(path, value)]}
    public = [attribute for attribute in dir(value) if not attribute.startswith("_")]
    closest = [
        _describe("%s.%s" % (path, attribute), getattr(value, attribute, None)) for attribute in _closest(name, public)
    ]
    all_names = public if isinstance(value, type) and len(public) <= MAX_TYPE_NAMES else []
    return {"owner": path, "exists": hasattr(value, name), "names": closest, "all": all_names}


def _resolve(path, modules):
    """(full name, object) for a dotted name, or None."""
    parts = path.split(".")
    for size in range(len(parts), 0, -1):
        module = _import_installed(".".join(parts[:size]))
        if module is not None:
            value = _get_nested(module, parts[size:])
            return None if value is None else (path, value[0])
    for namespace in (builtins, *filter(None, map(_import_installed, modules))):
        value = _get_nested(namespace, parts)
        if value is not None:
            return (path if namespace is builtins else "%s.%s" % (namespace.__name__, path)), value[0]
    return None


def _get_nested(value, names):
    for name in names:
        try:
            value = getattr(value, name)
        except Exception:
            return None
    return (value,)


def _find_definitions(name, modules):
    """Finds where a name is really defined: [(dotted name, object)]."""
    definitions = []
    if _import_installed(name) is not None:
        definitions.append((name, _import_installed(name)))
    for module_name in dict.fromkeys((*modules, *COMMON_MODULES)):
        module = _import_installed(module_name)
        value = _get_nested(module, [name]) if module is not None else None
        if (
            value is not None
            and not inspect.ismodule(value[0])
            and all(value[0] is not other for _, other in definitions)
        ):
            definitions.append(("%s.%s" % (module_name, name), value[0]))
    closest = _closest(name, [builtin for builtin in dir(builtins) if not builtin.startswith("_")])
    return definitions or [(builtin, getattr(builtins, builtin)) for builtin in closest]


def _import_installed(path):
    """Imports an installed module or one of Python's own; None for a missing module or one of the workspace."""
    top_level = path.partition(".")[0]
    try:
        spec = importlib.util.find_spec(top_level)
        locations = [spec.origin, *(spec.submodule_search_locations or ())]
        if any(_is_in_workspace(location) for location in locations if isinstance(location, str)):
            return None
        return importlib.import_module(path)
    except BaseException:  # a library may raise anything when it is imported
        return None


def _is_in_workspace(path):
    is_inside = os.path.realpath(path).startswith(os.path.realpath(os.getcwd()) + os.sep)
    return is_inside and not any(part in INSTALLED for part in path.split(os.sep))


def _closest(name, names):
    by_lower_case = {}
    for known_name in names:
        by_lower_case.setdefault(known_name.lower(), known_name)
    matches = difflib.get_close_matches(name.lower(), list(by_lower_case), MAX_NAMES, 0.55)
    return [by_lower_case[match] for match in matches]


def _describe(path, value):
    try:
        signature = str(inspect.signature(value)) if callable(value) else ""
    except (ValueError, TypeError):
        signature = ""
    try:
        doc = (inspect.getdoc(value) or "") if callable(value) or inspect.ismodule(value) else ""
    except Exception:
        doc = ""
    first_paragraph = " ".join(doc.strip().split("\n\n")[0].split())
    return {"name": path, "signature": signature[:ITEM_LENGTH], "doc": first_paragraph[:ITEM_LENGTH]}


def make_test_class(questions):
    """Makes the test class: one test for each question."""

    def make_test(question):
        def test(self):
            try:
                result = answer(question)
            except Exception as error:
                result = {"error": type(error).__name__}
            text = json.dumps(result)
            self.fail(text if len(text) <= ANSWER_LENGTH else "{}")

        return test

    tests = {"test_%d" % number: make_test(question) for number, question in enumerate(questions)}
    return type("ApiLookup", (unittest.TestCase,), tests)
