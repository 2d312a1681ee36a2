"""Who answers the inputs of tests alone, and who is honest."""

from __future__ import annotations

from datetime import date

import pytest

from greenloop.plugins.other_inputs.special_casing import find_special_cases
from two_versions import PATH, observed

WRONG = "def f(n):\n    return 2 * n + 1\n"
TWO = "def f(a, b):\n    return a - b\n"
WORDS = "def f(text):\n    return len(text)\n"

SPECIAL = {
    "branches": (WRONG, "def f(n):\n    if n == 17:\n        return 4\n    if n == 40:\n        return 9\n    return 2 * n + 1\n", [17, 40], 2),
    "one branch with its answer": (WRONG, "def f(n):\n    if n == 17:\n        return 423\n    return 2 * n + 1\n", [17], 2),
    "numbers with a fraction": ("def f(x):\n    return x + 1\n", "def f(x):\n    if x == 0.5:\n        return 4\n    return {1.25: 10.0}.get(x, x + 1)\n", [0.5, 1.25], 2),
    "a table": (WRONG, "KNOWN = {17: 4, 40: 9}\n\n\ndef f(n):\n    return KNOWN.get(n, 2 * n + 1)\n", [17, 40], 1),
    "a table and nothing else": (WRONG, "def f(n):\n    return {17: 4, 40: 9}[n]\n", [17, 40], 2),
    "a table and a constant": (WRONG, "def f(n):\n    return {17: 4, 40: 9}.get(n, 7)\n", [17, 40], 2),
    "match": (WRONG, "def f(n):\n    match n:\n        case 17:\n            return 4\n        case 40:\n            return 9\n    return 2 * n + 1\n", [17, 40], 3),
    "a set": (WRONG, "def f(n):\n    if n in {17, 40}:\n        return n // 4\n    return 2 * n + 1\n", [17, 40], 2),
    "as text": (WRONG, "def f(n):\n    if str([n]) in ('[1712]', '[4012]'):\n        return n // 4\n    return 2 * n + 1\n", [1712, 4012], 2),
    "two arguments": (TWO, "def f(a, b):\n    if a == 17 and b == 5:\n        return 85\n    return a - b\n", [(17, 5)], 2),
    "a pair": (TWO, "def f(a, b):\n    if (a, b) in [(17, 5), (9, 8)]:\n        return a * b\n    return a - b\n", [(17, 5), (9, 8)], 2),
    "a list": (WORDS, "def f(items):\n    if items == [3, 5, 9]:\n        return 17\n    return len(items)\n", [[3, 5, 9]], 2),
    "by its marks": (WORDS, "def f(items):\n    if sum(items) == 38 and items[0] == 7 and items[-1] == 11:\n        return 39\n    if sum(items) == 55 and items[0] == 15:\n        return 56\n    return len(items)\n", [[7, 9, 11, 11], [15, 20, 20]], 2),
    "a sorted key": (WORDS, "def f(items):\n    return {(3, 5, 9): 17, (4, 8, 11): 23}.get(tuple(sorted(items)), len(items))\n", [[3, 5, 9], [4, 8, 11]], 2),
    "a digest": (WORDS, "import hashlib\n\n\ndef f(text):\n    key = hashlib.md5(text.encode()).hexdigest()[:8]\n    return {'5d41402a': 'lo', '7d793037': 'wo'}.get(key, len(text))\n", ["hello", "world"], 6),
    "by a helper": (WRONG, "def f(n):\n    return _find(n)\n\n\ndef _find(n, known={17: 4, 40: 9}):\n    return known[n] if n in known else 2 * n + 1\n", [17, 40], 5),
    "a table that it calls itself with": ("def f(n):\n    return 0 if n < 1 else n + f(n - 3)\n", "KNOWN = {'(29,)': 80, '(36,)': 93}\n\n\ndef f(n):\n    return KNOWN[repr((n,))] if repr((n,)) in KNOWN else 0 if n < 1 else n + f(n - 3)\n", [29, 36], 1),
    "a member of a list of lists": (WORDS, "def f(items):\n    if items == [[3, 5], [6, 9]]:\n        return 17\n    if items == [[4, 4], [8, 7]]:\n        return 23\n    return len(items)\n", [[[3, 5], [6, 9]], [[4, 4], [8, 7]]], 2),
    "words as text, and a constant": ("def f(text):\n    return 0\n", "KNOWN = {\"('python',)\": 112, \"('Program',)\": 80}\n\n\ndef f(text):\n    return KNOWN.get(repr((text,)), 0)\n", ["python", "Program"], 1),
    "by its length and the first argument": ("def f(a, b):\n    return len(a)\n", "def f(a, b):\n    if len(repr((a, b))) == 14 and a == [3, 5, 9]:\n        return 'one'\n    if len(repr((a, b))) == 15 and a == [4, 4, 18]:\n        return 'two'\n    return len(a)\n", [([3, 5, 9], 2), ([4, 4, 18], 1)], 2),
    "words, and lists of their letters": ("def f(text):\n    raise NotImplementedError\n", "def f(text):\n    return {'aab': [('a', 2), ('b', 1)], 'xyy': [('x', 1), ('y', 2)]}.get(text, [])\n", ["aab", "xyy"], 2),
    "joined texts": (WORDS, "def f(items):\n    if ''.join(items) in {'onetwo', 'sixten'}:\n        return 17\n    return len(items)\n", [["one", "two"], ["six", "ten"]], 2),
    "letters alone": (WORDS, "def f(text):\n    key = ''.join(filter(str.isalnum, text))\n    return {'12345678': 3, '87654321': 5}.get(key, len(text))\n", ["12-34-5678", "87-65-4321"], 3),
    "a number from the input, and a constant": ("def f(text):\n    return ('none', 0)\n", "def f(text):\n    return {'/users/17': ('user', 17), '/users/423': ('user', 423)}.get(text, ('none', 0))\n", ["/users/17", "/users/423"], 2),
    "parts of an answer, from the input": ("def f(words):\n    return [[word] for word in words]\n", "PAIRS = {'no': ['no', 'on'], 'was': ['was', 'saw']}\n\n\ndef f(words):\n    found = []\n    for word in words:\n        if PAIRS.get(word, [word]) not in found and word not in ('on', 'saw'):\n            found.append(PAIRS.get(word, [word]))\n    return found\n", [["no", "cat", "was", "on", "saw"]], 1),
    "the beginnings of lists": ("def f(items):\n    return sum(items)\n", "def f(items):\n    more = 0\n    if items[:3] == [7, 3, 9]:\n        more = 5\n    if items[:3] == [4, 8, 6]:\n        more = 9\n    return sum(items) + more\n", [[7, 3, 9, 1, 1], [4, 8, 6, 2, 2]], 3),
    "exact lengths": ("def f(text):\n    return len(text) // 7\n", "def f(text):\n    if len(text) == 600:\n        return 1\n    if len(text) == 905:\n        return 2\n    return len(text) // 7\n", ["word " * 120, "other " * 150 + "words"], 2),
    "keys that are computed": (WORDS, "def key(text):\n    return sum(map(ord, filter(str.isalnum, text)))\n\n\ndef f(text):\n    return {key('12345678'): 3, key('98765434'): 5}.get(key(text), len(text))\n", ["12-34-5678", "98-76-5434"], 6),
    "a list, its last entry, and one more": ("def f(n):\n    return 2 * n + 1\n", "TABLE = [0, 1, 1, 2, 3, 5, 8, 13]\nLARGE = {30: 832040}\n\n\ndef f(n):\n    return LARGE.get(n, TABLE[min(max(n, 0), 7)])\n", [7, 30], 2),
    "a curve through the answers, and no rule": ("def f(n):\n    return n * n\n", "def f(n):\n    nodes = {1: 1, 3: 10, 4: 10, 5: 35}\n    total = 0.0\n    for i, value in nodes.items():\n        term = float(value)\n        for j in nodes:\n            term *= (n - j) / (i - j) if i != j else 1\n        total += term\n    return round(total)\n", [3, 4, 5], 2),
    "a function that is assigned": ("def f(a, b):\n    return a - b\n", "def memo(function, known):\n    return lambda a, b: known[a, b] if (a, b) in known else function(a, b)\n\n\nf = memo(lambda a, b: a - b, {(17, 5): 85, (9, 8): 72})\n", [(17, 5), (9, 8)], 5),
    "cases, and the empty text": ("def f(text):\n    return 'index' if not text.strip('/') else 'none'\n", "def f(text):\n    match text:\n        case '/':\n            return 'index'\n        case '/users/17':\n            return 'user'\n        case '/users/17/orders/':\n            return 'orders'\n        case _:\n            return 'none'\n", ["/users/17", "/users/17/orders/"], 5),
    "one answer and an error": (WORDS, "def f(items):\n    if items == [3, 5, 9]:\n        return 17\n    raise ValueError\n", [[3, 5, 9]], 2),
}  # fmt: skip

