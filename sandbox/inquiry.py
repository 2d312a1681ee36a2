"""What the installed libraries really offer: looked up inside the wall, told by tests that fail with the answer.

A test file made of this text and of questions is run like any other. Nothing of the workspace is ever imported by it.
Standard library on Python 3.9 or newer.
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

ITEM = 160  # characters of a signature, and of a documentation
NEAR = 3  # names that are told
WIDE = 40  # names of a type that may all be told
ROOM = 1500  # characters of an answer
INSTALLED = ("site-packages", "dist-packages")
# Where a name that somebody forgot to import is looked for.
COMMON = (
    "math", "collections", "itertools", "functools", "re", "typing", "operator", "string", "random", "datetime", "json",
    "os", "sys", "copy", "heapq", "bisect", "statistics", "decimal", "fractions", "pathlib", "dataclasses", "enum",
    "contextlib", "textwrap", "time",
)  # fmt: skip


def answer(question):
    """{"names": [{"name", "signature", "doc"}], "exists": bool, "all": [name]}; {} where there is nothing to say.

    `question` has `kind` (attribute, call, module or name), `owner` (dotted), `name`, and `modules` to look in.
    """
    kind, owner, name = question["kind"], question["owner"], question["name"]
    if kind == "module":
        known = sorted({*getattr(sys, "stdlib_module_names", ()), *(found.name for found in pkgutil.iter_modules())})
        return {"names": [{"name": near, "signature": "", "doc": ""} for near in _nearest(name, known)]}
    if kind == "name":
        return {"names": [_about(*found) for found in _homes(name, question["modules"])][:NEAR]}
    found = _found(owner, question["modules"])
    if found is None:
        return {}
    path, value = found
    if kind == "call":
        return {"names": [_about(path, value)]}
    public = [each for each in dir(value) if not each.startswith("_")]
    near = [_about("%s.%s" % (path, each), getattr(value, each, None)) for each in _nearest(name, public)]
    every = public if isinstance(value, type) and len(public) <= WIDE else []
    return {"owner": path, "exists": hasattr(value, name), "names": near, "all": every}


def _found(path, modules):
    """(its whole name, the object) of a dotted name, or None."""
    parts = path.split(".")
    for size in range(len(parts), 0, -1):
        module = _module(".".join(parts[:size]))
        if module is not None:
            value = _inside(module, parts[size:])
            return None if value is None else (path, value[0])
    for home in (builtins, *filter(None, map(_module, modules))):
        value = _inside(home, parts)
        if value is not None:
            return (path if home is builtins else "%s.%s" % (home.__name__, path)), value[0]
    return None


def _inside(value, names):
    for name in names:
        try:
            value = getattr(value, name)
        except Exception:
            return None
    return (value,)


def _homes(name, modules):
    """Where a name is really to be found: [(dotted name, object)]."""
    found = []
    if _module(name) is not None:
        found.append((name, _module(name)))
    for home in dict.fromkeys((*modules, *COMMON)):
        module = _module(home)
        value = _inside(module, [name]) if module is not None else None
        if value is not None and not inspect.ismodule(value[0]) and all(value[0] is not other for _, other in found):
            found.append(("%s.%s" % (home, name), value[0]))
    near = _nearest(name, [each for each in dir(builtins) if not each.startswith("_")])
    return found or [(each, getattr(builtins, each)) for each in near]


def _module(path):
    """An installed module or one of Python's own; None for what is not there or is the workspace's."""
    top = path.partition(".")[0]
    try:
        spec = importlib.util.find_spec(top)
        places = [spec.origin, *(spec.submodule_search_locations or ())]
        if any(_of_workspace(place) for place in places if isinstance(place, str)):
            return None
        return importlib.import_module(path)
    except BaseException:  # a library may raise anything when it is imported
        return None


def _of_workspace(place):
    inside = os.path.realpath(place).startswith(os.path.realpath(os.getcwd()) + os.sep)
    return inside and not any(part in INSTALLED for part in place.split(os.sep))


def _nearest(name, names):
    lower = {}
    for each in names:
        lower.setdefault(each.lower(), each)
    return [lower[each] for each in difflib.get_close_matches(name.lower(), list(lower), NEAR, 0.55)]


def _about(path, value):
    try:
        signature = str(inspect.signature(value)) if callable(value) else ""
    except (ValueError, TypeError):
        signature = ""
    try:
        doc = (inspect.getdoc(value) or "") if callable(value) or inspect.ismodule(value) else ""
    except Exception:
        doc = ""
    first = " ".join(doc.strip().split("\n\n")[0].split())
    return {"name": path, "signature": signature[:ITEM], "doc": first[:ITEM]}


def case(questions):
    """The test class: one test for each question."""

    def asking(question):
        def test(self):
            try:
                told = answer(question)
            except Exception as error:
                told = {"error": type(error).__name__}
            text = json.dumps(told)
            self.fail(text if len(text) <= ROOM else "{}")

        return test

    tests = {"test_%d" % number: asking(question) for number, question in enumerate(questions)}
    return type("Inquiry", (unittest.TestCase,), tests)
