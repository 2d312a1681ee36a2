"""Targets through the façade: where a project's tests are, what is still to be written, and examples."""

import pytest

from greenloop.api import targets

MODULE = '''class Box:
    def put(self, item):
        raise NotImplementedError

    def size(self):
        return 1


def double(x):
    """Twice x.

    >>> double(2)
    4
    """
    return x * 2


def triple(x):
    """Three times x."""
    ...
'''


def test_conventions_are_those_of_the_projects_pytest(tmp_path):
    (tmp_path / "pyproject.toml").write_text(
        '[tool.pytest.ini_options]\npython_files = ["check_*.py"]\npython_functions = ["check_"]\n'
    )
    files, names = targets.read_conventions(tmp_path)
    assert [targets.is_test_file(path, files) for path in ("check_m.py", "test_m.py")] == [True, False]
    text = "def check_it():\n    assert 0\n\n\ndef test_it():\n    assert 0\n"
    assert targets.find_target(text, "check_m.py", "check_it", python_files=files, names=names).kind == "test"
    assert targets.find_target(text, "check_m.py", "test_it", python_files=files, names=names) is None


@pytest.mark.parametrize(("path", "may"), [("m.py", True), ("conftest.py", False), ("m.pyi", False), ("a/b.py", True)])
def test_fixtures_and_stubs_have_no_targets(path, may):
    assert targets.may_have_targets(path) is may


@pytest.mark.parametrize(("name", "unwritten"), [("double", False), ("triple", True), ("Box.put", True)])
def test_a_body_is_written_or_not(name, unwritten):
    target = targets.find_target(MODULE, "m.py", name)
    assert targets.is_unwritten(target, MODULE) is unwritten


def test_methods_of_a_class_may_be_unwritten():
    assert targets.has_unwritten_methods(targets.find_target(MODULE, "m.py", "Box"), MODULE)
    written = MODULE.replace("raise NotImplementedError", "return item")
    assert not targets.has_unwritten_methods(targets.find_target(written, "m.py", "Box"), written)


def test_examples_have_selectors():
    assert targets.example_selectors(targets.find_target(MODULE, "m.py", "double"), MODULE) == ("doctest:m.py::double",)
    assert targets.example_selectors(targets.find_target(MODULE, "m.py", "triple"), MODULE) == ()
