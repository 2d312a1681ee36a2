"""Methods as the tests use them."""

from __future__ import annotations

import pytest

from greenloop.drafting.candidates.changes.slips.method_access import method_access

SURPLUS = ("C.size() takes 1 positional argument but 2 were given", None, None)
MISSING = ("C.size() missing 1 required positional argument: 'x'", None, None)
NOT_CALLED = ("", "12", "<bound method C.size of <m.C object at 0x7>>")


@pytest.mark.parametrize(
    ("text", "failure", "wanted"),
    [
        (
            "    def size():\n        return 1\n",
            SURPLUS,
            ["    def size(self):\n        return 1\n", "    @staticmethod\n    def size():\n        return 1\n"],
        ),
        (
            "    async def size(x):\n        pass\n",
            SURPLUS,
            [
                "    async def size(self, x):\n        pass\n",
                "    @staticmethod\n    async def size(x):\n        pass\n",
            ],
        ),
        ("    def size(cls):\n        pass\n", MISSING, ["    @classmethod\n    def size(cls):\n        pass\n"]),
        ("    def size(self, x):\n        pass\n", MISSING, []),
        ("def size(x, *, y=1):\n    pass\n", SURPLUS, ["def size(x, y=1):\n    pass\n"]),
        ("def size(x, *y, z=1):\n    pass\n", SURPLUS, []),
        ("    def size(self):\n        pass\n", SURPLUS, []),
        ("    @staticmethod\n    def size(x):\n        pass\n", SURPLUS, []),
        ("    def other():\n        pass\n", SURPLUS, []),
        ("def size():\n    pass\n", SURPLUS, []),
        ("    def size(self):\n        pass\n", NOT_CALLED, ["    @property\n    def size(self):\n        pass\n"]),
        ("    def size(self, x):\n        pass\n", NOT_CALLED, []),
        ("    def other(self):\n        pass\n", NOT_CALLED, []),
        ("    size = 1\n", NOT_CALLED, []),
        ("    def size(:\n", NOT_CALLED, []),
    ],
)
def test_what_a_failure_names_is_made_to_fit(failing, text, failure, wanted):
    assert [change.text for change in method_access(text, failing(failure))] == wanted


def test_a_property_that_reads_itself_reads_what_the_object_keeps(failing):
    text = "    @property\n    def size(self):\n        return self.size + self.other\n"
    endless = failing(("maximum recursion depth exceeded", None, None), kind="RecursionError")
    assert [change.text for change in method_access(text, endless)] == [text.replace("self.size", "self._size")]
    assert not list(method_access(text, failing(("maximum recursion depth exceeded", None, None))))
