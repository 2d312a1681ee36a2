"""The façade finds generated tests where the plugin stores them, and nothing without the plugin."""

import pytest

from greenloop.api import generated_tests
from greenloop.core.generated_tests import Check, build_test_file
from greenloop.core.records.spec import Provenance, Region
from greenloop.plugins.written_tests import stored_tests

TEXT = 'def double(x):\n    """Twice x."""\n    ...\n'
REGION = Region(path="m.py", qualname="double", start=1, end=3)


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    bodies = ("assert double(2) == 4", "assert double(0) == 1")
    checks = [Check(body=body, line=1, provenance=Provenance.DESIGNED, batch="1") for body in bodies]
    spec = build_test_file(REGION, "m", "designed", checks)
    return stored_tests.save(stored_tests.load(tmp_path, REGION, TEXT), spec, "m").path


def test_what_the_user_deletes_is_struck(tmp_path, file):
    assert generated_tests.has_stored(tmp_path, "m.py", "double")
    assert not generated_tests.has_stored(tmp_path, "m.py", "other")
    assert len(stored_tests.load(tmp_path, REGION, TEXT).generated_tests) == 2
    kept, _, _deleted = file.read_text().rpartition("def test_")
    file.write_text(kept)
    edited = stored_tests.load(tmp_path, REGION, TEXT)
    assert edited.struck
    assert stored_tests.save(edited, edited.spec("m"), "m").struck
    assert generated_tests.struck_lines(tmp_path, "m.py", "double") == ("assert double(0) == 1",)


@pytest.mark.usefixtures("file", "install")
def test_without_the_plugin_there_are_none(tmp_path):
    assert not generated_tests.has_stored(tmp_path, "m.py", "double")
    assert generated_tests.struck_lines(tmp_path, "m.py", "double") == ()
