"""`greenloop fix --patch FILE`: the accepted results of one command line, as git reads them."""

from __future__ import annotations

import json

from fake_engine import AFTER, BEFORE, CASE, solved
from greenloop.cli.main import main
from greenloop.core.records.outcome import Evidence, Verified
from greenloop.plugins.pipelines.patch import PatchFile

DIFF = "--- a/m.py\n+++ b/m.py\n@@ -1,2 +1,2 @@\n def double(x):\n-    return x + 1\n+    return x * 2\n"


def test_an_accepted_result_is_in_the_patch_and_nothing_is_asked_or_written(fake, project, keyboard):
    assert main(["fix", CASE, "--patch", "a.patch"]) == 0
    assert (project / "a.patch").read_text() == DIFF
    assert (project / "m.py").read_text() == BEFORE
    assert keyboard.reads == 0


def test_with_apply_both_happens(fake, project):
    assert main(["fix", CASE, "--patch", "a.patch", "--apply"]) == 0
    assert (project / "a.patch").read_text() == DIFF
    assert (project / "m.py").read_text() == AFTER


def test_what_is_not_accepted_leaves_the_patch_empty(fake, project, capsys):
    (project / "a.patch").write_text("old")
    for changes in ({"verified": Verified.PARTIALLY}, {"evidence": Evidence(warnings=("It newly imports os.",))}):
        fake.result = solved(project, **changes)
        main(["fix", CASE, "--patch", "a.patch"])
        assert (project / "a.patch").read_text() == ""
        assert "--accept" in capsys.readouterr().err
    assert main(["fix", CASE, "--patch", "a.patch", "--accept", "warned", "--json"]) == 0
    assert (project / "a.patch").read_text() == DIFF
    assert json.loads(capsys.readouterr().out.splitlines()[-1])["applied"] is False


def test_a_patch_that_cannot_be_written_runs_nothing(fake):
    assert main(["fix", CASE, "--patch", "no/such/a.patch"]) == 2
    assert main(["fix", CASE, "--patch", "."]) == 2
    assert fake.requests == []


def test_the_next_run_starts_from_the_patch(fake, project):
    fake.red = [CASE, "test_m.py::test_other"]
    main(["fix", "--all", "--patch", "a.patch"])
    assert [dict(request.buffers) for request in fake.requests] == [{}, {"m.py": AFTER.encode()}]
    fake.requests.clear()
    main(["fix", "--all", "--patch", "a.patch", "--apply"])
    assert [dict(request.buffers) for request in fake.requests] == [{}, {}]


def test_two_results_in_one_file_are_one_change(project):
    patch = PatchFile(path=project / "a.patch")
    patch.add(solved(project, before={"m.py": BEFORE}, after={"m.py": "x = 1\n"}), project, applied=False)
    patch.add(solved(project, before={"m.py": "x = 1\n"}, after={"m.py": AFTER}), project, applied=False)
    patch.write_fixes([], project, json=False)
    assert (project / "a.patch").read_text() == DIFF


def test_a_patch_has_the_encoding_and_line_ends_of_the_file(project):
    text = "# -*- coding: latin-1 -*-\r\nname = 'ü'\r\n"
    (project / "l.py").write_bytes(text.encode("latin-1"))
    after = text.replace("name", "title")
    patch = PatchFile(path=project / "a.patch")
    patch.add(solved(project, before={"l.py": text}, after={"l.py": after}), project, applied=False)
    patch.write_fixes([], project, json=False)
    assert b"+title = '\xfc'\r\n" in (project / "a.patch").read_bytes()
    assert patch.buffers == {"l.py": after.encode("latin-1")}
