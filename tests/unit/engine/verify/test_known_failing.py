"""Names of tests that are known to fail: what they cover, and the file that lists them."""

from __future__ import annotations

import pytest

from greenloop.core.errors import UsageError
from greenloop.engine.verify.known_failing import KnownFailing, parse_ids, read_known_failing
from greenloop.project.revisions.revision import Revision

REVISION = Revision(
    commit="a" * 40,
    state="",
    paths=frozenset({"same.txt", "changed.txt"}),
    trusted=frozenset(),
    files={},
    removed_paths=(),
    old_code={"changed.txt": b"a.py::committed\n"},
    new_code=(),
)


@pytest.mark.parametrize(
    ("entry", "case", "covered"),
    [
        ("a.py::t", "a.py::t", True),
        ("a.py::t", "a.py::t[1]", True),
        ("a.py::t[1]", "a.py::t[10]", False),
        ("a.py::t", "a.py::t2", False),
        ("a.py::K", "a.py::K::t[x]", True),
        ("a.py", "a.py::K::t", True),
        ("a.py", "a.py", True),
        ("a.py", "b/a.py::t", False),
    ],
)
def test_a_name_covers_its_cases(entry, case, covered):
    assert KnownFailing(entries=(entry,)).covers(case) is covered


def test_lines_and_comments():
    text = "# all\r\n\r\na.py::t  # why\n  b.py \nc.py::t[a # b]\nd.py::t[a # b] # see [1]\ne.py::t # see [1]\n#\n"
    assert parse_ids(text) == ["a.py::t", "b.py", "c.py::t[a # b]", "d.py::t[a # b]", "e.py::t"]


def test_a_file_of_the_revision_counts_as_committed(tmp_path):
    for name in ("same.txt", "changed.txt", "new.txt"):
        (tmp_path / name).write_text(f"a.py::{name[:-4]}\n")
    outside = tmp_path.parent / "outside.txt"
    outside.write_text("a.py::outside\n")
    known = read_known_failing(
        ("a.py::t", "@same.txt", "@changed.txt", "@new.txt", f"@{outside}"), REVISION, tmp_path, "HEAD"
    )
    assert known.entries == ("a.py::t", "a.py::same", "a.py::committed", "a.py::new", "a.py::outside")
    assert [note.split()[0] for note in known.notes] == ["changed.txt", "new.txt"]


def test_a_file_that_cannot_be_read(tmp_path):
    with pytest.raises(UsageError, match=r"known\.txt"):
        read_known_failing(("@known.txt",), REVISION, tmp_path, "HEAD")


def test_names_that_excuse_nothing_are_told():
    known = KnownFailing(entries=("a.py::old", "a.py::good", "a.py::bad"))
    told = known.describe_unused(("a.py::bad",), ("a.py::good", "a.py::bad"), "HEAD")
    assert [sentence.split()[0] for sentence in told] == ["a.py::old", "a.py::good"]
