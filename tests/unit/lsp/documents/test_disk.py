"""Texts on the disk."""

import os

from greenloop.lsp.documents import disk


def test_pipes_folders_and_giants_are_no_texts(tmp_path, monkeypatch):
    os.mkfifo(tmp_path / "pipe.py")
    (tmp_path / "long.py").write_text("x = 1\n")
    monkeypatch.setattr(disk, "LONGEST", 3)
    for name in ("pipe.py", "long.py", "none.py", "."):
        assert disk.on_disk(tmp_path / name) is None
        assert disk.bytes_of(tmp_path / name) is None
