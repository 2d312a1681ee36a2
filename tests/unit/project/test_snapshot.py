"""Texts as they were when a run began: each is read once, and unsaved ones come before the disk."""

from __future__ import annotations

import pytest

from greenloop.core.errors import UsageError
from greenloop.project.snapshot import Snapshot


@pytest.fixture
def snapshot(tmp_path):
    (tmp_path / "m.py").write_bytes(b"a = 1\r\n")
    (tmp_path / "picture.png").write_bytes(b"PNG\n\n\xff")
    return Snapshot(root=tmp_path, buffers={"new.py": b"\xef\xbb\xbfb = 1\n"})


def test_texts_stay_as_they_were(snapshot):
    assert snapshot.text("m.py") == "a = 1\r\n"
    (snapshot.root / "m.py").write_text("a = 2\n")
    assert (snapshot.text("m.py"), snapshot.readable_text("m.py")) == ("a = 1\r\n", "a = 1\r\n")
    assert snapshot.text("new.py") == "b = 1\n"
    assert snapshot.text("none.py") is None


def test_a_text_that_is_not_kept_is_read_again(snapshot):
    assert snapshot.readable_text("m.py", keep=False) == "a = 1\r\n"
    (snapshot.root / "m.py").write_text("a = 2\n")
    assert snapshot.text("m.py") == "a = 2\n"


@pytest.mark.parametrize("keep", [True, False])
def test_what_is_no_text(snapshot, keep):
    assert snapshot.readable_text("picture.png", keep=keep) is None
    assert snapshot.readable_text("none.py", keep=keep) is None
    with pytest.raises(UsageError, match="not valid utf-8"):
        snapshot.text("picture.png")


def test_texts_are_encoded_as_their_files_are(snapshot):
    assert snapshot.encoded("new.py", "ä = 1\n") == b"\xef\xbb\xbf\xc3\xa4 = 1\n"
    assert snapshot.encoded("m.py", "a = 3\n") == b"a = 3\n"


def test_another_text_is_as_an_unsaved_one(snapshot):
    changed = snapshot.with_text("m.py", "a = 9\n")
    assert (changed.text("m.py"), snapshot.text("m.py")) == ("a = 9\n", "a = 1\r\n")
