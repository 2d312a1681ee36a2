"""Projects that are not one folder with tests in it: each is refined as its own tools would run it."""

from __future__ import annotations

import json
import subprocess
import sys
import sysconfig

import pytest

from git_program import commit_all
from greenloop.cli.main import main
from greenloop.core.records.outcome import Verified
from greenloop.engine import refine
from greenloop.project import configuration
from greenloop.project.workspace import find_root

pytestmark = [pytest.mark.needs("bubblewrap"), pytest.mark.timeout(120)]

WRONG, RIGHT = "def double(n):\n    return n + 2\n", "def double(n):\n    return n * 2\n"
TEST = "from m import double\n\n\ndef test_it():\n    assert double(4) == 8\n    assert double(-1) == -2\n"
SIBLINGS = "[pytest]\npythonpath = src ../b/src\n"
# name: files, the target, the file that changes
KINDS = {
    "examples of a text file": (
        {
            "pytest.ini": "[pytest]\naddopts = --doctest-glob=README.md\n",
            "README.md": "# m\n\n```\n>>> from m import double\n>>> double(4), double(-1)\n(8, -2)\n\n```\n",
            "m.py": WRONG,
        },
        "README.md",
        "m.py",
    ),
    "cases that only load_tests makes": (
        {
            "pytest.ini": "",
            "m.py": WRONG,
            "test_m.py": "import unittest\nfrom m import double\n\n\nclass Doubles(unittest.TestCase):\n"
            "    def __init__(self, name, n=None):\n        super().__init__(name)\n        self.n = n\n\n"
            "    def test_it(self):\n        self.assertEqual(double(self.n), self.n + self.n)\n\n\n"
            "def load_tests(loader, tests, pattern):\n"
            "    return unittest.TestSuite([Doubles('test_it', n) for n in (4, -1)])\n",
        },
        "test_m.py::Doubles::test_it",
        "m.py",
    ),
    "examples of docstrings that load_tests adds": (
        {
            "pytest.ini": "",
            "m.py": WRONG.replace("2", '2\n\n\ndouble.__doc__ = """\n>>> double(4), double(-1)\n(8, -2)\n"""', 1),
            "test_m.py": "import doctest\nimport m\n\n\ndef load_tests(loader, tests, pattern):\n"
            "    tests.addTests(doctest.DocTestSuite(m))\n    return tests\n",
        },
        "test_m.py",
        "m.py",
    ),
    "sources in a folder that pytest is told of": (
        {"pytest.ini": "[pytest]\npythonpath = code\n", "code/m.py": WRONG, "tests/test_m.py": TEST},
        "tests/test_m.py",
        "code/m.py",
    ),
    "a sibling in a workspace": (
        {"pyproject.toml": "", "a/pytest.ini": SIBLINGS, "a/tests/test_m.py": TEST, "b/src/m.py": WRONG},
        "a/tests/test_m.py",
        "b/src/m.py",
    ),
    "siblings that import each other": (
        {
            "pyproject.toml": "",
            "a/pytest.ini": SIBLINGS,
            "a/src/times.py": "import m\n\nTWO = 2\n\n\ndef twice(n):\n    return m.double(n)\n",
            "a/tests/test_m.py": TEST.replace("from m import double", "from times import twice as double"),
            "b/src/m.py": "import times\n\n\ndef double(n):\n    return n + times.TWO\n",
        },
        "a/tests/test_m.py",
        "b/src/m.py",
    ),
}

