"""Chains of edits; those that a linter passes are marked."""

from __future__ import annotations

from double_problem import BASELINE
from exported import export
from learning_runs import HALF, RIGHT, WRONG, attempt, chain, unclean


def test_a_chain_is_a_sequence_of_diffs_from_the_users_code(tmp_path):
    (row,) = export(tmp_path, "diffs", chain())
    assert [edit["attempt"] for edit in row["edits"]] == [1, 2, 3]
    assert "-    raise NotImplementedError\n+    return x + 1\n" in row["edits"][0]["diff"]
    assert (row["is_clean"], row["accepted"]) == (True, True)


def test_an_edit_with_a_name_that_nobody_defines_is_not_clean(tmp_path):
    (row,) = export(tmp_path, "diffs", [BASELINE, attempt(1, WRONG[0]), unclean(2)])
    assert [edit["is_clean"] for edit in row["edits"]] == [True, False]
    assert not row["is_clean"]


def test_each_branch_is_a_chain(tmp_path):
    attempts = [BASELINE, attempt(1, WRONG[0]), attempt(2, HALF), attempt(3, RIGHT, parent=1)]
    rows = export(tmp_path, "diffs", attempts)
    assert [[edit["attempt"] for edit in row["edits"]] for row in rows] == [[1, 2], [1, 3]]


def test_the_diffs_applied_to_the_start_give_the_end(tmp_path):
    (row,) = export(tmp_path, "diffs", chain())
    text = row["start"]
    for edit in row["edits"]:
        text = applied(text, edit["diff"])
    assert text == row["end"]


def applied(text: str, diff: str) -> str:
    """The text after a diff with one hunk, whose lines are all those of the file."""
    rows = [line for line in diff.splitlines(keepends=True) if not line.startswith(("---", "+++", "@@"))]
    assert [line[1:] for line in rows if line[0] in " -"] == text.splitlines(keepends=True)
    return "".join(line[1:] for line in rows if line[0] in " +")
