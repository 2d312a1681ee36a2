"""Generated tests are stored where the user edits them."""

from greenloop.api import generated_tests
from greenloop.core.generated_tests import Check, build_test_file
from greenloop.core.records.spec import Provenance, Region

TEXT = 'def double(x):\n    """Twice x."""\n    ...\n'
REGION = Region(path="m.py", qualname="double", start=1, end=3)


def test_a_runs_tests_are_stored_and_what_the_user_deletes_is_struck(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    bodies = ("assert double(2) == 4", "assert double(0) == 1")
    checks = [Check(body=body, line=1, provenance=Provenance.DESIGNED, batch="1") for body in bodies]
    spec = build_test_file(REGION, "m", "designed", checks)
    file = generated_tests.store(tmp_path, REGION, TEXT, spec)
    assert file == generated_tests.stored_path(tmp_path, "m.py", "double")
    assert all(body in file.read_text() for body in bodies)
    assert len(generated_tests.load(tmp_path, REGION, TEXT).generated_tests) == 2
    kept, _, _deleted = file.read_text().rpartition("def test_")
    file.write_text(kept)
    assert len(generated_tests.load(tmp_path, REGION, TEXT).struck) == 1