PACKAGES = (
    "fastapi", "httpx", "hypothesis", "numpy", "pandas", "pytest", "pytest-asyncio", "pytest-bdd", "pytest-django",
    "pytest-xdist", "django",
)  # fmt: skip
INI = "[pytest]\n"
# name: files beside m.py; the target is test_m.py
WITH_PACKAGES = {
    "numpy": {
        "test_m.py": "import numpy as np\nfrom m import double\n\n\ndef test_it():\n"
        "    np.testing.assert_array_equal(double(np.array([4, -1])), [8, -2])\n"
    },
    "pandas": {
        "test_m.py": "import pandas as pd\nfrom m import double\n\n\ndef test_it():\n"
        "    pd.testing.assert_series_equal(double(pd.Series([4, -1])), pd.Series([8, -2]))\n"
    },
    "a profile of Hypothesis": {
        "pytest.ini": INI,
        "conftest.py": "from hypothesis import settings\n\nsettings.register_profile('ci', max_examples=20, derandomize=True)\n"
        "settings.load_profile('ci')\n",
        "test_m.py": "from hypothesis import given, settings, strategies as st\nfrom m import double\n\n\n@given(st.integers())\n"
        "def test_it(n):\n    assert settings().max_examples == 20\n    assert double(n) == n + n\n",
    },
    "FastAPI": {
        "app.py": "from fastapi import FastAPI\n\nfrom m import double\n\napp = FastAPI()\n\n\n@app.get('/double/{n}')\n"
        "def of(n: int):\n    return double(n)\n",
        "test_m.py": "from app import app\nfrom fastapi.testclient import TestClient\n\n\ndef test_it():\n"
        "    client = TestClient(app)\n    assert [client.get(f'/double/{n}').json() for n in (4, -1)] == [8, -2]\n",
    },
    "asyncio": {
        "pytest.ini": INI + "asyncio_mode = auto\n",
        "test_m.py": "import asyncio\nfrom m import double\n\n\nasync def test_it():\n"
        "    assert await asyncio.gather(*(asyncio.to_thread(double, n) for n in (4, -1))) == [8, -2]\n",
    },
    "anyio": {
        "pytest.ini": INI,
        "test_m.py": "import pytest\nfrom anyio import to_thread\nfrom m import double\n\n\n@pytest.mark.anyio\n"
        "async def test_it():\n    assert [await to_thread.run_sync(double, n) for n in (4, -1)] == [8, -2]\n",
    },
    "pytest-xdist": {"pytest.ini": INI + "addopts = -n 2\n", "test_m.py": TEST},
    "pytest-bdd": {
        "m.feature": "Feature: numbers\n  Scenario Outline: doubling\n    When <n> is doubled\n    Then it is <result>\n"
        "    Examples:\n    | n  | result |\n    | 4  | 8 |\n    | -1 | -2 |\n",
        "test_m.py": "from m import double\nfrom pytest_bdd import parsers, scenarios, then, when\n\nscenarios('m.feature')\n\n\n"
        "@when(parsers.parse('{n:d} is doubled'), target_fixture='doubled')\ndef doubled(n):\n    return double(n)\n\n\n"
        "@then(parsers.parse('it is {result:d}'))\ndef _(doubled, result):\n    assert doubled == result\n",
    },
    "sqlite": {
        "test_m.py": "import sqlite3\nfrom m import double\n\n\ndef test_it(tmp_path):\n"
        "    base = sqlite3.connect(tmp_path / 'a.db')\n    base.create_function('double', 1, double)\n"
        "    assert base.execute('SELECT double(4), double(-1)').fetchone() == (8, -2)\n"
    },
    "unittest": {
        "test_m.py": "import unittest\nfrom m import double\n\n\nclass Tests(unittest.TestCase):\n    def test_it(self):\n"
        "        for n in (4, -1):\n            with self.subTest(n=n):\n                self.assertEqual(double(n), n + n)\n"
    },
    "200,000 lines": {
        "test_m.py": TEST,
        **{f"big/m{number}.py": "def f(x):\n    return x\n" * 500 for number in range(200)},
    },
}

