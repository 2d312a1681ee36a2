"""Projects that are not one folder with tests in it: each is refined as its own tools would run it."""

from __future__ import annotations

import sys

import pytest

from greenloop.core.records.outcome import Verified
from greenloop.engine import refine
from greenloop.project import configuration

pytestmark = [pytest.mark.needs("bubblewrap"), pytest.mark.timeout(120)]

WRONG, RIGHT = "def double(n):\n    return n + 2\n", "def double(n):\n    return n * 2\n"
TEST = "from m import double\n\n\ndef test_it():\n    assert double(4) == 8\n    assert double(-1) == -2\n"
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
    "sources in a folder that pytest is told of": (
        {"pytest.ini": "[pytest]\npythonpath = code\n", "code/m.py": WRONG, "tests/test_m.py": TEST},
        "tests/test_m.py",
        "code/m.py",
    ),
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


MIGRATION = """from django.db import migrations


class Migration(migrations.Migration):
    operations = [migrations.RunSQL("UPDATE nowhere SET price = 1")]
"""


@pytest.fixture
def refine_project(tmp_path, monkeypatch, lay):
    """Refines a target of these files, without a model."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))

    async def run(files, target, link=None, **more):
        root = lay(tmp_path / "w", files)
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
    assert outcome.after == {changed: RIGHT}


@pytest.mark.story("a Django project runs as manage.py runs it", only=("[cart/tests.py::PageTests::test_page]",))
@pytest.mark.parametrize("target", ["cart/tests.py::PageTests::test_page", "cart/tests.py::TotalTests::test_total"])
async def test_django_without_a_plugin_for_pytest(refine_project, target):
    outcome = await refine_project(DJANGO, target, interpreter=sys.executable)
    assert outcome.verified is Verified.VERIFIED, outcome.message
    assert outcome.after == {"cart/models.py": DJANGO["cart/models.py"].replace("[1:]", "[0:]")}


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
