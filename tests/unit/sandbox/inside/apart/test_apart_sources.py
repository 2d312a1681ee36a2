"""What the texts of a workspace say, without anything of them being run."""

from __future__ import annotations

import textwrap

import pytest

from two_sides import apart

sources = apart["apart_sources"]


def test_of_a_file_with_tests_in_it_the_code_gets_the_rest_at_its_lines():
    text = """\
        import pytest
        import re
        def f(): return 2
        @pytest.fixture
        def made(): return 1
        @slow
        def test_f():
            assert f() == 2
        class TestF:
            pass
        Z = 1
        """
    left = sources.without_tests(textwrap.dedent(text)).split("\n")[:-1]
    assert left == ["", "import re", "def f(): return 2", "", "", "", "", "", "", "", "Z = 1"]


def test_globals_that_functions_rebind_are_named():
    own = {"m.py": "N = 0\n\n\ndef f():\n    global N\n    N += 1\n", "n.py": "N = 0\n", "o.py": " global (\n"}
    assert sources.rebound(own) == [["m", ["N"]]]


@pytest.mark.parametrize(
    ("path", "name"),
    [("m.py", "m"), ("src/pkg/m.py", "pkg.m"), ("pkg/__init__.py", "pkg")],
    ids=["file", "src", "package"],
)
def test_a_path_is_the_module_that_is_imported(path, name):
    assert sources.module_name(path) == name


def test_imports_are_found_in_text_that_cannot_be_parsed():
    assert [*sources.imported("import os.path, re as r\nfrom shop import x\n(\n")] == ["os", "re", "shop"]
