"""Tests of a docstring that the user edits: struck out, corrected, added, confirmed; nothing of it is ever lost."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from greenloop.core.generated_tests import Check, build_test_file
from greenloop.core.records.spec import Case, Provenance, Region, Spec
from greenloop.plugins.written_tests import edited_tests, stored_tests
from greenloop.plugins.written_tests.edited_tests import LONGEST

TEXT = 'def rle(text):\n    """Runs of `text` as (letter, length)."""\n    raise NotImplementedError\n'
REGION = Region(path="src/m.py", qualname="rle", start=1, end=3)
DESIGNED = (
    'assert rle("") == []',
    'assert rle("aab") == [("a", 2), ("b", 1)]',
    "with pytest.raises(TypeError):\n    rle(3)",
)


@pytest.fixture(autouse=True)
def state(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state" / "greenloop"


def check(body: str, provenance: Provenance = Provenance.DESIGNED) -> Check:
    imports = ("import pytest",) if "pytest" in body else ()
    return Check(
        body=body,
        line=1,
        provenance=provenance,
        imports=imports,
        batch="1 2",
        shown=body.rsplit("\n", maxsplit=1)[-1].strip(),
    )


def designed(*bodies: str) -> Spec:
    user = Spec(cases=(Case(id="test_m.py::test_rle", path="test_m.py", line=3),), selectors=("test_m.py::test_rle",))
    return user + build_test_file(REGION, "m", "designed", [check(body) for body in bodies or DESIGNED])


def load(root: Path, text: str = TEXT) -> stored_tests.StoredTests:
    return stored_tests.load(root, REGION, text)


def saved(root: Path, spec: Spec | None = None) -> stored_tests.StoredTests:
    return stored_tests.save(load(root), spec or designed(), "m")


def edit(kept: stored_tests.StoredTests, old: str, new: str) -> None:
    text = kept.path.read_text()
    assert text.count(old) == 1
    kept.path.write_text(text.replace(old, new))


def sources(checks) -> list[str]:
    return [each.body for each in checks]


def test_nothing_is_known_of_a_function_that_was_never_run(tmp_path):
    known = load(tmp_path)
    assert (known.generated_tests, known.user_tests, known.struck, known.messages) == ((), (), {}, ())
    assert known.spec("m") == Spec()
    assert stored_tests.save(known, Spec(), "m").file_text is None
    assert not known.path.exists()


def test_the_file_shows_every_test_and_how_to_change_it(tmp_path, state):
    kept = saved(tmp_path)
    text = kept.path.read_text()
    assert kept.path.name == "src.m__rle.py"
    assert kept.path.is_relative_to(state / "tests")
    assert "Delete a test to reject it for good." in text
    assert "# Must also pass: test_m.py::test_rle" in text
    assert "from m import rle\n" in text
    assert '# written by the model\ndef test_designed_1():\n    assert rle("") == []\n' in text
    compile(text, "x", "exec")
    assert (os.stat(kept.path).st_mode & 0o77, os.stat(kept.path.parent).st_mode & 0o77) == (0, 0)


def test_unchanged_tests_come_back_as_they_were_and_nobody_need_be_asked(tmp_path):
    spec = designed()
    saved(tmp_path, spec)
    known = load(tmp_path)
    assert known.spec("m") == build_test_file(REGION, "m", "designed", [check(body) for body in DESIGNED])
    assert known.has(Provenance.DESIGNED)
    assert not known.has(Provenance.PROPERTY)
    assert not known.confirmed


def test_a_test_that_is_gone_never_comes_back(tmp_path):
    edit(saved(tmp_path), '\n\n\n# written by the model\ndef test_designed_1():\n    assert rle("") == []', "")
    known = load(tmp_path)
    assert [test.check.shown for test in known.generated_tests] == [
        'assert rle("aab") == [("a", 2), ("b", 1)]',
        "rle(3)",
    ]
    again = known.without_struck(designed())
    assert [case.source for case in again.cases] == ["", *[check(body).shown for body in DESIGNED[1:]]]
    assert "test_greenloop_designed_m.py::test_designed_1" not in " ".join(again.selectors)
    # Also after the next run, and the one after that.
    for _ in range(2):
        stored_tests.save(load(tmp_path), load(tmp_path).spec("m"), "m")
        assert list(load(tmp_path).struck.values()) == ['assert rle("") == []']


def test_a_corrected_test_is_the_users_and_the_old_one_is_struck_out(tmp_path):
    edit(saved(tmp_path), 'rle("") == []', "rle('') == [('', 0)]")
    known = load(tmp_path)
    assert sources(known.confirmed) == ["assert rle('') == [('', 0)]"]
    assert known.confirmed[0].provenance is Provenance.CONFIRMED
    case = known.spec("m").cases[0]
    assert (case.binding, case.provenance, case.id) == (
        True,
        Provenance.CONFIRMED,
        "src/test_greenloop_confirmed_m.py::test_confirmed_1",
    )
    assert len(known.without_struck(designed()).cases) == 3
    stored_tests.save(known, known.spec("m"), "m")
    assert "# confirmed by you\ndef test_confirmed_1():\n    assert rle('') == [('', 0)]" in known.path.read_text()
    assert load(tmp_path).confirmed == known.confirmed


def test_an_added_test_is_the_users_with_what_it_imports(tmp_path):
    kept = saved(tmp_path)
    kept.path.write_text(
        kept.path.read_text()
        + "\nimport math\nfrom m import other\n\ndef test_mine():\n    # as long as the text\n    assert math.isclose(len(rle('ab')), 2)\n    assert other()\n"
    )
    (mine,) = load(tmp_path).confirmed
    assert mine.imports == ("import math",)
    assert mine.body == "from m import other\nassert math.isclose(len(rle('ab')), 2)\nassert other()"
    compile("".join(build_test_file(REGION, "m", "confirmed", [mine]).files.values()), "x", "exec")


def test_a_marked_test_is_confirmed_as_it_is(tmp_path):
    edit(saved(tmp_path), "def test_designed_2():", "def test_designed_2():  # yours")
    known = load(tmp_path)
    assert sources(known.confirmed) == [DESIGNED[1]]
    assert len(known.generated_tests) == 2
    assert not known.struck
    # Designed once more, it adds nothing.
    assert len(known.without_struck(designed()).cases) == 3


def test_answers_are_kept_as_confirmed(tmp_path):
    first = saved(tmp_path)
    spec = designed(*DESIGNED[1:])
    sure = replace(spec.cases[1], provenance=Provenance.CONFIRMED, confirmed=True)
    answer = check("assert rle('') == [('', 0)]", Provenance.CONFIRMED)
    spec = replace(spec, cases=(spec.cases[0], sure, spec.cases[2])) + build_test_file(
        REGION, "m", "confirmed", [answer]
    )
    after = stored_tests.save(first, spec, "m")
    assert list(after.struck.values()) == ['assert rle("") == []']
    known = load(tmp_path)
    assert sources(known.confirmed) == [DESIGNED[1], "assert rle('') == [('', 0)]"]
    assert [test.check.shown for test in known.generated_tests] == ["rle(3)"]
    assert known.struck == after.struck


def test_what_the_votes_went_against_is_marked_and_keeps_its_vote(tmp_path):
    spec = designed()
    spec = replace(spec, cases=(spec.cases[0], *spec.cases[2:]), outvoted=(spec.cases[1],))
    kept = saved(tmp_path, spec)
    assert "# written by the model; outvoted by the candidates\ndef test_designed_1" in kept.path.read_text()
    again = load(tmp_path).spec("m")
    assert [case.source for case in again.outvoted] == ['assert rle("") == []']
    assert len(again.cases) == 2


def test_properties_come_back_whole(tmp_path):
    made = Check(
        body="result = rle(text)\nassert len(result) <= len(text)",
        line=1,
        provenance=Provenance.PROPERTY,
        shown="short: len(result) <= len(text)",
        imports=("from hypothesis import given, settings, strategies as st",),
        decorators=("settings(max_examples=60)", "given(text=st.text())"),
        parameters="text",
        batch="library",
    )
    spec = build_test_file(REGION, "m", "property", [made])
    stored_tests.save(load(tmp_path), spec, "m")
    again = load(tmp_path).spec("m")
    assert again.cases == spec.cases
    assert load(tmp_path).has(Provenance.PROPERTY)
    compile("".join(again.files.values()), "x", "exec")


@pytest.mark.parametrize(
    ("broken", "why"),
    [
        ("def test_x(:\n", "line 1: "),
        ("\n\ncases = [1, 2]\n", "line 3: only imports and functions named test_… are allowed here"),
        ("def test_a():\n    pass\n\ndef test_a():\n    pass\n", "line 1: there is more than one test_a"),
        ("#" * (LONGEST + 1), "longer than"),
        ("\0", "line 1: "),
    ],
)
def test_a_file_that_cannot_be_read_is_told_in_one_sentence_and_stays(tmp_path, broken, why):
    kept = saved(tmp_path)
    kept.path.write_text(broken)
    known = load(tmp_path)
    assert len(known.messages) == 1
    assert why in known.messages[0]
    assert "Correct or delete it" in known.messages[0]
    assert len(known.generated_tests) == 3, "the tests count as they were"
    stored_tests.save(known, designed(*DESIGNED[1:]), "m")
    assert kept.path.read_text() == broken


def test_what_the_user_changes_during_a_run_is_never_overwritten(tmp_path):
    kept = saved(tmp_path)
    edit(kept, 'rle("") == []', "rle('') is None")
    mine = kept.path.read_text()
    answer = build_test_file(REGION, "m", "confirmed", [check("assert rle('a')", Provenance.CONFIRMED)])
    stored_tests.save(kept, designed() + answer, "m")
    assert kept.path.read_text() == mine
    assert sorted(sources(load(tmp_path).confirmed)) == ["assert rle('') is None", "assert rle('a')"]


def test_a_changed_docstring_makes_them_stale_once(tmp_path):
    kept = saved(tmp_path)
    laid_out = TEXT.replace("def rle(text):", "def rle(\n    text):").replace("raise NotImplementedError", "return 1")
    assert load(tmp_path, "import os\n\n" + laid_out).generated_tests, "neither layout nor body nor place matter"
    known = load(tmp_path, TEXT.replace("Runs", "Pairs"))
    assert (known.generated_tests, known.user_tests, known.struck) == ((), (), {})
    assert known.messages == (
        f"The signature or docstring of rle has changed; its old tests were moved to {kept.path.with_suffix('.old.py')}.",
    )
    assert "test_designed_1" in kept.path.with_suffix(".old.py").read_text()
    assert not load(tmp_path, TEXT.replace("Runs", "Pairs")).messages


def test_without_the_file_all_begins_anew(tmp_path):
    saved(tmp_path).path.unlink()
    known = load(tmp_path)
    assert (known.generated_tests, known.struck, known.messages) == ((), {}, ())
    assert stored_tests.save(known, designed(), "m").path.exists()


def test_without_the_record_nothing_is_taken_for_the_users_word(tmp_path):
    kept = saved(tmp_path)
    kept.path.with_suffix(".json").write_text("{ nonsense")
    known = load(tmp_path)
    assert (len(known.generated_tests), len(known.user_tests)) == (3, 0)
    assert "only have a vote" in known.messages[0]


def test_a_folder_that_cannot_be_written_is_a_sentence(tmp_path, state):
    state.mkdir(parents=True)
    (state / "tests").write_text("a file stands here")
    (said,) = saved(tmp_path).messages
    assert said.startswith("The tests could not be saved to ")


def test_functions_of_one_name_have_files_of_their_own(tmp_path):
    names = {
        edited_tests.stored_path(tmp_path, path, name)
        for path, name in [
            ("a/b.py", "f"),
            ("a.b.py", "g"),
            ("a/b.py", "C.f"),
            ("a/ü.py", "f"),
            ("a/ö.py", "f"),
            ("x" * 300, "f"),
        ]
    } | {edited_tests.stored_path(tmp_path / "other", "a/b.py", "f")}
    assert len(names) == 7
    assert all(len(path.name) < 150 for path in names)


def test_their_number_is_bounded(tmp_path):
    folder = edited_tests.stored_path(tmp_path, REGION.path, "f").parent
    folder.mkdir(parents=True)
    for number in range(edited_tests.MAX_FUNCTIONS - 2):
        (folder / f"newer{number}.py").touch()
    for number, name in enumerate(["f", "g", "h"]):
        region = replace(REGION, qualname=name)
        text = TEXT.replace("rle", name)
        spec = build_test_file(region, "m", "designed", [check(f"assert {name}() == 1")])
        path = stored_tests.save(stored_tests.load(tmp_path, region, text), spec, "m").path
        os.utime(path, (number, number))
    assert sorted(path.name for path in folder.glob("src*")) == [
        f"src.m__{name}.{kind}" for name in "gh" for kind in ("json", "py")
    ]


def test_what_changes_during_a_run_is_kept_at_once(tmp_path):
    saved(tmp_path)
    answer = build_test_file(REGION, "m", "confirmed", [check("assert rle('a') == [('a', 1)]", Provenance.CONFIRMED)])
    assert stored_tests.update(tmp_path, REGION, TEXT, designed(*DESIGNED[1:]) + answer, "m") == ()
    known = load(tmp_path)
    assert sources(known.confirmed) == ["assert rle('a') == [('a', 1)]"]
    assert list(known.struck.values()) == ['assert rle("") == []']


def test_what_the_user_strikes_out_meanwhile_stays_struck_out(tmp_path):
    kept = saved(tmp_path)
    edit(kept, '\n\n\n# written by the model\ndef test_designed_1():\n    assert rle("") == []', "")
    mine = kept.path.read_text()
    answer = build_test_file(REGION, "m", "confirmed", [check("assert rle('a')", Provenance.CONFIRMED)])
    stored_tests.update(tmp_path, REGION, TEXT, designed() + answer, "m")
    assert kept.path.read_text() == mine
    known = load(tmp_path)
    assert list(known.struck.values()) == ['assert rle("") == []']
    assert sources(known.confirmed) == ["assert rle('a')"]


def test_a_file_that_is_deleted_during_a_run_stays_deleted(tmp_path):
    saved(tmp_path).path.unlink()
    answer = build_test_file(REGION, "m", "confirmed", [check("assert rle('a')", Provenance.CONFIRMED)])
    assert stored_tests.update(tmp_path, REGION, TEXT, designed() + answer, "m") == ()
    assert load(tmp_path).file_text is None
