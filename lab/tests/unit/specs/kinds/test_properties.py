"""Properties: tests with values and messages, or a doubt."""

from dataclasses import replace

from function_headers import find_region
from greenloop.core.records.spec import Provenance, Spec
from greenloop_lab.specs.kinds import properties
from greenloop_lab.specs.property_tests import Property

SORT = '''def sort(xs: list[int]) -> list[int]:
    """Sort the numbers.

    >>> sort([2, 1])
    [1, 2]
    """
    return secret(xs)
'''
LENGTH = Property(name="length", expression="len(result) == len(xs)", source="library")


def test_common_properties_come_first_and_equal_expressions_count_once():
    stated = [LENGTH, replace(LENGTH, name="again", expression="sort(result) == result")]
    spec = properties.build_spec(find_region(SORT, "sort"), SORT, "m", stated)
    assert [case.source.partition(":")[0] for case in spec.cases] == ["permutation", "ordered", "idempotent", "length"]
    assert all(case.provenance is Provenance.PROPERTY and not case.binding for case in spec.cases)


def test_a_function_without_a_property_has_no_tests():
    text = 'def f(n):\n    """Frobnicate the number."""\n'
    assert properties.build_spec(find_region(text, "f"), text, "m") == Spec()


def test_a_parameter_for_which_there_are_no_values_is_a_doubt():
    text = 'def f(conn, query: str):\n    """Fetch rows."""\n'
    spec = properties.build_spec(find_region(text, "f"), text, "m")
    assert spec.doubts == ("No values can be made up for `conn`, so no properties are tried.",)
