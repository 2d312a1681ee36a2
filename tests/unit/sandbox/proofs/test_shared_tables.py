"""The tables of test modules and parameters, given back their content in place."""

from __future__ import annotations

from types import ModuleType, SimpleNamespace

from inside import load


def test_what_tests_share_is_as_it_was():
    module = ModuleType("test_m")
    module.CASES = [([3, 1, 2], [1, 2, 3])]
    module.NAMES = {"a": {1}}
    module.CASES.append(module.CASES)  # a table in itself
    parameter = bytearray(b"ba")
    item = SimpleNamespace(module=module, callspec=SimpleNamespace(params={"x": parameter}))
    restore = load("shared_tables").make_restore([item, SimpleNamespace()])
    numbers = module.CASES[0][0]
    numbers.sort()
    module.NAMES["a"].add(2)
    module.NAMES["b"] = set()
    parameter.reverse()
    restore()
    assert module.CASES[0][0] is numbers
    assert numbers == [3, 1, 2]
    assert {"a": {1}} == module.NAMES
    assert parameter == b"ba"


def test_only_plain_containers_are_touched():
    class Table(list):
        pass

    module = ModuleType("test_m")
    module.TABLE = Table([1])
    restore = load("shared_tables").make_restore([SimpleNamespace(module=module)])
    module.TABLE.append(2)
    restore()
    assert module.TABLE == [1, 2]
