"""How pytest is started inside: options of plugins that are not loaded would be unknown to it."""

from __future__ import annotations

import importlib.util

import pytest

from greenloop_sandbox import payload


@pytest.fixture
def options(monkeypatch):
    monkeypatch.delenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", raising=False)
    spec = importlib.util.spec_from_file_location("options", payload.folder() / "options.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def every(name):
    """As `find_spec` where every plugin is installed."""
    return name


@pytest.mark.parametrize(
    ("ini", "taken_back"),
    [
        ("[pytest]\n", True),
        ("[pytest]\naddopts = --disable-plugin-autoload\n", False),
        ("[pytest]\naddopts = --disable-plugin-autoload -p pytest_benchmark\n", True),
    ],
)
def test_only_plugins_that_are_loaded_are_told_anything(options, tmp_path, ini, taken_back):
    (tmp_path / "pytest.ini").write_text(ini)
    assert ("--benchmark-disable" in options.pytest_arguments(str(tmp_path), "/scratch", find=every)) is taken_back


@pytest.mark.parametrize(
    ("ini", "told"),
    [
        ("[pytest]\n", ["-p", "no:greenloop"]),
        ("[pytest]\naddopts = --refine-verify\n", ["--refine=off"]),
        ("[pytest]\naddopts = -p no:greenloop\n", []),
        ("[pytest]\naddopts = --disable-plugin-autoload\n", []),
    ],
)
def test_the_plugin_of_greenloop_itself_does_nothing_inside(options, tmp_path, ini, told):
    (tmp_path / "pytest.ini").write_text(ini)
    arguments = options.pytest_arguments(str(tmp_path), "/scratch", find=every)
    assert [word for word in ("--refine=off", "no:greenloop") if word in arguments] == told[-1:]


def test_an_interpreter_without_greenloop_is_told_nothing_of_it(options, tmp_path):
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = --refine\n")
    arguments = options.pytest_arguments(str(tmp_path), "/scratch", find=lambda _name: None)
    assert not {"--refine=off", "no:greenloop"} & {*arguments}


@pytest.mark.parametrize(
    ("manage", "installed", "settings"),
    [
        ("os.environ.setdefault('DJANGO_SETTINGS_MODULE', 'shop.settings')", {"django"}, "shop.settings"),
        ('os.environ.setdefault("DJANGO_SETTINGS_MODULE" , "a.b")', {"django"}, "a.b"),
        ("os.environ.setdefault('DJANGO_SETTINGS_MODULE', 'shop.settings')", {"django", "pytest_django"}, ""),
        ("os.environ.setdefault('DJANGO_SETTINGS_MODULE', 'shop.settings')", set(), ""),
        ("print('another manage.py')", {"django"}, ""),
        (None, {"django"}, ""),
    ],
)
def test_the_settings_of_a_django_project(options, tmp_path, monkeypatch, manage, installed, settings):
    monkeypatch.delenv("DJANGO_SETTINGS_MODULE", raising=False)
    find = {name: name for name in installed}.get
    if manage is not None:
        (tmp_path / "manage.py").write_text(manage)
    assert options.django_settings(str(tmp_path), find) == settings
    assert ("python_files=test*.py" in options.pytest_arguments(str(tmp_path), "/scratch", find=find)) is bool(settings)
