"""One function in its versions: what the docstring tests have written, tested, voted on and answered."""

from __future__ import annotations

HEAD = 'def rle(s):\n    """Run-length encode the string s as a list of (character, count) pairs."""\n'
STUB = f"{HEAD}    raise NotImplementedError\n"
RIGHT = """def rle(s):
    out = []
    for c in s:
        if out and out[-1][0] == c:
            out[-1] = (c, out[-1][1] + 1)
        else:
            out.append((c, 1))
    return out
"""
GROUPS = """from itertools import groupby


def rle(s):
    return [(c, len(list(run))) for c, run in groupby(s)]
"""
COUNTS = "def rle(s):\n    return [(c, s.count(c)) for c in s]\n"
SORTED = "def rle(s):\n    return [(c, s.count(c)) for c in sorted(set(s))]\n"
FIRST_SET = "# Basic\nassert rle('aab') == [('a', 2), ('b', 1)]\n# Edge\nassert rle('') == []\nassert rle('aba') == [('a', 2), ('b', 1)]"
SECOND_SET = "assert rle('aab') == [('a', 2), ('b', 1)]\nassert rle('abc') == [('a', 1), ('b', 1), ('c', 1)]\nassert rle('') == [('', 0)]"
THIRD_SET = "assert rle('zz') == [('z', 2)]\nassert rle('') == []"
SETS = [FIRST_SET, SECOND_SET, THIRD_SET]


def code(text: str) -> str:
    """An answer with this code."""
    return f"```python\n{text}```"
