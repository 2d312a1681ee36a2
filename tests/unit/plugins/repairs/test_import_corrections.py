"""What an import that fails was meant to be: names that moved, and names and modules that are spelled otherwise."""

from __future__ import annotations

import pytest

from greenloop.plugins.repairs.import_corrections import find_corrections
from greenloop.project import sources
from project_files import write_files

USE = "\n\ndef f(x):\n    return {}(x)\n"


@pytest.fixture
def project(tmp_path):
    """A package, whose module `app/main.py` is asked about, and a declared dependency that is not installed."""
    files = {
        "pyproject.toml": '[project]\nname = "app"\ndependencies = ["tomli"]\n',
        "app/__init__.py": "",
        "app/tools.py": "def shout(x): ...\ndef both(x): ...\n",
        "app/utils.py": "def low(x): ...\ndef get_name(x): ...\n",
        "app/words.py": "from app.tools import shout\ndef both(x): ...\n",
        "app/dynamic.py": "def __getattr__(name): ...\n",
        "test_app.py": "def tested(x): ...\n",
    }
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text)
    return tmp_path


def found(root, text, message, line=1, path="app/main.py", sites=()):
    return find_corrections(message, line, text, path, root, lambda each: sources.read_text(root, each), sites)


def no_name(name, module="app.utils"):
    return f"cannot import name '{name}' from '{module}' (/app/utils.py)"


@pytest.mark.parametrize(
    ("statement", "message", "expected"),
    [
        ("from app.utils import shout", no_name("shout"), "from app.tools import shout\n"),
        ("from .utils import shout  # loud", no_name("shout"), "from .tools import shout  # loud\n"),
        ("from app.utils import low, shout", no_name("shout"), "from app.utils import low\nfrom app.tools import shout\n"),
        ("from app.utils import shout as s", no_name("shout"), "from app.tools import shout as s\n"),
        ("from app.utils import (\n    shout,\n    low,\n)", no_name("shout"),
         "from app.utils import (\n    low,\n)\nfrom app.tools import shout\n"),
        ("from app.utils import Low as low", no_name("Low"), "from app.utils import low\n"),
        ("from app.utils import get_nam as g", no_name("get_nam"), "from app.utils import get_name as g\n"),
        ("from math import sqroot as root", no_name("sqroot", "math"), "from math import sqrt as root\n"),
        ("from collections import Mapping", no_name("Mapping", "collections"), "from collections.abc import Mapping\n"),
        ("from app.util import low", "No module named 'app.util'", "from app.utils import low\n"),
        ("from .util import low", "No module named 'app.util'", "from .utils import low\n"),
        ("from app.helpers import low", "No module named 'app.helpers'", "from app.utils import low\n"),
        ("from collection import deque", "No module named 'collection'", "from collections import deque\n"),
        ("import jsn as j\nx = j.loads", "No module named 'jsn'", "import json as j\n"),
        # what older versions of Python had
        ("import ConfigParser", "No module named 'ConfigParser'", "import configparser\n"),
        ("import cPickle as pickle", "No module named 'cPickle'", "import pickle\n"),
        ("import urllib2", "No module named 'urllib2'", "import urllib.request\n"),
        ("from StringIO import StringIO", "No module named 'StringIO'", "from io import StringIO\n"),
        ("from urllib2 import HTTPError, urlopen", "No module named 'urllib2'",
         "from urllib.error import HTTPError\nfrom urllib.request import urlopen\n"),
        ("from urllib import quote as q  # for paths", no_name("quote", "urllib"),
         "from urllib.parse import quote as q  # for paths\n"),
        ("from inspect import getargspec", no_name("getargspec", "inspect"), "from inspect import getfullargspec\n"),
        ("from itertools import chain, izip as z", no_name("izip", "itertools"),
         "from itertools import chain\nz = zip\n"),
        ("from distutils.spawn import find_executable as find", no_name("find_executable", "distutils.spawn"),
         "from shutil import which as find\n"),
    ],
)  # fmt: skip
def test_what_was_meant(project, statement, message, expected):
    assert [each.text for each in found(project, f"{statement}\n", message)] == [expected]


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("from app.utils import both", no_name("both")),  # two modules define it
        ("from app.utils import tested", no_name("tested")),  # only a test does
        ("from app.utils import something", no_name("something")),
        ("from app.dynamic import low2", "cannot import name 'low2' from partially initialized module 'app.dynamic'"),
        ("from app.main2 import low", "cannot import name 'low' from partially initialized module 'app.main2'"),
        ("from typing import Protocol", no_name("Protocol", "typing")),  # an older Python, that lacks it
        ("from numpy import shout", no_name("shout", "numpy")),  # of a package, of which nobody knows what it has
        ("import tomli\nx = tomli.loads", "No module named 'tomli'"),  # it is to be installed
        ("from tomli import loads", "No module named 'tomli'"),
        ("from requests2 import low", "No module named 'requests2'"),
        ("import jsn\nx = jsn.unknown", "No module named 'jsn'"),
        ("import jsn", "No module named 'jsn'"),
        ("import app.util\nx = app.util.low", "No module named 'app.util'"),
        ("from app.utils import shout; import json", no_name("shout")),
        ("from app.utils import (", "invalid syntax"),
    ],
)
def test_what_is_not_certain(project, statement, message):
    assert not found(project, f"{statement}\n", message)


