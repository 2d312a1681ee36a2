"""Texts on the disk."""

import os

from greenloop.lsp.documents import disk


def test_pipes_folders_and_giants_are_no_texts(tmp_path):
    os.mkfifo(tmp_path / "pipe.py")
    (tmp_path / "long.py").touch()
    os.truncate(tmp_path / "long.py", disk.LONGEST + 1)
    for name in ("pipe.py", "long.py", "none.py", "."):
        assert disk.on_disk(tmp_path / name) is None
        assert disk.bytes_of(tmp_path / name) is None
