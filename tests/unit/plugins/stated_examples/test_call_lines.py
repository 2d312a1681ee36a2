"""Checks that a docstring states."""

import ast

from greenloop.plugins.stated_examples.call_lines import make_requirement


def test_a_call_and_its_value_become_an_assertion():
    call = ast.parse("f( 1 )", mode="eval").body
    assert make_requirement(0, call, "2", "").body == "assert f(1) == 2"
    assert make_requirement(0, call, "", "ValueError").shown == "with pytest.raises(ValueError): f(1)"
