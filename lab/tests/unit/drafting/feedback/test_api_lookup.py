"""The lookup of the names that a library really has."""

from __future__ import annotations

import pytest

from greenloop_lab.drafting.feedback import _api_lookup


@pytest.mark.parametrize(
    ("kind", "owner", "name", "first"),
    [
        ("attribute", "json", "dump_s", "json.dumps"),
        ("attribute", "str", "splitt", "str.split"),
        ("call", "textwrap.dedent", "", "textwrap.dedent"),
        ("module", "", "jsonn", "json"),
        ("name", "", "sqrt", "math.sqrt"),
    ],
)
def test_the_intended_name_comes_first(kind, owner, name, first):
    found = _api_lookup.answer({"kind": kind, "owner": owner, "name": name, "modules": ["math"]})
    assert found["names"][0]["name"] == first


def test_nothing_is_known_of_an_owner_that_does_not_exist():
    assert _api_lookup.answer({"kind": "attribute", "owner": "no_such.thing", "name": "x", "modules": []}) == {}
