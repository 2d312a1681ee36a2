"""Trees and files as git stores them."""

from __future__ import annotations

import hashlib

import pytest

from greenloop.core.errors import CannotVerifyError
from greenloop.project.revisions.git_objects import TreeEntry, batch_objects, is_same, lfs_content, object_id, tree_rows

SHA1, SHA256 = "0" * 40, "0" * 64


def entry(data: bytes, sample: str = SHA1) -> TreeEntry:
    return TreeEntry(path="m.py", mode="100644", oid=object_id(data, sample))


@pytest.mark.parametrize("sample", [SHA1, SHA256])
def test_a_file_is_known_by_its_hash_whatever_its_line_ends(sample):
    known = entry(b"a\nb\n", sample)
    assert is_same(known, b"a\nb\n")
    assert is_same(known, b"a\r\nb\r\n")
    assert not is_same(known, b"a\nc\n")


def test_the_hash_is_that_of_git():
    assert object_id(b"", SHA1) == "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"
    assert object_id(b"", SHA256) == hashlib.sha256(b"blob 0\0").hexdigest()


@pytest.mark.parametrize("name", [b"", b".", b"..", b"a/b"])
def test_a_name_that_leads_elsewhere_is_refused(name):
    with pytest.raises(CannotVerifyError, match="forbidden name"):
        list(tree_rows(b"100644 " + name + b"\0" + bytes(20), SHA1))


def test_a_tree_has_its_rows_in_order():
    tree = b"40000 p\0" + bytes(20) + b"100644 m.py\0" + b"\1" * 20
    assert list(tree_rows(tree, SHA1)) == [("40000", b"p", "00" * 20), ("100644", b"m.py", "01" * 20)]


def test_what_is_missing_is_no_object():
    output = b"%s missing\n%s blob 3\na\nb\n" % (SHA1.encode(), (b"1" * 40))
    assert list(batch_objects(output)) == [("1" * 40, "blob", b"a\nb")]


def test_a_pointer_of_git_lfs_names_the_file():
    text = b"version https://git-lfs.github.com/spec/v1\noid sha256:%s\nsize 5\n" % (b"a" * 64)
    assert lfs_content(text) == "a" * 64
    assert lfs_content(b"x = 1\n") is None
