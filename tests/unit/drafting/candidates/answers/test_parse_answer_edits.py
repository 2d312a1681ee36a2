"""Answers that only change lines: search/replace blocks and unified diffs, also as models really write them."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from greenloop.core.compose import compose
from greenloop.core.records.attempt import Candidate, Finding
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Region, Spec
from greenloop.core.text.diff import diff_hunks
from greenloop.drafting.candidates.answers import unified_diff
from greenloop.drafting.candidates.answers.parse_answer import read

MODULE = '''\
"""Sums."""


def other(n):
    total = 0
    for i in range(n):
        total += i
    return total


class Sums:
    def upto(self, n):
        """1 + … + n."""
        total = 0
        for i in range(n):
            total += i
        return total
'''
RIGHT = MODULE.replace(
    "        for i in range(n):\n            total", "        for i in range(n + 1):\n            total"
)
assert RIGHT != MODULE

HUNK = """\
@@ -14,4 +14,4 @@
         total = 0
-        for i in range(n):
+        for i in range(n + 1):
             total += i
         return total
"""
HEADED = "--- a/m.py\n+++ b/m.py\n"

DIFFS = {
    "as diff writes it": HEADED + HUNK,
    "as git writes it": f"diff --git a/m.py b/m.py\nindex 1234567..89abcde 100644\n{HEADED}{HUNK}",
    "in a fence": f"The range is one short.\n\n```diff\n{HEADED}{HUNK}```\nThat is all.",
    "in a fence, no headers": f"```diff\n{HUNK}```",
    "in a fence, nothing but lines": "```diff\n" + HUNK.partition("\n")[2] + "```",
    "in a Python fence": f"```python\n{HEADED}{HUNK}```",
    "in a fence that nothing closes": f"```diff\n{HUNK}",
    "with prose behind it": f"{HEADED}{HUNK}\nNow the last number counts too.",
    "wrong line numbers": HUNK.replace("@@ -14,4 +14,4 @@", "@@ -3,9 +99,1 @@ class Sums:").replace("-3", "-13"),
    "no line numbers": HUNK.replace("@@ -14,4 +14,4 @@", "@@ ... @@").replace("         return total\n", "         return total\n\\ No newline at end of file\n"),
    "context without its space": "@@ -14,4 +14,4 @@\n        total = 0\n-        for i in range(n):\n+        for i in range(n + 1):\n            total += i\n",
    "context that is not there": HUNK.replace("total = 0", "total = 0  # the sum").replace("return total", "return the total"),
    "trailing spaces": HUNK.replace("total = 0\n", "total = 0   \n"),
    "one level too shallow": "@@ -13,4 +13,4 @@\n def upto(self, n):\n     '''1 + … + n.'''\n     total = 0\n-    for i in range(n):\n+    for i in range(n + 1):\n         total += i\n     return total\n",
    "carriage returns": (HEADED + HUNK).replace("\n", "\r\n"),
}  # fmt: skip


@pytest.mark.parametrize("way", DIFFS)
def test_unified_diffs_as_models_write_them(problem, way):
    case = problem(MODULE, "Sums.upto")
    candidate = read(DIFFS[way], case)
    assert isinstance(candidate, Candidate), candidate
    assert compose(case, candidate)["m.py"] == RIGHT


def test_a_search_replace_answer_that_touches_one_line_is_an_edit_of_that_line(problem):
    case = problem(MODULE, "Sums.upto")
    answer = (
        "<<<<<<< SEARCH\n        total = 0\n        for i in range(n):\n=======\n"
        "        total = 0\n        for i in range(n + 1):\n>>>>>>> REPLACE\n"
    )
    candidate = read(answer, case)
    (hunk,) = diff_hunks(MODULE, compose(case, candidate)["m.py"])
    assert (hunk.start, hunk.end, hunk.lines) == (14, 15, ("        for i in range(n + 1):\n",))


@pytest.mark.parametrize("way", ["as diff writes it", "whole"])
def test_hunks_are_minimal_whatever_came(problem, way):
    case = problem(MODULE, "Sums.upto")
    whole = "```python\n" + RIGHT[RIGHT.index("    def upto") :] + "```"
    candidate = read(DIFFS.get(way, whole), case)
    (hunk,) = diff_hunks(MODULE, compose(case, candidate)["m.py"])
    assert (hunk.start, hunk.end) == (14, 15)


def test_of_equal_places_the_one_nearest_to_the_line_number(problem):
    text = "def f(x):\n    if x:\n        x += 1\n    if x:\n        x += 1\n    return x\n"
    case = problem(text, "f")
    for line, expected in ((2, (3, 4)), (4, (5, 6))):
        diff = f"@@ -{line},2 +{line},2 @@\n     if x:\n-        x += 1\n+        x += 2\n"
        (hunk,) = diff_hunks(text, compose(case, read(diff, case))["m.py"])
        assert (hunk.start + 1, hunk.end + 1) == expected


def test_several_hunks_of_one_answer(problem):
    case = problem(MODULE, "Sums.upto")
    answer = "```diff\n@@ -14 +14 @@\n-        total = 0\n+        total = 1 - 1\n@@ -17 +17 @@\n-        return total\n+        return int(total)\n```"
    composed = compose(case, read(answer, case))["m.py"]
    assert "total = 1 - 1\n        for i" in composed
    assert composed.endswith("return int(total)\n")
    assert composed.startswith(MODULE[: MODULE.index("class Sums")])


def test_added_and_removed_lines(problem):
    case = problem(MODULE, "Sums.upto")
    added = "@@ -16,2 +16,3 @@\n             total += i\n+            assert total >= 0\n         return total\n"
    assert "            assert total >= 0\n        return" in compose(case, read(added, case))["m.py"]
    vague = added.replace("return total", "return the total")
    assert compose(case, read(vague, case)) == compose(case, read(added, case))
    removed = "@@ -14,3 +14,1 @@\n-        for i in range(n):\n-            total += i\n         return total\n"
    assert compose(case, read(removed, case))["m.py"].endswith("        total = 0\n        return total\n")


def test_a_blank_line_is_no_place(problem):
    case = problem(MODULE, "Sums.upto")
    finding = read("```diff\n         totals = 0\n-\n```", case)
    assert finding.error_class == "SearchNotFound"


def test_edits_are_made_to_the_attempt_that_was_shown(problem):
    case = problem(MODULE, "Sums.upto")
    shown = read("```python\ndef upto(self, n):\n    return sum(range(n))\n```", case)
    for answer in (
        "@@ -1,2 +1,2 @@\n def upto(self, n):\n-    return sum(range(n))\n+    return sum(range(n + 1))\n",
        "<<<<<<< SEARCH\n    return sum(range(n))\n=======\n    return sum(range(n + 1))\n>>>>>>> REPLACE\n",
    ):
        candidate = read(answer, case, base=shown)
        assert isinstance(candidate, Candidate), candidate
        assert compose(case, candidate)["m.py"].endswith('n."""\n        return sum(range(n + 1))\n')
        assert isinstance(read(answer, case), Finding)


