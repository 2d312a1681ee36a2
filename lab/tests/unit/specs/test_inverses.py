"""Inverse functions of one module."""

from greenloop.core.records.spec import Region
from greenloop.plugins.function_calls import signature
from greenloop_lab.specs.inverses import find_inverse

PAIR = 'def encode(s: str) -> str:\n    return s\n\n\ndef decode(s: str) -> str:\n    """Undo."""\n    ...\n'


def test_the_written_function_of_a_pair_is_called_first():
    head = signature.read_header(Region(path="m.py", qualname="decode", start=5, end=7), PAIR)
    (value,), _missing = signature_values(head)
    found = find_inverse(head, value, PAIR, "m")
    assert found.call == "decode(encode(s))"
    assert found.module_names == ("encode",)


def signature_values(head):
    from greenloop.plugins.function_calls import value_strategies

    return value_strategies.build_strategies(head, PAIR, "m", {})