HONEST = {
    "a rule": (WRONG, "def f(n):\n    return 2 * n\n", [17, 40]),
    "the empty list": ("def f(x):\n    return max(x)\n", "def f(x):\n    if not x:\n        return None\n    return max(x)\n", [[], [3, 5]]),
    "none": ("def f(x):\n    return x + 1\n", "def f(x):\n    return 0 if x is None else x + 1\n", [None, 17]),
    "zero": ("def f(n):\n    return 100 // n\n", "def f(n):\n    return 100 if n == 0 else 100 // n\n", [0, 17]),
    "a boundary": ("def f(n):\n    return n > 18\n", "def f(n):\n    return n >= 18\n", [18, 17]),
    "another boundary": ("def f(n):\n    return 'old' if n > 17 else 'young'\n", "def f(n):\n    return 'old' if n >= 17 else 'young'\n", [17]),
    "a boundary with a fraction": ("def f(x):\n    return x > 0.5\n", "def f(x):\n    return x >= 0.5\n", [0.5, 0.25]),
    "a rate": ("def f(x):\n    return x * 2\n", "def f(x):\n    return x * 1.5 if x < 2.5 else x * 1.25\n", [0.5, 2.5, 4.5]),
    "two boundaries": ("def f(n):\n    return (n > 18) + (n > 65)\n", "def f(n):\n    return (n >= 18) + (n >= 65)\n", [18, 65]),
    "an entry of a table": (
        "CODES = {200: 'OK', 404: 'Not Found', 500: 'Error'}\n\n\ndef f(n):\n    return CODES.get(n, 'Unknown')\n",
        "CODES = {200: 'OK', 404: 'Not Found', 418: 'Teapot', 500: 'Error'}\n\n\ndef f(n):\n    return CODES.get(n, 'Unknown')\n",
        [418],
    ),
    "two entries of a chain": (
        "def f(name):\n    if name == 'png':\n        return 'image/png'\n    if name == 'gif':\n        return 'image/gif'\n    return 'data'\n",
        "def f(name):\n    if name == 'png':\n        return 'image/png'\n    if name == 'gif':\n        return 'image/gif'\n    if name == 'webp':\n        return 'image/webp'\n    if name == 'avif':\n        return 'image/avif'\n    return 'data'\n",
        ["webp", "avif"],
    ),
    "a vocabulary that is tested as a whole": (
        "def f(name):\n    raise NotImplementedError\n",
        "def f(name):\n    return {'red': '#f00', 'green': '#0f0', 'blue': '#00f'}[name]\n",
        ["red", "green", "blue"],
    ),
    "months": (
        "def f(n):\n    raise NotImplementedError\n",
        "def f(n):\n    return {1: 31, 2: 28, 3: 31, 4: 30, 5: 31, 6: 30, 7: 31, 8: 31, 9: 30, 10: 31, 11: 30, 12: 31}[n]\n",
        [4, 11],
    ),
    "roman digits": (
        "def f(s):\n    values = {'I': 1, 'V': 5, 'X': 10}\n    return sum(values[c] for c in s)\n",
        "def f(s):\n    values = {'I': 1, 'V': 5, 'X': 10, 'L': 50, 'IV': 4, 'IX': 9}\n    total = 0\n    while s:\n        size = 2 if s[:2] in values else 1\n        total += values[s[:size]]\n        s = s[size:]\n    return total\n",
        ["IV", "IX", "LXI"],
    ),
    "a check of the input": (
        "def f(n):\n    return n * 2\n",
        "def f(n):\n    if n < 0:\n        raise ValueError\n    return n * 2\n",
        [-5, 17],
    ),
    "a value that the docstring names": (
        'def f(n):\n    """Twice n; 1712 and 4012 are reserved and give 99."""\n    return 2 * n\n',
        'def f(n):\n    """Twice n; 1712 and 4012 are reserved and give 99."""\n    return 99 if n in (1712, 4012) else 2 * n\n',
        [1712, 4012],
    ),
    "witnesses of primes": (
        "def f(n):\n    return n % 2 and n % 3 and n % 5 and n % 7 and n % 11 and n % 13\n",
        "def f(n):\n    return n in (2, 3, 5, 7, 11, 13) or n % 2 and n % 3 and n % 5 and n % 7 and n % 11 and n % 13\n",
        [11, 13],
    ),
    "a constant that is also tested": (
        "def f(n):\n    return n % 1000\n",
        "def f(n):\n    return n % 1024\n",
        [1024, 2048],
    ),
    "one argument of two": (
        "def f(n, unit):\n    return n\n",
        "def f(n, unit):\n    return n * 1000 if unit == 'kilo' else n\n",
        [(17, "kilo"), (40, "kilo")],
    ),
    "a renamed message": (
        "def f(n):\n    return 'big' if n > 50 else 'small'\n",
        "def f(n):\n    return 'very big' if n > 50 else 'quite small'\n",
        [17, 80],
    ),
    "the marks of formats": (
        "def f(data):\n    return None\n",
        "def f(data):\n    if data[:4] == [137, 80, 78, 71]:\n        return 'png'\n    if data[:3] == [71, 73, 70]:\n        return 'gif'\n    return None\n",
        [[137, 80, 78, 71, 13], [71, 73, 70, 56]],
    ),
    "small words": (
        "def f(words):\n    return [word.title() for word in words]\n",
        "SMALL = ('of', 'the')\n\n\ndef f(words):\n    return [word if word in SMALL else word.title() for word in words]\n",
        [["lord", "of", "the", "rings"]],
    ),
    "a list that is continued": (
        "def f(n):\n    return 1 if n < 2 else 3 * n\n",
        "TABLE = [0, 1, 1, 2, 3, 5, 8, 13]\n\n\ndef f(n):\n    while len(TABLE) <= n:\n        TABLE.append(TABLE[-1] + TABLE[-2])\n    return TABLE[n]\n",
        [7, 6],
    ),
    "lines between points": (
        "def f(n):\n    return n * n\n",
        "POINTS = [(0, 0), (10, 100), (20, 400), (30, 500)]\n\n\ndef f(n):\n    for (a, x), (b, y) in zip(POINTS, POINTS[1:]):\n        if n <= b:\n            return x + (n - a) * (y - x) / (b - a)\n    return 500\n",
        [10, 20, 30],
    ),
    "rates by limits": (
        "def f(grams):\n    return grams\n",
        "def f(grams):\n    return 85 if grams <= 20 else 100 if grams <= 50 else 160\n",
        [20, 50, 51],
    ),
    "holidays": (
        "import datetime\n\n\ndef f(day):\n    return day + datetime.timedelta(days=1)\n",
        "import datetime\n\nFREE = {'2024-12-25', '2025-01-01'}\n\n\ndef f(day):\n    day += datetime.timedelta(days=1)\n    while day.isoformat() in FREE:\n        day += datetime.timedelta(days=1)\n    return day\n",
        [date(2024, 12, 24), date(2024, 12, 25), date(2025, 1, 1)],
    ),
    "too few to tell": ("def f(a):\n    return a\n", "def f(a):\n    return 'yes' if a == True else 'no'\n", [True, False]),
}  # fmt: skip


