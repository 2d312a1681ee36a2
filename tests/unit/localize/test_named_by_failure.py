"""Where the functions are that a failure names."""

from __future__ import annotations

from greenloop.localize.named_by_failure import find_functions

TEXT = "class C:\n    def f(self):\n        pass\n\n    class D:\n        pass\n\n\ndef g():\n    pass\n"


def test_their_places_in_some_files():
    found = find_functions(["C.f", "g", "C.D", "h"], {"m.py": TEXT, "n.py": "def g():\n    pass\n", "broken.py": "def"})
    assert [(each.path, each.qualname, each.start, each.end) for each in found] == [
        ("m.py", "C.f", 2, 3),
        ("m.py", "g", 9, 10),
        ("n.py", "g", 1, 2),
    ]
