"""Files that changed in the meantime."""

from greenloop.lsp.documents.disk import DiskConflicts


def test_a_file_saved_is_fresh_and_one_rewritten_is_not(tmp_path):
    file = tmp_path / "m.py"
    file.write_text("a = 1\n")
    fresh = DiskConflicts()
    fresh.note_open(file)
    file.write_text("a = 2\n")
    # Nobody said yet that this editor tells of its saving.
    assert fresh.conflict_reason(file, "m.py", "a = 1\n") == ""
    fresh.reports_saves = True
    assert fresh.conflict_reason(file, "m.py", "a = 1\n") == "m.py changed on disk; reload it first"
    assert fresh.conflict_reason(file, "m.py", "a = 2\r\n") == ""
    fresh.note_save(file)
    assert fresh.conflict_reason(file, "m.py", "a = 3\n") == ""
    file.unlink()
    assert fresh.conflict_reason(file, "m.py", "a = 3\n") == "m.py was deleted on disk; save it first"
    fresh.note_close(file)
    assert fresh.conflict_reason(file, "m.py", "a = 3\n") == ""
