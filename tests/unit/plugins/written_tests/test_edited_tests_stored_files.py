"""The files of stored tests."""

from greenloop.plugins.written_tests import edited_tests


def test_a_record_is_next_to_its_file(tmp_path):
    assert edited_tests.record_path(tmp_path / "m__f.py") == tmp_path / "m__f.json"


def test_a_missing_file_has_no_text(tmp_path):
    assert edited_tests.read_text(tmp_path / "none.py") is None
