"""What may cross by name, and what the code may ask of an object that it was lent."""

from __future__ import annotations

import decimal
import json
import os
import re
import sys
import types
import unittest.mock

import pytest

from two_sides import CannotCross, apart, request

rules = apart["apart_rules"]


def _name(value: object) -> str:
    """An id without an address, which every process has another of."""
    return re.sub(r" (at|id=).*", ">", repr(value))


def judge(**more):
    return rules.Rules(True, request(**more))


def code(**more):
    return rules.Rules(False, request(**more))


@pytest.mark.parametrize(
    ("path", "is_test"),
    [
        ("test_m.py", True), ("m_test.py", True), ("conftest.py", True), ("pkg/conftest.py", True), ("tests/data.txt", True),
        ("pkg/test/m.py", True), ("m.py", False), ("testing.py", False), ("latest.py", False), ("contest/m.py", False),
    ],
)  # fmt: skip
def test_what_is_a_file_of_the_tests(path, is_test):
    assert rules.is_test_path(path) is is_test


def test_the_judge_names_what_the_code_can_find(shop):
    assert judge().name_of(shop.helper) == ("shop", "helper")
    assert judge().name_of(shop.Plain.total) == ("shop", "Plain.total")
    assert judge().name_of(shop.Plain.make) == ("shop", "Plain.make")
    assert judge().name_of(decimal.Decimal) == ("decimal", "Decimal")
    assert judge().name_of(lambda: 1) is None
    assert judge().name_of(pytest.raises) is None


def test_a_name_that_means_something_else_is_none(shop):
    def helper():
        return 1

    helper.__module__, helper.__qualname__ = "shop", "helper"
    assert judge().name_of(helper) is None


def test_the_code_names_only_what_the_judge_has(shop):
    changes = {"classes": ["Item"], "new": {"helper": {}}, "is_new": False, "name": "shop"}
    side = code(modules={"shop.py": changes})
    assert side.name_of(shop.Plain) == ("shop", "Plain")
    for value in (shop.Item, shop.helper, json.dumps, eval, unittest.mock.Mock):
        assert side.name_of(value) is None, value
    assert code(modules={"shop.py": {**changes, "is_new": True}}).name_of(shop.Plain) is None


def test_classes_of_test_frameworks_are_never_rebuilt(shop):
    assert all(judge().allows_class(kind) for kind in (shop.Item, decimal.Decimal, ValueError))
    assert not any(
        judge().allows_class(kind) for kind in (unittest.mock.Mock, type(pytest.approx(1)), json.JSONDecoder)
    )


def test_an_object_is_found_by_its_path(shop):
    assert judge().resolve("shop", "REGISTRY", is_instance=True) is shop.REGISTRY
    for path in ("REGISTRY", "Color._member_map_", "__builtins__", "dataclasses"):
        with pytest.raises(CannotCross):
            judge().resolve("shop", path)


# -- lent objects -------------------------------------------------------------------------------------------------------


class Mine:
    def __init__(self):
        self.x = 1


def mine():
    return 1


MOCK = unittest.mock.Mock()
MOCK.child.return_value = 3


@pytest.mark.parametrize(
    ("operation", "value", "name"),
    [
        ("getattr", Mine(), "x"), ("setattr", Mine(), "x"), ("call", mine, None), ("getattr", mine, "__name__"),
        ("len", [1], None), ("getattr", MOCK, "other"), ("call", MOCK, None),
    ],
    ids=_name,
)  # fmt: skip
def test_what_the_code_may_ask(operation, value, name):
    judge().check_lent(operation, value, name)


@pytest.mark.parametrize(
    ("operation", "value", "name"),
    [
        ("getattr", Mine(), "__dict__"), ("getattr", Mine(), "__class__"), ("getattr", Mine(), 5),
        ("getattr", Mine(), "__init__"), ("getattr", (n for n in ()), "gi_frame"), ("setattr", mine, "x"),
        ("getattr", Mine, "x"), ("setattr", Mine, "x"), ("getattr", os, "system"), ("setattr", Mine().__init__, "x"),
        ("getattr", MOCK, "return_value"), ("getattr", MOCK, "call_args"), ("setattr", MOCK, "side_effect"),
        ("getattr", MOCK, "assert_called"), ("setattr", MOCK, "child"), ("call", pytest.approx(1), None),
        ("str", pytest.raises(ValueError), None),
    ],
    ids=_name,
)  # fmt: skip
def test_what_the_code_may_not_ask(operation, value, name):
    with pytest.raises(CannotCross):
        judge().check_lent(operation, value, name)


def test_a_function_of_the_tests_has_no_attributes_but_those_that_were_set():
    def function():
        return 1

    function.mark = 1
    judge().check_lent("getattr", function, "mark")
    with pytest.raises(AttributeError):
        judge().check_lent("getattr", function, "other")


# -- classes ------------------------------------------------------------------------------------------------------------


def test_the_base_that_is_not_written_in_python(shop):
    assert rules.solid_base(shop.Basket) is list
    assert rules.solid_base(shop.Plain) is object
    assert rules.solid_base(shop.Missing) is KeyError
    assert rules.solid_base(shop.Point) is tuple


def test_no_except_clause_takes_a_refusal_for_an_error():
    assert not issubclass(CannotCross, Exception)


def test_the_tests_are_known_by_their_files(tmp_path, monkeypatch):
    for path in ("tests/helpers.py", "checks.py", "m.py"):
        name = path[:-3].replace("/", "_")
        module = types.ModuleType(name)
        module.__file__ = str(tmp_path / path)
        monkeypatch.setitem(sys.modules, name, module)
    side = judge(root=str(tmp_path), tests=["checks.py"])
    assert [side.is_test_module(name) for name in ("tests_helpers", "checks", "m", "__main__")] == [
        True,
        True,
        False,
        True,
    ]