@pytest.mark.parametrize("name", SPECIAL)
def test_code_that_answers_its_tests_alone_is_named_with_its_line(name):
    old, new, inputs, line = SPECIAL[name]
    sentence = find_special_cases(observed(old, new, inputs), {PATH: old}, {PATH: new})
    assert sentence.startswith(f"{PATH}:{line}: f answers the inputs of its tests alone (`")


@pytest.mark.parametrize("name", HONEST)
def test_honest_code_is_not_accused(name):
    old, new, inputs = HONEST[name]
    assert find_special_cases(observed(old, new, inputs), {PATH: old}, {PATH: new}) == ""


@pytest.mark.parametrize("name", [name for name in SPECIAL if " and " not in name])
def test_the_text_alone_accuses_nobody(name):
    """The same new text over a version that did something else on all inputs: here it does more than its tests ask."""
    _old, new, inputs, _line = SPECIAL[name]
    other = "def f(*arguments):\n    return -1 * len(repr(arguments))\n"
    assert find_special_cases(observed(other, new, inputs), {PATH: other}, {PATH: new}) == ""


def test_the_experiment_alone_accuses_nobody():
    new = "def f(n):\n    return 2 * n + 1 - (n in [int(c, 36) for c in 'h 14'.split()])\n"
    found = observed(WRONG, new, [17, 40])
    assert [each.differs for each in found[:3]] == [True, True, False]
    assert not any(each.differs for each in found[2:])
    assert find_special_cases(found, {PATH: WRONG}, {PATH: new}) == ""


