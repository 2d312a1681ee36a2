"""Answers that may change any file: what they become, and the one line that says why not."""

from __future__ import annotations

from pathlib import Path

import pytest

from greenloop.core.compose import before_after, compose
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Region, Spec
from greenloop.plugins.conversations import file_edits
from greenloop.project.editable import why_not_editable

SHOP = """\
import json

RATES = {"pen": 19}


class Basket:
    limit = 2

    def add(self, item):
        self.items.append(item)
        return self

    def count(self):
        return len(self.items)


def tax(kind):
    return RATES[kind]
"""
HELPER = "def tax(kind, year):\n    return kind\n"
DATA = '{\n  "pen": 19,\n  "ink": 7\n}\n'
WORKSPACE = {"shop/core.py": SHOP, "shop/helper.py": HELPER, "shop/rates.json": DATA, "tests/test_shop.py": "x = 1\n"}
KNOWN = {path: WORKSPACE[path] for path in ("shop/core.py", "tests/test_shop.py")}
TAX = Region(path="shop/core.py", qualname="tax", start=17, end=18)
PROBLEM = Problem(root=Path("/w"), spec=Spec(), regions=(TAX,), originals=KNOWN, files=KNOWN)


def files(known=("shop/core.py",)):
    def why_not(path):
        return why_not_editable(path, Path("/w"), patterns=None, masked=(".env*",))

    return file_edits.EditedFiles(text_of=WORKSPACE.get, known=known, why_not=why_not)


def block(path, search, replace):
    body = "".join(
        f"{part}\n" if part else "" for part in ("<<<<<<< SEARCH", search, "=======", replace, ">>>>>>> REPLACE")
    )
    return f"{path}\n{body}"


def changes(answer, problem=PROBLEM, **options):
    """The changed texts by path, or the sentence of the finding."""
    found = file_edits.read(answer, problem, files(), **options)
    if found.finding:
        return found.finding.message
    _before, after = before_after(found.problem, found.candidate)
    return after


def regions(answer):
    found = file_edits.read(answer, PROBLEM, files())
    return [(region.path, region.qualname) for region in found.candidate.texts]


def test_a_block_in_a_function_is_that_function():
    answer = block("shop/core.py", "        return self\n", "        return len(self.items)\n")
    assert regions(answer) == [("shop/core.py", "Basket.add")]
    assert changes(answer) == {"shop/core.py": SHOP.replace("return self\n", "return len(self.items)\n")}


@pytest.mark.parametrize(
    ("path", "search", "replace"),
    [
        ("shop/core.py", 'RATES = {"pen": 19}', 'RATES = {"pen": 20}'),
        ("shop/core.py", "import json", "import json\nimport math"),
        ("shop/core.py", "    limit = 2", "    limit = 3"),
        ("shop/helper.py", "    return kind", "    return year"),
        ("shop/rates.json", '  "ink": 7', '  "ink": 8'),
        ("core.py", "    return RATES[kind]", "    return RATES[kind.lower()]"),
        ("/home/me/w/shop/core.py", "    return RATES[kind]", "    return RATES[kind.lower()]"),
        ("", "    return RATES[kind]", "    return RATES[kind.lower()]"),
        ("shop/core.py", "def tax(kind):\n    return RATES[kind]", "def tax(kind, year=0):\n    return RATES[kind]"),
        ("shop/core.py", "    def count(self):\n        return len(self.items)\n", ""),
        ("shop/core.py", "def tax(kind):", "def rate(kind):"),
    ],
)
def test_any_file_may_change(path, search, replace):
    target = path.removeprefix("/home/me/w/") if path.count("/") else "shop/core.py"
    wanted = WORKSPACE[target].replace(search + "\n" if not replace else search, replace)
    assert changes(block(path, search, replace)) == {target: wanted}


def test_several_blocks_are_one_change():
    answer = "\n".join(
        [
            block("shop/core.py", "    limit = 2", "    limit = 3"),
            block("", "        return self", "        return None"),
            block("shop/rates.json", '  "pen": 19,', '  "pen": 20,'),
        ]
    )
    assert set(changes(answer)) == {"shop/core.py", "shop/rates.json"}


def test_white_space_does_not_matter():
    answer = block("shop/core.py", "def tax(kind):  \n  return RATES[kind]", "def tax(kind):  \n  return 0")
    assert changes(answer)["shop/core.py"].endswith("def tax(kind):\n    return 0\n".replace("    ", "  ")) or changes(
        answer
    )["shop/core.py"].endswith("return 0\n")
    indented = block(
        "shop/core.py",
        "def add(self, item):\n    self.items.append(item)",
        "def add(self, item):\n    self.items.insert(0, item)",
    )
    assert "        self.items.insert(0, item)\n" in changes(indented)["shop/core.py"]


