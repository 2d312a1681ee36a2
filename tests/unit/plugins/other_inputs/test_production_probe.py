"""Under which conditions calls are repeated, and that the process is as it was afterwards."""

from __future__ import annotations

import importlib.machinery
import json
import os
import sys
import time

import pytest

from greenloop.plugins.other_inputs import call_probe, production_probe

TEXT = """import logging, os, sys, time, warnings
_calls = []
def many(n):
    _calls.append(n)
    return len(_calls) < 100
def folder(n):
    return os.path.exists("test_it.py")
def debug(n):
    return __debug__
def age(n):
    return time.process_time() < 10_000
def number(n):
    return os.getpid() < 900_000
def framework(n):
    return "pytest" in sys.modules
def options(n):
    return bool(sys.flags.no_user_site)
def bytecode(n):
    return sys.dont_write_bytecode
def logs(n):
    return bool(logging.getLogger().handlers)
def warned(n):
    return any(each[0] in ("always", "error") for each in warnings.filters)
def data(n):
    return os.path.exists("data.txt")
"""


@pytest.fixture
def told(tmp_path, monkeypatch):
    """`told(name)`: the result of a call of this function by condition."""
    for name, text in {"aware_module.py": TEXT, "test_it.py": "", "data.txt": ""}.items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "aware_module", raising=False)

    def run(name):
        call_probe.RAN.clear()
        functions = [["aware_module", name, [], False]]
        production_probe.run_as_in_production(functions, json.dumps([[0, [1], {}]]))
        rows = [json.loads(line) for line in call_probe.RAN]
        sys.modules.pop("aware_module", None)
        return {condition: result for condition, _place, _kind, result, *_more in rows}

    return run


@pytest.mark.parametrize(
    ("name", "differs"),
    [
        ("many", {"calls"}),
        ("folder", {"production"}),
        ("debug", {"production"}),
        ("age", {"production"}),
        ("number", {"production"}),
        ("framework", {"production"}),
        ("options", {"production"} if sys.flags.no_user_site else set()),
        ("bytecode", {"production"} if sys.dont_write_bytecode else set()),
        ("logs", {"production"}),
        ("warned", {"production"}),
        ("data", set()),
    ],
)
def test_a_condition_shows_what_depends_on_it(told, name, differs):
    kept = os.getcwd(), time.process_time, importlib.machinery.SourceFileLoader.get_code, sys.flags
    found = told(name)
    assert {condition for condition, result in found.items() if result != found["first"]} == differs
    assert (os.getcwd(), time.process_time, importlib.machinery.SourceFileLoader.get_code, sys.flags) == kept
