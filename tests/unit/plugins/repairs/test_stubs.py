"""The stubs that stand for names which do not exist yet."""

from __future__ import annotations

import pytest

from greenloop.plugins.repairs.stubs import MissingNames, add_stubs


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


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("", "LIMIT = None\n"),
        ("import re\n\n\ndef f(): ...\n", "import re\n\nLIMIT = None\n\n\ndef f(): ...\n"),
        (
            "import re\n\nX = 1\n\n\ndef f(): ...\nY = 2\n",
            "import re\n\nX = 1\nLIMIT = None\n\n\ndef f(): ...\nY = 2\n",
        ),
        ('"""M."""\n\n\ndef f(): ...\n', '"""M."""\n\nLIMIT = None\n\n\ndef f(): ...\n'),
        ("def f(): ...\n", "LIMIT = None\n\n\ndef f(): ...\n"),
        ("X = 1", "X = 1\nLIMIT = None\n"),
    ],
)
def test_a_constant_goes_to_the_others(source, expected):
    files, (region,) = add_stubs(MissingNames(path="m.py", names=("LIMIT",), uses="LIMIT == 3"), {"m.py": source}.get)
    assert files["m.py"] == expected
    assert (region.created, region.assigns, expected.split("\n")[region.start - 1]) == (True, True, "LIMIT = None")


def test_what_a_class_lacks_and_nobody_calls_is_its_attribute():
    missing = MissingNames(path="m.py", names=("limit",), owner="C", on_class=True, uses="assert C.limit == 3")
    files, (region,) = add_stubs(missing, {"m.py": "class C:\n    x = 1\n"}.get)
    assert files["m.py"] == "class C:\n    x = 1\n    limit = None\n"
    assert (region.qualname, region.start, region.assigns) == ("C.limit", 3, True)
