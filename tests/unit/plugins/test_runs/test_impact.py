"""Which tests a changed file concerns: by what was traced, by imports where nothing was, and never without bound."""

import pytest

from greenloop.plugins.test_runs.impact import Coverage, affected_tests, group_by_file, outline_hash, outline_hashes
from greenloop_sandbox.report.traces import ReachedFunction
from project_files import write_files


def hit(path, name, depth=1):
    return ReachedFunction(path=path, firstlineno=1, name=name, depth=depth)


@pytest.fixture
def project(tmp_path):
    files = {
        "m.py": "def f():\n    pass\n",
        "n.py": "def g():\n    pass\n",
        "test_m.py": "from m import f\n",
        "test_both.py": "import m\nimport n\n",
        "tests/conftest.py": "",
        "tests/test_inner.py": "",
        "tests/deep/test_deep.py": "",
        "data.json": "{}",
    }
    write_files(tmp_path, files)
    return tmp_path


def test_what_came_through_a_file_or_a_function_of_it():
    reached = Coverage()
    reached.record("test_m.py::test_a", [hit("m.py", "f"), hit("n.py", "g")])
    reached.record("test_m.py::test_b", [hit("m.py", "C.g")])
    assert reached.tests_through("m.py") == ["test_m.py::test_a", "test_m.py::test_b"]
    assert reached.tests_through("m.py", "f") == reached.tests_through("n.py") == ["test_m.py::test_a"]
    assert reached.tests_through("m.py", "C.g") == ["test_m.py::test_b"]
    assert reached.tests_through("m.py", "other") == reached.tests_through("o.py") == []


def test_the_functions_of_a_file_that_tests_came_through():
    reached = Coverage(entries=5)
    reached.record("test_m.py::test_a", [hit("m.py", "f"), hit("n.py", "g")])
    reached.record("test_m.py::test_b", [hit("m.py", "f")])
    assert set(reached.functions("m.py")) == {"f"}
    reached.record("test_m.py::test_b", [hit("m.py", "C.g")])
    assert set(reached.functions("m.py")) == {"f", "C.g"}
    reached.record("test_n.py::test_c", [hit("n.py", "h")])
    assert set(reached.functions("m.py")) == {"C.g"}, "test_a is forgotten"
    reached.mark_complete("test_m.py", ())
    assert (set(reached.functions("m.py")), set(reached.functions("n.py"))) == (set(), {"h"})
    assert set(reached.functions("o.py")) == set()


def test_code_that_knows_only_the_end_of_its_name_is_found():
    reached = Coverage()
    reached.record("test_m.py::test_a", [hit("m.py", "g")])
    assert reached.tests_through("m.py", "C.g") == ["test_m.py::test_a"]


def test_a_new_trace_takes_the_place_of_the_old_one():
    reached = Coverage()
    reached.record("test_m.py::test_a", [hit("m.py", "f")])
    reached.record("test_m.py::test_a", [hit("n.py", "g")])
    assert reached.tests_through("m.py") == []
    assert reached.tests_through("n.py") == ["test_m.py::test_a"]


def test_its_own_file_is_no_reach():
    reached = Coverage()
    reached.record("test_m.py::test_a", [hit("test_m.py", "test_a", 0), hit("m.py", "f")])
    assert reached.tests_through("test_m.py") == []


def test_tests_that_are_there_no_more_are_forgotten():
    reached = Coverage()
    reached.record("test_m.py::test_a", [hit("m.py", "f")])
    reached.record("test_m.py::test_b", [hit("m.py", "f")])
    reached.record("test_n.py::test_c", [hit("m.py", "f")])
    assert not reached.is_complete("test_m.py")
    reached.mark_complete("test_m.py", ["test_m.py::test_b"])
    assert reached.tests_through("m.py") == ["test_m.py::test_b", "test_n.py::test_c"]
    assert reached.is_complete("test_m.py")
    reached.mark_complete("test_m.py", [])
    assert not reached.is_complete("test_m.py")


def test_it_is_bounded_and_forgets_what_was_traced_longest_ago():
    reached = Coverage(entries=10)
    for file in ("test_a.py", "test_b.py", "test_c.py"):
        reached.record(f"{file}::test", [hit("m.py", f"f{n}") for n in range(4)])
        reached.mark_complete(file, [f"{file}::test"])
    assert reached.tests_through("m.py") == ["test_b.py::test", "test_c.py::test"]
    assert not reached.is_complete("test_a.py")
    assert reached.is_complete("test_c.py")
    # One test alone may be as large as it is.
    reached.record("test_d.py::test", [hit("m.py", f"f{n}") for n in range(100)])
    assert reached.tests_through("m.py") == ["test_d.py::test"]


