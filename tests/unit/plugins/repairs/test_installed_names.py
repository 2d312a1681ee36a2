"""Where an installed package has what one of its modules lacks; test_import_corrections.py has what is made of it."""

from __future__ import annotations

import pytest

from greenloop.plugins.repairs.installed_names import find_function, find_present


@pytest.fixture
def site(tmp_path):
    """Makes a site-packages folder of these files."""

    def make(**files):
        folder = tmp_path / "tests" / "site-packages"
        for name, text in files.items():
            path = folder / f"{name.replace('__in', '/__in').replace('0', '/')}.py"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return folder

    return make


def test_the_nearest_public_module_that_exports_it(site):
    folder = site(pkg__init__="", pkg0special__init__="from ._basic import *\n", pkg0special0_basic="def comb(): ...\n",
                  pkg0special0basic="__all__ = ['comb']\n", pkg0misc="")  # fmt: skip
    assert find_present("comb", "pkg.misc", [folder]) == ("pkg.special", "comb")


def test_none_of_two_that_are_as_near(site):
    folder = site(pkg__init__="", pkg0one="def area(): ...\n", pkg0two="def area(): ...\n")
    assert find_present("area", "pkg", [folder]) is None


def test_a_private_definition_that_nobody_exports_is_not_taken(site):
    folder = site(pkg__init__="", pkg0_inner="def area(): ...\n")
    assert find_present("area", "pkg", [folder]) is None


def test_a_similar_name_of_the_same_module_alone(site):
    folder = site(pkg__init__="", pkg0calc="def simpson(): ...\n", pkg0other="def simps2(): ...\n")
    assert find_present("simps", "pkg.calc", [folder]) == ("pkg.calc", "simpson")
    assert find_present("unlike", "pkg.calc", [folder]) is None


def test_a_package_that_is_not_installed(tmp_path):
    assert find_present("area", "pkg", [tmp_path]) is None
    assert find_present("area", "pkg", []) is None


def test_the_function_of_a_package_behind_its_overloads(site):
    folder = site(
        pkg__init__="@overload\ndef area(a): ...\n\n\ndef area(a, b): ...\n\n\nclass C:\n    def area(self): ...\n"
    )
    function = find_function("area", ["other", "pkg"], [folder])
    assert function is not None
    assert [each.arg for each in function.args.args] == ["a", "b"]
    assert find_function("D.area", ["pkg"], [folder]) is None


@pytest.mark.parametrize("package", ["", "..", "no-package"])
def test_what_cannot_be_a_package_is_not_looked_into(site, package):
    folder = site(pkg__init__="def area(): ...\n")
    assert find_function("area", [package], [folder]) is None
    assert find_present("aera", package, [folder]) is None