def test_line_ends_stay():
    old = WORKSPACE["shop/core.py"].replace("\n", "\r\n")
    problem = Problem(
        root=Path("/w"), spec=Spec(), regions=(TAX,), originals={"shop/core.py": old}, files={"shop/core.py": old}
    )
    after = changes(block("shop/core.py", "    return RATES[kind]", "    return 0"), problem)
    assert after["shop/core.py"] == old.replace("return RATES[kind]", "return 0")


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (
            block("shop/core.py", "    return RATES[name]", "    return 0"),
            "nearest line is 18 of `shop/core.py`: `return RATES[kind]`",
        ),
        (block("shop/core.py", "        return", "    pass"), "are not in `shop/core.py`"),
        (block("shop/none.py", "    x = 1", "    x = 2"), "There is no file `shop/none.py`."),
        (block("", "", "x = 2"), "must name its file"),
        (
            block("tests/test_shop.py", "x = 1", "x = 2"),
            "`tests/test_shop.py` belongs to the tests, which stay as they are.",
        ),
        (block(".env", "KEY=1", "KEY=2"), "`.env` is hidden."),
        (block("../other.py", "x = 1", "x = 2"), "`../other.py` is outside the workspace."),
        (block("pyproject.toml", "x = 1", "x = 2"), "`pyproject.toml` is configuration"),
        ("<<<<<<< SEARCH\n    limit = 2\n=======\n    limit = 3\n", "cut off inside one of its edits"),
        (
            "--- a/shop/helper.py\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-def tax(kind, year):\n-    return kind\n",
            "cannot be deleted",
        ),
        ("I cannot say.", "holds no code"),
    ],
)
def test_one_line_says_why_not(answer, sentence):
    assert sentence in changes(answer)


def test_a_part_of_a_line_is_found_where_it_stands_once():
    assert changes(block("shop/rates.json", '"pen": 19', '"pen": 20')) == {"shop/rates.json": DATA.replace("19", "20")}
    assert changes(
        block("shop/core.py", "(self, item):\n        self.items", "(self, *items):\n        self.items")
    ) == {"shop/core.py": SHOP.replace("(self, item):", "(self, *items):")}
    assert "are not in" in changes(block("shop/core.py", "self.item", "self.thing"))  # twice, so no such part


@pytest.mark.parametrize("path", ["./shop/core.py", "shop//core.py", "shop/./core.py", "shop/core.py/"])
def test_one_file_has_one_name(path):
    assert set(changes(block(path, "    limit = 2", "    limit = 3"))) == {"shop/core.py"}


def test_lines_that_occur_twice_are_asked_for_again():
    WORKSPACE["shop/twice.py"] = "a = 1\nb = 2\na = 1\n"
    sentence = changes(block("shop/twice.py", "a = 1", "a = 3"))
    assert "several times in `shop/twice.py` (lines 1, 3)" in sentence


def test_the_edit_of_a_test_is_left_out_of_an_answer_with_more():
    answer = block("shop/core.py", "    limit = 2", "    limit = 3") + block("tests/test_shop.py", "x = 1", "x = 2")
    found = file_edits.read(answer, PROBLEM, files())
    assert found.left_out == ("`tests/test_shop.py` belongs to the tests, which stay as they are.",)
    assert set(before_after(found.problem, found.candidate)[1]) == {"shop/core.py"}


def test_a_diff_of_several_files():
    answer = (
        "```diff\n--- a/shop/core.py\n+++ b/shop/core.py\n@@ -17,2 +17,2 @@\n def tax(kind):\n-    return RATES[kind]\n"
        "+    return RATES[kind] + 1\n--- a/shop/helper.py\n+++ b/shop/helper.py\n@@ -1,2 +1,2 @@\n"
        " def tax(kind, year):\n-    return kind\n+    return year\n```\n"
    )
    after = changes(answer)
    assert after["shop/core.py"].endswith("return RATES[kind] + 1\n")
    assert after["shop/helper.py"].endswith("return year\n")


@pytest.mark.parametrize(
    "answer",
    [
        block("shop/new.py", "", "def low(text):\n    return text.lower()"),
        "shop/new.py\n```python\ndef low(text):\n    return text.lower()\n```\n",
        "--- /dev/null\n+++ b/shop/new.py\n@@ -0,0 +1,2 @@\n+def low(text):\n+    return text.lower()\n",
    ],
)
def test_new_files(answer):
    found = file_edits.read(answer, PROBLEM, files())
    before, after = before_after(found.problem, found.candidate)
    assert (before, after) == ({"shop/new.py": None}, {"shop/new.py": "def low(text):\n    return text.lower()\n"})


