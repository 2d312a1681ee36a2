"""Which modules serve tests: plugins that something names, and helpers by what they look like."""

from __future__ import annotations

import pytest

from greenloop.project.revisions.base_modules import lay_out
from greenloop.project.revisions.support import entry_points, is_helper, may_be_helper, plugin_modules

TEST = "from shop import total\nimport {name}\n\n\ndef test_total():\n    assert {name}.near(total([1]), 1)\n"


@pytest.mark.parametrize(
    ("path", "text", "modules"),
    [
        ("pyproject.toml", "[project.entry-points.pytest11]\na = 'x.y:z'\n", {"x.y"}),
        ("pyproject.toml", "[tool.poetry.plugins.pytest11]\na = 'x'\n", {"x"}),
        ("pyproject.toml", "[project.entry-points.other]\na = 'pytest11'\n", set()),
        ("pyproject.toml", "pytest11 = [", set()),
        ("setup.cfg", "[options.entry_points]\npytest11 =\n    a = x.y\n    b = z\n\n[other]\nc = d\n", {"x.y", "z"}),
        ("setup.py", "setup(entry_points={'pytest11': ['a = x.y'], 'console_scripts': ['c = d']})\n", {"x.y"}),
        ("x.dist-info/entry_points.txt", "[console_scripts]\nc = d:e\n\n[pytest11]\na = x.y\n", {"x.y"}),
        ("x.dist-info/entry_points.txt", "[pytest11]\na = x\n\n[console_scripts]\nc = d:e\n", {"x"}),
    ],
)
def test_metadata_names_plugins(path, text, modules):
    assert entry_points(path, text.encode()) == modules


@pytest.mark.parametrize(
    "text",
    ["pytest_plugins = 'tools.extra'\n", "pytest_plugins: list[str] = ['other', 'tools.extra']\n"],
)
def test_a_conftest_names_plugins(text):
    with lay_out({"conftest.py": text.encode(), "tools/extra.py": b""}) as modules:
        assert plugin_modules(modules, ["conftest.py"], {}) == {"tools/extra.py"}


@pytest.mark.parametrize(
    ("words", "found"), [("-p extra", True), ("-pextra", True), ("-p no:extra", False), ("-p", False)]
)
def test_addopts_name_plugins(words, found):
    configuration = {"pytest.ini": f"[pytest]\naddopts = -q {words}\n".encode(), "extra.py": b""}
    with lay_out(configuration) as modules:
        assert (plugin_modules(modules, [], {}) == {"extra.py"}) is found


@pytest.mark.parametrize(
    ("name", "text", "helper"),
    [
        ("my_helpers", "", True),
        ("fakes", "", True),
        ("checks", "import pytest\n", True),
        ("checks", "from unittest import mock\n", True),
        ("checks", "def assert_near(a, b):\n    pass\n", True),
        ("checks", "class BaseTestCase:\n    pass\n", True),
        ("checks", "EXPECTED = 3\n", True),
        ("checks", "def near(a, b):\n    return a == b\n", True),  # by what its test does with it
        ("shop", "def near(a, b):\n    return a == b\n", False),  # a test file has its name
    ],
)
def test_a_helper_looks_like_one(name, text, helper):
    tests = {"test_shop.py"}
    contents = {"test_shop.py": TEST.format(name=name), "shop.py": "", f"{name}.py": text}
    with lay_out({path: each.encode() for path, each in contents.items()}) as modules:
        assert is_helper(f"{name}.py", modules, lambda path: path in tests, tests) is helper


def test_what_code_imports_is_no_helper():
    contents = {"test_shop.py": b"import helpers\n", "shop.py": b"import helpers\n", "helpers.py": b"import pytest\n"}
    with lay_out(contents) as modules:
        assert not is_helper("helpers.py", modules, lambda path: path == "test_shop.py", {"test_shop.py"})


@pytest.mark.parametrize(("test", "doubt"), [("import money, shop\n", True), ("import money\n", False)])
def test_a_module_beside_the_tested_one_may_be_a_helper(test, doubt):
    contents = {"test_shop.py": test.encode(), "shop.py": b"", "money.py": b""}
    with lay_out(contents) as modules:
        assert may_be_helper("money.py", modules, lambda path: path == "test_shop.py", {"test_shop.py"}) is doubt
