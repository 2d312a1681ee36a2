"""Attributes that older versions of Python had, read where a file is imported."""

from __future__ import annotations

import pytest

from greenloop.project.missing_imports import correct_attribute


@pytest.mark.parametrize(
    ("header", "message", "expected"),
    [
        ("class F(collections.Mapping):", "module 'collections' has no attribute 'Mapping'",
         ["class F(collections.abc.Mapping):\n", "import collections.abc\n"]),
        ("KEYS = string.letters", "module 'string' has no attribute 'letters'", ["KEYS = string.ascii_letters\n"]),
        ("TABLE = string.maketrans('a', 'b')", "module 'string' has no attribute 'maketrans'",
         ["TABLE = str.maketrans('a', 'b')\n"]),
        ("GCD = fractions.gcd", "module 'fractions' has no attribute 'gcd'",
         ["GCD = math.gcd\n", "import fractions\nimport math\n"]),
        ("GCD = fractions.unknown", "module 'fractions' has no attribute 'unknown'", []),
    ],
)  # fmt: skip
def test_what_a_line_reads_of_a_module_that_had_it(header, message, expected):
    module = message.split("'")[1]
    text = f"import {module}\n\n\n{header}\n    pass\n" if ":" in header else f"import {module}\n\n\n{header}\n"
    assert [each.text for each in correct_attribute(module, message.split("'")[3], 4, text, "m.py")] == expected


def test_a_function_s_own_lines_are_no_matter_of_the_import():
    text = "import string\n\n\ndef f():\n    return string.letters\n"
    assert correct_attribute("string", "letters", 5, text, "m.py") == []
