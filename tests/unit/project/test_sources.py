"""Sources: their encoding, and pytest's patterns."""

from __future__ import annotations

import pytest

from greenloop.project import sources
from project_files import write_files


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"x = 1\n", "x = 1\n"),
        (b"\xef\xbb\xbfx = 1\n", "x = 1\n"),
        (b"# -*- coding: latin-1 -*-\nx = '\xe9'\n", "# -*- coding: latin-1 -*-\nx = 'é'\n"),
        (b"x = '\xff'\n", "x = '\ufffd'\n"),
        (b"# coding: nonsense\n", "# coding: nonsense\n"),
    ],
)
def test_decode(data, text):
    assert sources.decode(data) == text


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("pytest.ini", "[pytest]\npython_files = check_*.py\n  spec_*.py\n"),
        ("pyproject.toml", "[tool.pytest.ini_options]\npython_files = 'check_*.py spec_*.py'\n"),
        ("pyproject.toml", "[tool.pytest]\npython_files = ['check_*.py', 'spec_*.py']\n"),
        ("pytest.toml", "[pytest]\npython_files = ['check_*.py', 'spec_*.py']\n"),
        ("tox.ini", "[pytest]\npython_files = check_*.py spec_*.py\n"),
        ("setup.cfg", "[tool:pytest]\npython_files = check_*.py spec_*.py\n"),
    ],
)
def test_patterns_are_read_from_every_place_pytest_reads(tmp_path, file, text):
    write_files(tmp_path, {file: text})
    assert sources.file_patterns(tmp_path) == ("check_*.py", "spec_*.py")


@pytest.mark.parametrize("text", ["[tool.pytest", "tool = 3", "[tool]\npytest = 1", "\xff"])
def test_a_broken_configuration_means_the_defaults(tmp_path, text):
    write_files(tmp_path, {"pyproject.toml": text.encode("latin-1")})
    assert sources.file_patterns(tmp_path) == sources.TEST_FILES


def test_a_configuration_is_parsed_once_until_it_changes(tmp_path):
    """Every import of every test file asks for it: SQLAlchemy's was parsed a thousand times in one run."""
    before = sources._toml_option.cache_info().misses
    for folder in ("a", "b"):
        write_files(tmp_path, {"pyproject.toml": f"[tool.pytest.ini_options]\npythonpath = ['{folder}']\n# once\n"})
        for _ in range(3):
            assert sources.find_module("m", tmp_path) is None
            assert sources.pytest_option(tmp_path, "pythonpath") == [folder]
    assert sources._toml_option.cache_info().misses - before == 2


def test_imports_are_found_in_every_kind_of_statement():
    text = (
        "import a\nif x:\n    import b\nelse:\n    from c import d\n"
        "try:\n    import e\nexcept E:\n    import f\nfinally:\n    import g\n"
        "match x:\n    case 1:\n        import h\n"
        "class K:\n    async def m(self):\n        async with y:\n            for z in w:\n                import i.j\n"
        "key = lambda: 1\nwhile x: import k\n"
    )
    assert [name for name, _names, _line in sources.find_imports(text)] == [*"abcefgh", "i.j", "k"]


@pytest.mark.parametrize(
    ("files", "test", "folder"),
    [
        (["src/m.py"], "tests/test_m.py", "src"),
        (["m.py"], "tests/test_m.py", None),
        (["tests/m.py"], "tests/test_m.py", None),
        (["packages/api/src/m/__init__.py"], "packages/api/tests/test_m.py", "packages/api/src"),
        (["packages/api/src/m/cards.py"], "packages/api/tests/test_m.py", "packages/api/src"),
        (["libs/a/m.py", "libs/b/m.py"], "libs/b/tests/test_m.py", "libs/b"),
        (["pkg/__init__.py", "pkg/m.py"], "tests/test_m.py", None),
        (["other/tests/m.py"], "tests/test_m.py", None),
    ],
)
def test_a_module_outside_of_the_import_path(tmp_path, files, test, folder):
    for path in [*files, test]:
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).touch()
    assert sources.find_off_path("m", tmp_path, test) == folder