DJANGO = {
    "manage.py": "import os\nos.environ.setdefault('DJANGO_SETTINGS_MODULE', 'shop.settings')\n",
    "shop/__init__.py": "",
    "shop/settings.py": (
        "SECRET_KEY = 'x'\nINSTALLED_APPS = ['cart']\nROOT_URLCONF = 'cart.urls'\nUSE_TZ = True\n"
        "DEFAULT_AUTO_FIELD = 'django.db.models.AutoField'\n"
        "DATABASES = {'default': {'ENGINE': 'django.db.backends.sqlite3', 'NAME': 'db.sqlite3'}}\n"
    ),
    "cart/__init__.py": "",
    "cart/models.py": (
        "from django.db import models\n\n\nclass Item(models.Model):\n    price = models.IntegerField()\n\n\n"
        "def total(items):\n    return sum(item.price for item in items[1:])\n"
    ),
    "cart/urls.py": (
        "from django.http import JsonResponse\nfrom django.urls import path\n\nfrom cart.models import Item, total\n\n\n"
        "def cart(_request):\n    return JsonResponse({'total': total(Item.objects.all())})\n\n\n"
        "urlpatterns = [path('cart/', cart)]\n"
    ),
    "cart/tests.py": (
        "from django.test import SimpleTestCase, TestCase\n\nfrom cart.models import Item, total\n\n\n"
        "class PageTests(TestCase):\n    def setUp(self):\n        for price in (3, 4):\n"
        "            Item.objects.create(price=price)\n\n    def test_page(self):\n"
        "        self.assertEqual(self.client.get('/cart/').json(), {'total': 7})\n\n\n"
        "class TotalTests(SimpleTestCase):\n    def test_total(self):\n"
        "        self.assertEqual(total([Item(price=3), Item(price=5)]), 8)\n"
    ),
}
PYTEST_DJANGO = {
    "pytest.ini": INI + "DJANGO_SETTINGS_MODULE = shop.settings\n",
    "test_cart.py": (
        "import pytest\n\nfrom cart.models import Item, total\n\n\n@pytest.mark.django_db\ndef test_total():\n"
        "    for price in (3, 4):\n        Item.objects.create(price=price)\n"
        "    assert total(Item.objects.order_by('id')) == 7\n"
    ),
}


EXTENSION = """#include <Python.h>
static PyObject *one(PyObject *self, PyObject *none) { return PyLong_FromLong(1); }
static PyMethodDef methods[] = {{"one", one, METH_NOARGS, 0}, {0}};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "fast", 0, -1, methods};
PyMODINIT_FUNC PyInit_fast(void) { return PyModule_Create(&module); }
"""
MIGRATION = """from django.db import migrations


class Migration(migrations.Migration):
    operations = [migrations.RunSQL("UPDATE nowhere SET price = 1")]
"""


