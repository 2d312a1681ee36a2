"""The stubs that stand for names which do not exist yet."""

from __future__ import annotations

import pytest

from greenloop.localize.stubs import MissingNames, add_stubs


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("class Foo: pass\n", "class Foo:\n    pass\n\n    def bar("),
        ("class Foo:\n\tx = 1", "class Foo:\n\tx = 1\n\n\tdef bar("),
        ("class Foo:\r\n  pass\r\n", "class Foo:\r\n  pass\r\n\r\n  def bar("),
        ("if 1:\n    class Foo:\n        pass\n", "        pass\n\n        def bar("),
    ],
)
def test_a_member_fits_its_class(source, expected):
    missing = MissingNames(path="m.py", names=("bar",), owner="Foo", uses="from m import Foo\nFoo().bar()\n")
    files, created = add_stubs(missing, {"m.py": source}.get)
    assert expected in files["m.py"]
    assert [region.qualname for region in created] == ["Foo.bar"]
