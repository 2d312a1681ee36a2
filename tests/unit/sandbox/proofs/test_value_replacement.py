"""Values of modules and classes that changed, and what is put in their place."""

from __future__ import annotations

import sys
import types

import pytest

from inside import load

OWN = """\
import re

LIMIT: int = 9
SAME = 1
WORD = re.compile("[a-z]")


class Box:
    size = 3
    table = {"a": 1}

    class Lid:
        name = "lid"


if LIMIT:
    DEBUG = False
"""
NEW = (
    OWN.replace("= 9", "= 10")
    .replace("[a-z]", "[a-z]+")
    .replace("size = 3", "size = 4")
    .replace('"lid"', '"cover"')
    .replace("False", "True")
    + "\nEXTRA = 'x'\n"
)


@pytest.fixture
def module(tmp_path, monkeypatch):
    path = tmp_path / "values_m.py"
    path.write_text(NEW)
    module = types.ModuleType("values_m")
    module.__file__ = str(path)
    exec(compile(NEW, str(path), "exec"), vars(module))
    monkeypatch.setitem(sys.modules, "values_m", module)
    return module


@pytest.fixture
def modules(module, tmp_path):
    modules = load("value_replacement").WorkspaceModules(str(tmp_path))
    modules.look()
    return modules


@pytest.fixture
def values(module, modules):
    replacement = load("value_replacement")
    return replacement.ChangedValues(modules, module.__file__, OWN, NEW, load("code_replacement").wrong)


def found(module):
    return module.LIMIT, module.WORD.pattern, module.Box.size, module.Box.Lid.name, module.DEBUG, module.EXTRA


def test_the_users_own_values_are_put_back_and_the_candidates_again(module, values):
    assert values.has_own
    assert len(values.present()) == 6
    values.put("own", with_new=False)
    assert found(module) == (9, "[a-z]", 3, "lid", False, "x")
    values.restore()
    assert found(module) == (10, "[a-z]+", 4, "cover", True, "x")


def test_what_has_no_value_of_the_users_own_is_wrong_only_where_that_is_asked_for(module, values):
    values.put("wrong", with_new=False)
    assert (module.LIMIT, module.Box.size, module.EXTRA) == (11, 5, "x")
    values.restore()
    values.put("wrong", with_new=True)
    assert module.EXTRA == "x~"
    values.restore()
    values.put("nothing", with_new=True)
    assert (module.LIMIT, module.EXTRA) == (None, None)
    values.restore()
    assert (module.LIMIT, module.EXTRA, module.SAME) == (10, "x", 1)


def test_modules_of_the_workspace_that_import_a_name_get_the_other_value_too(
    module, values, modules, tmp_path, monkeypatch
):
    inside, outside = types.ModuleType("inside_m"), types.ModuleType("outside_m")
    inside.__file__, outside.__file__ = str(tmp_path / "inside_m.py"), "/elsewhere/outside_m.py"
    for each in (inside, outside):
        each.WORD = module.WORD
        monkeypatch.setitem(sys.modules, each.__name__, each)
    modules.look()
    values.put("own", with_new=False)
    assert (inside.WORD.pattern, outside.WORD.pattern) == ("[a-z]", "[a-z]+")
    values.restore()
    assert inside.WORD is outside.WORD is module.WORD


def test_a_value_that_cannot_be_made_any_more_is_left(module, modules):
    own = "from gone import LIMITS\n\nLIMIT = LIMITS.first\n"
    replacement = load("value_replacement")
    values = replacement.ChangedValues(modules, module.__file__, own, NEW, abs)
    values.put("own", with_new=False)
    assert module.LIMIT == 10


def test_a_text_that_does_not_compile_has_no_values(module, modules):
    replacement = load("value_replacement")
    values = replacement.ChangedValues(modules, module.__file__, "LIMIT = = 9\n", NEW, abs)
    assert not values.has_own


def test_what_is_imported_is_looked_up_once_for_all_questions(module, values, monkeypatch):
    monkeypatch.setattr(load("value_replacement").sys, "modules", {})
    assert len(values.present()) == 6
    values.put("own", with_new=False)
    assert module.LIMIT == 9
    values.restore()


MADE = """\
_WORD = "[a-z]"
_LINE = "^" + _WORD
OTHER = "x"


class Box:
    first = 1
    second = first + 1

    def size(self, more=first, *, unit=OTHER):
        return more, unit


def total(items=(), scale=2):
    return scale
"""
MADE_NEW = MADE.replace("[a-z]", "[a-z_]").replace("first = 1", "first = 5").replace("scale=2", "scale=3")


@pytest.fixture
def made(tmp_path, monkeypatch):
    path = tmp_path / "made_m.py"
    path.write_text(MADE_NEW)
    module = types.ModuleType("made_m")
    module.__file__ = str(path)
    exec(compile(MADE_NEW, str(path), "exec"), vars(module))
    monkeypatch.setitem(sys.modules, "made_m", module)
    return module


def test_what_is_made_of_a_changed_value_is_put_back_with_it(made, modules):
    modules.look()
    values = load("value_replacement").ChangedValues(modules, made.__file__, MADE, MADE_NEW, abs)
    assert values.present() == ["[a-z_]", 5]  # what the candidate wrote itself
    values.put("own", with_new=False)
    assert (made._WORD, made._LINE, made.Box.first, made.Box.second) == ("[a-z]", "^[a-z]", 1, 2)
    values.restore()
    assert (made._WORD, made._LINE, made.Box.first, made.Box.second) == ("[a-z_]", "^[a-z_]", 5, 6)


def test_defaults_that_changed_or_are_made_of_a_changed_value_are_put_back(made, modules):
    modules.look()
    values = load("value_replacement").ChangedValues(modules, made.__file__, MADE, MADE_NEW, abs)
    file = load("code_replacement").ChangedFile(made.__file__, MADE, values, load("code_objects"))
    assert file.has_own_code
    assert file.put("own") == ""
    assert (made.total(), made.Box().size()) == (2, (1, "x"))
    file.restore()
    assert (made.total(), made.Box().size()) == (3, (5, "x"))


def test_a_file_in_which_nothing_differs_but_layout_has_no_changed_defaults(made, modules):
    values = load("value_replacement").ChangedValues(
        modules, made.__file__, MADE, MADE.replace(", scale", ",  scale"), abs
    )
    assert not values.has_own