@pytest.fixture
def refine_project(tmp_path, monkeypatch, lay):
    """Refines a target of these files, without a model."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))

    async def run(files, target, link=None, at="w", **more):
        root = lay(tmp_path / at, files)
        if link:
            (root / link[0]).symlink_to(link[1])
        settings, _ = configuration.load(root, command_line={"model": "none", "sandbox.kind": "bubblewrap", **more})
        request = refine.RefineRequest(root=root, target=target)
        return await refine.refine(request, settings=settings, emit=lambda _event: None)

    return run


@pytest.mark.parametrize("name", KINDS)
async def test_the_function_is_found_and_the_result_verified(name, refine_project):
    files, target, changed = KINDS[name]
    outcome = await refine_project(files, target)
    assert outcome.verified is Verified.VERIFIED, outcome.message
    assert outcome.after == {changed: files[changed].replace("n + ", "n * ")}


@pytest.fixture(scope="session")
def packages(tmp_path_factory):
    """A virtual environment with the packages of these kinds."""
    folder = tmp_path_factory.mktemp("packages") / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", folder / "bin" / "python"]
    subprocess.run([*pip, "install", "-q", "--no-compile", *PACKAGES], check=True)
    return str(folder)


@pytest.mark.timeout(300)  # the packages are installed first
@pytest.mark.parametrize("name", WITH_PACKAGES)
async def test_with_packages(name, refine_project, packages):
    files = {"m.py": WRONG, **WITH_PACKAGES[name]}
    outcome = await refine_project(files, "test_m.py", interpreter=packages)
    assert outcome.verified is Verified.VERIFIED, outcome.message
    assert outcome.after == {"m.py": RIGHT}


@pytest.mark.timeout(300)
async def test_django_with_its_plugin_for_pytest(refine_project, packages):
    files = {**{path: text for path, text in DJANGO.items() if path != "cart/tests.py"}, **PYTEST_DJANGO}
    outcome = await refine_project(files, "test_cart.py", interpreter=packages)
    assert outcome.verified is Verified.VERIFIED, outcome.message
    assert outcome.after == {"cart/models.py": DJANGO["cart/models.py"].replace("[1:]", "[0:]")}


async def test_an_own_extension_in_c(refine_project, tmp_path):
    (tmp_path / "fast.c").write_text(EXTENSION)
    program = tmp_path / "w" / f"fast{sysconfig.get_config_var('EXT_SUFFIX')}"
    program.parent.mkdir()
    include = sysconfig.get_path("include")
    subprocess.run(["cc", "-shared", "-fPIC", f"-I{include}", tmp_path / "fast.c", "-o", program], check=True)
    files = {"m.py": f"from fast import one\n\n\n{WRONG.replace('n + 2', 'n + 2 * one()')}", "test_m.py": TEST}
    outcome = await refine_project(files, "test_m.py", interpreter=sys.executable)
    assert outcome.verified is Verified.VERIFIED, outcome.message


@pytest.mark.parametrize("target", ["cart/tests.py::PageTests::test_page", "cart/tests.py::TotalTests::test_total"])
async def test_django_without_a_plugin_for_pytest(refine_project, target):
    outcome = await refine_project(DJANGO, target, interpreter=sys.executable)
    assert outcome.verified is Verified.VERIFIED, outcome.message
    assert outcome.after == {"cart/models.py": DJANGO["cart/models.py"].replace("[1:]", "[0:]")}


async def test_django_asks_its_database_whether_a_class_is_skipped(refine_project):
    tests = DJANGO["cart/tests.py"].replace("class Page", "@skipUnlessDBFeature('supports_json_field')\nclass Page")
    settings = DJANGO["shop/settings.py"].replace(", 'NAME': 'db.sqlite3'", "")
    files = {"cart/tests.py": f"from django.test import skipUnlessDBFeature\n{tests}", "shop/settings.py": settings}
    outcome = await refine_project({**DJANGO, **files}, "cart/tests.py", interpreter=sys.executable)
    assert outcome.verified is Verified.VERIFIED, outcome.message


async def test_django_on_the_import_path_of_pytest(refine_project):
    files = {path if path == "manage.py" else f"apps/{path}": text for path, text in DJANGO.items()}
    files["pytest.ini"] = f"{INI}pythonpath = apps\n"
    outcome = await refine_project(files, "apps/cart/tests.py", interpreter=sys.executable)
    assert outcome.verified is Verified.VERIFIED, outcome.message
    assert outcome.after == {"apps/cart/models.py": DJANGO["cart/models.py"].replace("[1:]", "[0:]")}


async def test_django_below_the_folder_of_the_repository(refine_project):
    files = {"pyproject.toml": "", **{f"backend/{path}": text for path, text in DJANGO.items()}}
    outcome = await refine_project(files, "backend/cart/tests.py", interpreter=sys.executable)
    assert outcome.verified is Verified.VERIFIED, outcome.message
    assert outcome.after == {"backend/cart/models.py": DJANGO["cart/models.py"].replace("[1:]", "[0:]")}


@pytest.mark.parametrize(
    ("files", "changed", "right", "folder", "words"),
    [
        (DJANGO, "cart/models.py", DJANGO["cart/models.py"].replace("[1:]", ""), "", []),
        (
            {f"backend/{path}": text for path, text in DJANGO.items()},
            "backend/cart/models.py",
            DJANGO["cart/models.py"].replace("[1:]", ""),
            "",
            ["backend"],
        ),
        (KINDS["a sibling in a workspace"][0], "b/src/m.py", RIGHT, "", ["a/tests"]),
        (KINDS["a sibling in a workspace"][0], "b/src/m.py", RIGHT, "a", []),
    ],
    ids=["Django", "Django in a folder", "a workspace", "a member"],
)
def test_a_change_is_verified_by_the_tests_of_the_project(
    tmp_path, monkeypatch, capsys, lay, files, changed, right, folder, words
):
    root = lay(tmp_path / "w", files)
    monkeypatch.chdir(root / folder)
    commit_all(root)
    (root / changed).write_text(right)
    settings = ["--set", f"interpreter={sys.executable}", "--sandbox", "bubblewrap"]
    assert main(["verify", *words, "--json", *settings]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["state"], found["apart"]) == ("verified", found["fixed"])


async def test_settings_of_django_that_fail_are_named(refine_project):
    files = {**DJANGO, "shop/settings.py": "import nowhere_to_be_found\n"}
    outcome = await refine_project(files, "cart/tests.py::TotalTests::test_total", interpreter=sys.executable)
    assert (outcome.solved, "nowhere_to_be_found" in outcome.message) == (False, True), outcome.message


async def test_migrations_that_fail_are_named(refine_project):
    files = {**DJANGO, "cart/migrations/__init__.py": "", "cart/migrations/0001_initial.py": MIGRATION}
    outcome = await refine_project(files, "cart/tests.py::PageTests::test_page", interpreter=sys.executable)
    assert outcome.message.startswith(
        "This fails because the migrations of Django fail (OperationalError: no such table: nowhere)."
    )


async def test_code_behind_a_link(refine_project):
    outcome = await refine_project({"real/m.py": WRONG, "test_m.py": TEST}, "test_m.py", link=("m.py", "real/m.py"))
    assert outcome.verified is Verified.VERIFIED, outcome.message
    assert outcome.after == {"m.py": RIGHT}


async def test_a_link_that_leads_back_shows_each_test_once(refine_project):
    outcome = await refine_project({"m.py": WRONG, "test_m.py": TEST}, "test_m.py", link=("again", "."))
    assert outcome.verified is Verified.VERIFIED, outcome.message


async def test_a_test_that_needs_those_before_it_is_named(refine_project):
    test = "import m\n\n\ndef test_a():\n    m.SEEN.append(m.double(2))\n\n\ndef test_b():\n    assert m.SEEN == [4]\n"
    files = {"m.py": f"SEEN = []\n\n\n{RIGHT}", "test_m.py": test}
    outcome = await refine_project(files, "test_m.py::test_b")
    assert "test_m.py::test_b fails alone and passes with the others of its file" in outcome.message


@pytest.mark.timeout(300)
async def test_a_member_of_a_workspace_runs_with_the_environment_of_the_root(
    refine_project, packages, tmp_path, monkeypatch
):
    for name in ("GREENLOOP_INTERPRETER", "VIRTUAL_ENV"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "repository" / ".git").mkdir(parents=True)
    (tmp_path / "repository" / ".venv").symlink_to(packages)
    numpy = {"m.py": WRONG, **WITH_PACKAGES["numpy"]}
    outcome = await refine_project(numpy, "test_m.py", at="repository/packages/api")
    assert outcome.verified is Verified.VERIFIED, outcome.message


@pytest.mark.timeout(300)
async def test_slow_tests_of_a_project_with_xdist_are_proven(refine_project, packages):
    """The slow tests of the suite are run although the project's own options ask for workers."""
    slow = "import time\n\nfrom m import double\n\n\ndef test_slow():\n    time.sleep(8)\n    assert double(0) == 0\n"
    files = {"pytest.ini": INI + "addopts = -n auto\n", "m.py": "def double(n):\n    return n + (n and 2)\n"}
    files |= {"test_m.py": TEST, "test_a.py": slow, "test_b.py": slow}
    outcome = await refine_project(files, "test_m.py", interpreter=packages)
    assert outcome.verified is Verified.VERIFIED, outcome.message


