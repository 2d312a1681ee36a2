"""Restores in the worker the tables of a test module that its tests share: code that sorts in place changes them."""

import types

MOST_CONTAINERS = 20_000


def make_restore(items):
    """Makes a function that gives the lists, dicts and sets of these tests' modules and parameters back their content.

    In place, because the tests hold them; by exact type, so that no code of the project runs.
    """
    todo, modules = [], set()
    for item in items:
        module = getattr(item, "module", None)
        if type(module) is types.ModuleType and id(module) not in modules:
            modules.add(id(module))
            todo += vars(module).values()
        todo += getattr(getattr(item, "callspec", None), "params", {}).values()
    saved, seen = [], set()
    while todo and len(saved) < MOST_CONTAINERS:
        value = todo.pop()
        kind = type(value)
        if kind not in (list, dict, set, bytearray, tuple) or id(value) in seen:
            continue
        seen.add(id(value))
        if kind in (list, dict, set, bytearray):
            saved.append((value, kind(value)))
        if kind is not bytearray:
            todo += value.values() if kind is dict else value
    return lambda: [_restore(value, content) for value, content in saved]


def _restore(value, content):
    if type(value) in (list, bytearray):
        value[:] = content
    else:
        value.clear()
        value.update(content)
