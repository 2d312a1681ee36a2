"""Django's own order of tests, without its runner."""

from __future__ import annotations

import importlib.util
from types import SimpleNamespace

import pytest
from django.test import SimpleTestCase, TestCase, TransactionTestCase

from greenloop_sandbox import payload


@pytest.fixture
def plugin():
    spec = importlib.util.spec_from_file_location("django_tests", payload.folder() / "django_tests.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.DjangoTests.__new__(module.DjangoTests)


def test_tests_that_need_a_clean_database_come_first(plugin):
    kinds = [None, TransactionTestCase, SimpleTestCase, TestCase, int]
    items = [SimpleNamespace(cls=kind, name="") for kind in kinds] + [SimpleNamespace()]
    plugin.pytest_collection_modifyitems(items)
    assert [getattr(item, "cls", "") for item in items] == [
        TestCase,
        TransactionTestCase,
        SimpleTestCase,
        None,
        int,
        "",
    ]


def test_a_class_that_another_file_imports_runs_where_it_is_defined(plugin):
    here, elsewhere = SimpleNamespace(__name__=__name__), SimpleNamespace(__name__="test_other")
    kind = type("Tests", (SimpleTestCase,), {"__module__": __name__})
    items = [SimpleNamespace(cls=kind, name=name, module=module) for module in (elsewhere, here) for name in "ab"]
    alone = items[:1]
    plugin.pytest_collection_modifyitems(items)
    assert [item.module for item in items] == [here, here]
    plugin.pytest_collection_modifyitems(alone)
    assert alone