def test_edits_of_the_users_code_are_understood_when_an_attempt_was_shown(problem):
    case = problem(MODULE, "Sums.upto")
    shown = read("```python\ndef upto(self, n):\n    return sum(range(n))\n```", case)
    assert compose(case, read(HUNK, case, base=shown))["m.py"] == RIGHT


def test_lines_that_are_nowhere_are_named_with_the_nearest(problem):
    finding = read("@@ -1 +1 @@\n-        totals = 0\n+        total = 1\n", problem(MODULE, "Sums.upto"))
    assert finding.error_class == "SearchNotFound"
    assert "`totals = 0`" in finding.message
    assert "`total = 0`" in finding.message


def test_a_diff_that_was_cut_off_is_truncated(problem):
    finding = read("```diff\n" + HUNK[:80], problem(MODULE, "Sums.upto"), truncated=True)
    assert finding.error_class == "TruncatedAnswer"


def test_code_goes_before_a_diff_beside_it(problem):
    case = problem(MODULE, "Sums.upto")
    answer = f"```diff\n{HUNK}```\nSo:\n```python\ndef upto(self, n):\n    return n * (n + 1) // 2\n```"
    assert "return n * (n + 1) // 2" in compose(case, read(answer, case))["m.py"]


@pytest.mark.parametrize(
    "code",
    [
        "def upto(self, n):\n    return '''\n--- a\n+++ b\n@@ -1 +1 @@\n-x\n+y\n'''",
        "def upto(self, n):\n    return n \\\n- 1",
    ],
)
def test_code_that_looks_like_a_diff_is_code(problem, code):
    case = problem(MODULE, "Sums.upto")
    candidate = read(f"```python\n{code}\n```", case)
    assert isinstance(candidate, Candidate), candidate
    assert unified_diff.find_edits(f"```python\n{code}\n```") == []


def test_a_huge_diff_is_bounded(problem):
    case = problem(MODULE, "Sums.upto")
    finding = read("@@ -1 +1 @@\n" + " context\n" * 60_000 + "-gone\n+new\n", case)
    assert isinstance(finding, Finding)
    many = read("@@ -1 +1 @@\n-        total = 0\n+        total = 0\n" * 10_000, case)
    assert isinstance(many, Candidate)


PIECES = st.sampled_from(
    ["```diff", "```", "@@ -14,4 +14,4 @@", "@@", "--- a/m.py", "+++ b/m.py", "diff --git a b", "-        total = 0", "+        total = 2",
     "         total = 0", "        total = 0", " ", "", "-", "+", "\\ No newline", "prose", "+    def upto(self, n): pass", "-x", "         return total"]
)  # fmt: skip


@given(st.lists(PIECES, max_size=20).map("\n".join), st.booleans(), st.booleans())
def test_no_diff_makes_reading_fail(answer, truncated, shown):
    region = Region(path="m.py", qualname="Sums.upto", start=12, end=17)
    texts = {"m.py": MODULE}
    case = Problem(root=Path("/p"), spec=Spec(cases=(), selectors=()), regions=(region,), originals=texts, files=texts)
    base = read("```python\ndef upto(self, n):\n    return sum(range(n))\n```", case) if shown else None
    result = read(answer, case, truncated=truncated, base=base)
    if isinstance(result, Candidate):
        composed = compose(case, result)["m.py"]
        compile(composed, "m.py", "exec")
        assert not re.search(r"^@@", composed, re.MULTILINE)
    else:
        assert result.message


def test_edits_of_a_suspects_file_are_found(problem):
    case = problem(MODULE, "Sums.upto")
    files = {**case.files, "n.py": "class Closed(Exception):\n    pass\n"}
    suspect = Region(path="n.py", qualname="Closed", start=1, end=2)
    several = replace(case, files=files, originals=files, suspects=(suspect,))
    diff = (
        f"{HEADED}{HUNK}--- a/n.py\n+++ b/n.py\n@@ -1,2 +1,2 @@\n class Closed(Exception):\n-    pass\n+    code = 1\n"
    )
    candidate = read(diff, several, wide=True)
    assert isinstance(candidate, Candidate)
    assert compose(several, candidate) == {"m.py": RIGHT, "n.py": "class Closed(Exception):\n    code = 1\n"}
    assert compose(several, read(diff, several)) == {"m.py": RIGHT}