@pytest.mark.parametrize(("path", "old"), [("shop/data.json", '{"pen": 1}\n'), ("shop/new.py", None)])
def test_a_candidate_brings_the_users_text_of_files_that_the_run_began_without(path, old):
    answer = block(path, (old or "").strip(), "X = 1")
    workspace = file_edits.EditedFiles(
        text_of={**KNOWN, path: old}.get, known=("shop/core.py",), why_not=lambda _path: ""
    )
    found = file_edits.read(answer, PROBLEM, workspace).candidate
    assert found.originals == {path: old}
    assert compose(PROBLEM, found) == {path: "X = 1\n"}
    assert before_after(PROBLEM, found) == ({path: old}, {path: "X = 1\n"})


def test_imports_alone_go_among_the_imports():
    text = changes(block("shop/core.py", "", "import json\nimport re"))["shop/core.py"]
    assert text == SHOP.replace("import json\n", "import json\nimport re\n")


def test_whole_functions_of_a_file_that_was_not_shown():
    after = changes("shop/helper.py\n```python\ndef tax(kind, year):\n    return year\n```\n")
    assert after == {"shop/helper.py": "def tax(kind, year):\n    return year\n"}


def test_a_whole_data_file():
    assert changes('shop/rates.json\n```json\n{"pen": 1}\n```\n') == {"shop/rates.json": '{"pen": 1}\n'}


def test_a_second_answer_goes_on_from_the_first_or_from_the_users_code():
    first = file_edits.read(block("shop/core.py", "    limit = 2", "    limit = 3"), PROBLEM, files())
    more = block("shop/core.py", "    return RATES[kind]", "    return 0")
    bases = (first.candidate, None)
    after = changes(more, first.problem, bases=bases)
    assert after["shop/core.py"] == SHOP.replace("limit = 2", "limit = 3").replace("return RATES[kind]", "return 0")
    anew = changes(block("shop/core.py", "    limit = 2", "    limit = 4"), first.problem, bases=bases)
    assert anew["shop/core.py"] == SHOP.replace("limit = 2", "limit = 4")


def test_a_stub_of_what_is_missing_is_not_in_the_way():
    stub = SHOP + "\n\ndef low(text):\n    raise NotImplementedError\n"
    region = Region(path="shop/core.py", qualname="low", start=21, end=22, created=True)
    problem = Problem(
        root=Path("/w"), spec=Spec(), regions=(region,), originals={"shop/core.py": SHOP}, files={"shop/core.py": stub}
    )
    answer = block(
        "shop/core.py", "    return RATES[kind]", "    return RATES[kind]\n\n\ndef low(text):\n    return text.lower()"
    )
    assert changes(answer, problem) == {"shop/core.py": SHOP + "\n\ndef low(text):\n    return text.lower()\n"}
    whole = "```python\ndef low(text):\n    return text.lower()\n```\n"
    assert changes(whole, problem) == {"shop/core.py": SHOP + "\n\ndef low(text):\n    return text.lower()\n"}


@pytest.mark.parametrize("answer", ["<<<<<<<" * 3000, "=======\n" * 5000, "--- a\n+++ b\n@@\n" * 3000, "```\n" * 9999])
def test_junk_is_bounded(answer):
    assert isinstance(changes(answer), str | dict)


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "piece",
    [
        "Well. ",
        "\n",
        "import os\n",
        "@x\n",
        "def tax(kind):\n    return (1\n",
        "if x:\n    def f():\n        pass\n",
        "```python\ndef tax(kind):\n    return 1\n",
        "```js\nlet a = 1\n```\n",
        "<<<<<<< SEARCH\n    nothing\n=======\n    something\n>>>>>>> REPLACE\n",
        "--- a/shop/core.py\n+++ b/shop/core.py\n@@ -1 +1 @@\n-import json\n+import re\n",
    ],
)
@pytest.mark.parametrize("truncated", [False, True])
def test_a_very_long_answer_is_read_in_bounded_time(piece, truncated):
    assert isinstance(changes(piece * (10_000 // len(piece)), truncated=truncated), str | dict)


def test_what_is_composed_is_what_was_written():
    """Every change of lines, in whatever place, comes out as it went in."""
    rows = SHOP.splitlines(keepends=True)
    for start in range(len(rows)):
        for length in (0, 1, 3):
            for new in ((), ("# new\n",), ("    x = 1\n", "    y = 2\n")):
                text = "".join([*rows[:start], *new, *rows[start + length :]])
                texts = file_edits.changed_regions("shop/core.py", SHOP, text)
                candidate = file_edits.Candidate(texts=texts)
                assert compose(PROBLEM, candidate).get("shop/core.py", SHOP) == text, (start, length, new)