def test_functions_use_the_right_name(project):
    text = "from app.utils import get_nam\n" + USE.format("get_nam")
    (correction,) = found(project, text, no_name("get_nam"))
    assert correction.text == "from app.utils import get_name\n"
    assert correction.renamed == {"get_nam": "get_name"}
    assert [each.qualname for each in correction.uses] == ["f"]


def test_a_name_that_the_module_itself_uses_is_kept(project):
    text = "from app.utils import get_nam\n\nNAME = get_nam(1)\n" + USE.format("get_nam")
    (correction,) = found(project, text, no_name("get_nam"))
    assert correction.text == "from app.utils import get_name as get_nam\n"
    assert not correction.renamed


def test_code_may_use_the_right_name_already(project):
    text = "from app.utils import get_nam\n" + USE.format("get_name")
    (correction,) = found(project, text, no_name("get_nam"))
    assert correction.text == "from app.utils import get_name\n"
    assert not correction.renamed


def test_other_imports_of_the_file_are_corrected_too(project):
    text = "import json\nfrom app.utils import low\nfrom app.utils import shout\nfrom math import sqroot\n"
    corrections = found(project, text, no_name("shout"), line=3)
    assert [(each.region.start, each.text) for each in corrections] == [
        (3, "from app.tools import shout\n"),
        (4, "from math import sqrt\n"),
    ]
    assert corrections[0].region.label == "the import of shout"


def test_one_that_a_function_makes_is_corrected_where_it_failed(project):
    text = "def f():\n    from app.utils import low, shout\n\n\ndef g():\n    from app.utils import shout\n"
    (correction,) = found(project, text, no_name("shout"), line=2)
    assert correction.text == "    from app.utils import low\n    from app.tools import shout\n"


def test_what_is_built_in_is_not_imported_any_more(project):
    text = "from itertools import izip\n\n\ndef pairs(a, b):\n    return izip(a, b)\n"
    (correction,) = found(project, text, no_name("izip", "itertools"))
    assert (correction.text, correction.renamed) == ("", {"izip": "zip"})
    assert [each.qualname for each in correction.uses] == ["pairs"]


@pytest.fixture
def site(tmp_path):
    """The folder of installed packages, of which `shapes` requires `paint`."""
    site = tmp_path / "lib" / "site-packages"
    files = {
        "shapes/__init__.py": "from shapes.plane import *\nfrom ._solid import cube\n",
        "shapes/plane.py": "__all__ = ['area', 'circumference']\ndef area(): ...\ndef circumference(): ...\n",
        "shapes/_solid.py": "def cube(): ...\ndef volume(): ...\n",
        "shapes/solid.py": "from shapes._solid import volume\n__all__ = [\n    'volume',\n]\n",
        "shapes/tests/test_all.py": "def helper(): ...\n",
        "paint/__init__.py": "class Colour: ...\n",
        "shapes-2.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: shapes\nVersion: 2.0\nRequires-Dist: paint>=1\n",
    }
    write_files(site, files)
    return site


@pytest.mark.parametrize(
    ("statement", "name", "expected"),
    [
        ("from shapes import volume, cube", "volume", ["from shapes import cube\nfrom shapes.solid import volume\n"]),
        ("from shapes import Colour", "Colour", ["from paint import Colour\n"]),
        (
            "from shapes import circumferenc as c, area",
            "circumferenc",
            ["from shapes import circumference as c, area\n"],
        ),
        ("from shapes import helper", "helper", []),
        ("from shapes import something", "something", []),
    ],
)
def test_a_name_that_an_installed_package_has_elsewhere(project, site, statement, name, expected):
    corrections = found(project, f"{statement}\n", no_name(name, "shapes"), sites=[site])
    assert [each.text for each in corrections] == expected


def test_a_module_that_an_installed_package_lacks(project, site):
    text, message = "from shapes.old import area, volume\n", "No module named 'shapes.old'"
    (correction,) = found(project, text, message, sites=[site])
    assert correction.text == "from shapes.plane import area\nfrom shapes.solid import volume\n"