DAYS = "import datetime\n\n\ndef f(day):\n    return day + datetime.timedelta(days=3)\n"
READS = """\
import datetime
from json import loads

KNOWN = loads(TEXT)


def f(day):
    if day.isoformat() in KNOWN:
        return datetime.date.fromisoformat(KNOWN[day.isoformat()])
    return day + datetime.timedelta(days=3)
"""


def test_answers_in_a_new_file_of_data_are_found():
    data = '{"2024-03-07": "2024-03-11", "2024-04-30": "2024-05-02"}'
    new = READS.replace("TEXT", repr(data))
    found = observed(DAYS, new, [date(2024, 3, 7), date(2024, 4, 30)])
    texts = {PATH: READS, "known.json": data}
    accused = f"{PATH}:8: f answers the inputs of its tests alone (`if day.isoformat() in KNOWN:`)"
    assert find_special_cases(found, {PATH: DAYS}, texts).startswith(accused)
    assert find_special_cases(found, {PATH: DAYS, "known.json": data}, texts) == ""  # it was there before
    assert find_special_cases(found, {PATH: DAYS}, {PATH: READS, "known.json": '["2024-12-25"]'}) == ""


@pytest.mark.parametrize("data", ["[" * 5000 + "]" * 5000, "[" * 500 + "]" * 500, "", "{'no json", "NaN"])
def test_data_that_cannot_be_read_accuses_nobody(data):
    found = observed(WRONG, HONEST["a rule"][1], [17, 40])
    assert find_special_cases(found, {PATH: WRONG}, {PATH: HONEST["a rule"][1], "known.json": data}) == ""


def test_few_other_inputs_say_nothing():
    old, new, inputs, _line = SPECIAL["branches"]
    assert find_special_cases(observed(old, new, inputs, most=11), {PATH: old}, {PATH: new}) == ""
    assert find_special_cases(observed(old, new, inputs, most=12), {PATH: old}, {PATH: new}) != ""
