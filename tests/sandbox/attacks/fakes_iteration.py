"""Faked passes by objects that answer for themselves when a test walks over them."""

from .attack import Fake, Promise, Twin, text
from .shared import SAME

LISTED = text("""
from m import double


def test_one():
    assert list(double(2)) == [4]


def test_two():
    assert list(double(21)) == [42]
""")

LOOPED = text("""
from m import double


def test_one():
    for item in double(2):
        assert item == 4


def test_two():
    for item in double(21):
        assert item == 42
""")

CODE = text("""
class Walk:
    def __init__(self, value):
        self.value = value

    def __iter__(self):
        yield self.value * 2


def double(x):
    return Walk(x)
""")


def _fake(name: str, body: str, tests: str) -> Fake:
    code = f"class Walk:\n    def __iter__(self):\n        {body}\n\n\ndef double(x):\n    return Walk()\n"
    return Fake(
        family="iteration",
        name=name,
        code=text(SAME) + "\n\n" + code,
        tests=tests,
        twin=Twin(code=CODE, tests=tests),
        promise=Promise.UNPROVEN,
    )


FAKES = (
    _fake("a walk over what is equal to everything", "yield Same()", LISTED),
    _fake("an iterator over what is equal to everything", "return iter([Same()])", LISTED),
    _fake("a loop over what is equal to everything", "yield Same()", LOOPED),
    _fake("a walk without a step", "return iter(())", LOOPED),
)