async def test_a_member_whose_siblings_are_installed(refine_project, tmp_path):
    """From the member's own folder: its settings and its working folder, and the code of the other member."""
    packages = tmp_path / "w" / "packages"
    venv = tmp_path / "w" / ".venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", venv], check=True)
    site = next(venv.glob("lib/python*/site-packages"))
    (site / "b.pth").write_text(f"{packages / 'b' / 'src'}\n")
    files = {
        "uv.lock": "",
        "packages/a/pyproject.toml": "[tool.uv.sources]\nb = { workspace = true }\n",
        "packages/a/numbers.txt": "4 -1",
        "packages/a/test_m.py": "from m import double\n\n\ndef test_it():\n"
        "    assert [double(int(n)) for n in open('numbers.txt').read().split()] == [8, -2]\n",
        "packages/b/src/m.py": WRONG,
    }
    outcome = await refine_project(files, "packages/a/test_m.py", interpreter=str(venv))
    assert find_root(packages / "a") == tmp_path / "w"
    assert outcome.verified is Verified.VERIFIED, outcome.message
    assert outcome.after == {"packages/b/src/m.py": RIGHT}


async def test_sources_that_are_not_installed_are_not_written_again(refine_project):
    files = {
        "packages/api/pyproject.toml": "[project]\nname = 'api'\nversion = '1'\n",
        "packages/api/src/api/__init__.py": "",
        "packages/api/src/api/m.py": WRONG,
        "packages/api/tests/test_m.py": TEST.replace("from m", "from api.m"),
    }
    outcome = await refine_project(files, "packages/api/tests/test_m.py")
    assert not outcome.solved
    assert "'api' is in packages/api/src, from which the tests do not import" in outcome.message