def test_a_module_that_nobody_traced_is_left_to_those_who_import_it(project):
    assert affected_tests(project, "m.py", Coverage(), inside_functions=True) == ["test_both.py", "test_m.py"]
    assert affected_tests(project, "n.py", Coverage()) == ["test_both.py"]


def test_a_change_inside_functions_concerns_what_was_traced_and_others_whoever_imports(project):
    reached = Coverage()
    reached.record("test_both.py::test_m", [hit("m.py", "f")])
    assert affected_tests(project, "m.py", reached, inside_functions=True) == ["test_both.py::test_m"]
    assert group_by_file(affected_tests(project, "m.py", reached)) == {
        "test_both.py": ("test_both.py",),
        "test_m.py": ("test_m.py",),
    }


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("A = 1\n\n\ndef f():\n    return 2\n\n\nclass C:\n    x = 1\n\n    def g(self):\n        pass\n", True),
        ("A = 1\ndef f():\n    return (\n\n\nclass C:\n    x = 1\n\n    def g(self):\n        pass\n", True),
        ("A = 2\n\n\ndef f():\n    return 1\n\n\nclass C:\n    x = 1\n\n    def g(self):\n        pass\n", False),
        ("A = 1\n\n\ndef f():\n    return 1\n\n\nclass C:\n    x = 2\n\n    def g(self):\n        pass\n", False),
        ("A = 1\n\n\ndef h():\n    return 1\n\n\nclass C:\n    x = 1\n\n    def g(self):\n        pass\n", False),
    ],
)
def test_the_outline_of_a_file_is_what_stands_outside_its_functions(text, same):
    before = "A = 1\n\n\ndef f():\n    return 1\n\n\nclass C:\n    x = 1\n\n    def g(self):\n        pass\n"
    assert (outline_hash(text, "m.py") == outline_hash(before, "m.py")) is same


def test_form_feeds_do_not_move_what_stands_outside_of_functions():
    text = "\f\n\f\nA = 1\n\ndef f():\n    return 1\n"
    assert outline_hash(text.replace("A = 1", "A = 2"), "m.py") != outline_hash(text, "m.py")
    assert outline_hash(text.replace("return 1", "return 2"), "m.py") == outline_hash(text, "m.py")


def test_a_saved_test_file_runs_whole_with_those_that_use_it(project):
    reached = Coverage()
    reached.record("test_both.py::test_n", [hit("test_m.py", "helper")])
    assert affected_tests(project, "test_m.py", reached) == ["test_m.py", "test_both.py::test_n"]


def test_a_conftest_concerns_what_lies_beneath_it(project):
    (project / "conftest.py").write_text("")
    inner = ["tests/deep/test_deep.py", "tests/test_inner.py"]
    assert affected_tests(project, "tests/conftest.py", Coverage()) == inner
    assert affected_tests(project, "conftest.py", Coverage()) == ["test_both.py", "test_m.py", *inner]


def test_the_projects_own_patterns_count(project):
    (project / "pytest.ini").write_text("[pytest]\npython_files = check_*.py\n")
    (project / "check_m.py").write_text("import m\n")
    assert affected_tests(project, "m.py", Coverage()) == ["check_m.py"]


def test_other_files_concern_no_test(project):
    assert affected_tests(project, "data.json", Coverage()) == []


def test_selectors_are_gathered_by_file():
    found = group_by_file(["test_a.py::x", "test_b.py", "test_a.py::y", "test_b.py::z", "test_a.py::x"])
    assert found == {"test_a.py": ("test_a.py::x", "test_a.py::y"), "test_b.py": ("test_b.py",)}


BEFORE, BODY = (f"LIMIT = 1\n\n\ndef f(x):\n    return {value}\n" for value in (1, 2))


def test_an_outline_changes_with_what_runs_at_import_and_not_with_bodies(tmp_path):
    (tmp_path / "m.py").write_text(BEFORE)

    def outline(text=None):
        return outline_hashes(tmp_path, ["m.py"], {} if text is None else {"m.py": text.encode()})

    assert outline(BODY) == outline()
    assert outline(BEFORE.replace("LIMIT = 1", "LIMIT = 2")) != outline()
    assert list(outline_hashes(tmp_path, ["gone.py"], {})) == ["gone.py"]
