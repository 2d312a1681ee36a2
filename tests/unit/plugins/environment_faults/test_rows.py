"""The rows of the environment faults: the exact sentence and remedy of kinds that need no real environment."""

from __future__ import annotations

import re
from itertools import chain
from pathlib import Path

import pytest

from greenloop.plugins.environment_faults import collection, machine, packages, sandbox_limits
from greenloop.plugins.environment_faults.rows import Row
from greenloop.project.environment import faults
from greenloop_sandbox import Environment, Execution, Failure, Frame

ENVIRONMENT = Environment(
    executable=Path("/py"), prefix=Path("/none"), base=Path("/usr"), version=(3, 10), source=".venv", has_pytest=True
)
TABLES = (
    packages.PLUGIN_ROWS, packages.ROWS, machine.DISPLAY_ROWS, machine.ROWS, sandbox_limits.VARIABLE_ROWS,
    sandbox_limits.ROWS, collection.KILL_ROWS, collection.OUTPUT_ROWS,
)  # fmt: skip
NAME_THE_FOLDER = "name the folder in the setting `pythonpath` of pytest."
ROWS = [*chain.from_iterable(TABLES), *(Row("", *texts) for texts in packages.MODULES.values())]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.sentence)
def test_every_row_has_a_pattern_that_compiles_and_a_sentence_without_a_full_stop(row):
    re.compile(row.pattern)
    assert not row.sentence.endswith(".")
    assert row.remedy


@pytest.mark.parametrize(
    ("kind", "message", "path", "sentence", "remedy"),
    [
        ("Failed", "'slow' not found in `markers` configuration option", "",
         "pytest accepts only declared marks (--strict-markers), and 'slow' is not declared",
         "Add 'slow' to `markers` in pytest's configuration."),
        ("ImportError", "/x/site-packages/PIL/a.so: version `GLIBC_2.33' not found", "",
         "the package 'Pillow' was built for a newer system than this one (it needs GLIBC_2.33)",
         "Build it here: /py -m pip install --force-reinstall --no-binary :all: Pillow"),
        ("ImportError", "/w/fast.so: undefined symbol: go", "",
         "the extension /w/fast.so cannot be loaded (undefined symbol: go)",
         "Rebuild it: /py -m pip install --force-reinstall -e ."),
        ("VersionConflict", "(foo 1.0 (/x), Requirement.parse('foo>=2'), {'bar'})", "",
         "foo 1.0 is installed in /py, and foo>=2 is required", "Install it: /py -m pip install 'foo>=2'"),
        ("PackageNotFoundError", "No package metadata was found for zope.x", "",
         "the package 'zope.x' is missing in /py", "Install it: /py -m pip install zope.x"),
        ("ImportError", "cannot import name 'StrEnum' from 'enum' (/usr/lib/enum.py)", "m.py",
         "'StrEnum' was added to 'enum' with Python 3.11, and /py is 3.10",
         "Set `interpreter` to a newer Python, or create .venv with one."),
        ("AttributeError", "module 'numpy' has no attribute 'float'", "/x/site-packages/pandas/core.py",
         "the installed 'pandas' is incompatible with the installed 'numpy', which has no 'float'",
         "Upgrade both: /py -m pip install --upgrade pandas numpy"),
        ("ModuleNotFoundError", "No module named 'asyncore'", "m.py", "Python 3.10 (/py) has no module 'asyncore'",
         "/py -m pip install pyasyncore, or set `interpreter` to an older Python."),
        ("ModuleNotFoundError", "No module named 'tkinter'", "m.py", "Python 3.10 (/py) has no module 'tkinter'",
         "Install it: apt install python3-tk (for that Python), or set `interpreter` to another Python."),
        ("FileNotFoundError", "[Errno 2] No such file or directory: 'podman'", "/usr/lib/subprocess.py",
         "the program 'podman' is missing, and there is no container engine inside the sandbox",
         "Skip the test if there is none, or use a test double."),
        ("ImportError", "Cannot load backend 'TkAgg' which requires the 'tk' interactive framework", "",
         "the test needs a display, and the sandbox has none",
         'Run without one: export MPLBACKEND=Agg and set sandbox.env = ["MPLBACKEND"]'),
        ("LookupError", "Resource punkt not found.", "/x/site-packages/nltk/data.py", "NLTK's data 'punkt' is missing",
         "Download it: /py -m nltk.downloader punkt"),
        ("ConnectionError", "Cannot connect to host localhost:6379", "",
         "the test needs Redis at localhost:6379, which is not reachable inside the sandbox",
         'Have greenloop start one for the tests: sandbox.services = ["redis"]'),
        ("ConnectionError", "Cannot connect to host localhost:9092", "",
         "the test needs Kafka at localhost:9092, which is not reachable inside the sandbox",
         "Start it and set sandbox.network = true, or use a test double."),
        ("PermissionError", "[Errno 13] Permission denied: '/var/log/x'", "m.py",
         "the test has no permission for /var/log/x, which is outside the workspace",
         "Make the test use tmp_path instead."),
        ("OperationalError", "no such table: a\nmore", "/x/site-packages/django/db/migrations/executor.py",
         "the migrations of Django fail (OperationalError: no such table: a)",
         "Correct the migration that this names: /py manage.py migrate, with an empty database."),
        ("MemoryError", "", "test_m.py", "the test exceeds the memory limit",
         "Allow more (in MiB), for example: sandbox.memory = 4096"),
    ],
)  # fmt: skip
def test_a_row_fills_in_its_sentence_and_remedy(kind, message, path, sentence, remedy):
    frames = (Frame(path=path, line=1, function="f"),) if path else ()
    fault = faults.find_environment_fault([Failure(type=kind, message=message, frames=frames)], ENVIRONMENT)
    assert fault == faults.Fault(sentence=f"This fails because {sentence}.", remedy=remedy)


@pytest.mark.parametrize(
    ("files", "folder", "remedy"),
    [
        (["packages/api/pyproject.toml", "packages/api/src/api/__init__.py"], "packages/api/src",
         f"Install its project: `/py -m pip install -e packages/api`. Or {NAME_THE_FOLDER}"),
        (["src/api.py"], "src", NAME_THE_FOLDER.capitalize()),
    ],
)  # fmt: skip
def test_sources_that_are_not_installed_are_named(tmp_path, files, folder, remedy):
    for path in files:
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).touch()
    failure = Failure(type="ModuleNotFoundError", message="No module named 'api'")
    fault = faults.find_environment_fault([failure], ENVIRONMENT, root=tmp_path)
    assert fault == faults.Fault(
        sentence=f"This fails because 'api' is in {folder}, from which the tests do not import.", remedy=remedy
    )


@pytest.mark.parametrize(
    "text",
    ["[tool.uv.sources]\nmy-api = {workspace = true}\n", "[tool.poetry.dependencies]\nmy-api = {path = '../api'}\n"],
)
def test_a_project_of_the_same_workspace_is_not_fetched_from_an_index(tmp_path, text):
    (tmp_path / "pyproject.toml").write_text(text)
    failure = Failure(type="ModuleNotFoundError", message="No module named 'my_api'")
    fault = faults.find_environment_fault([failure], ENVIRONMENT, root=tmp_path)
    assert fault is not None
    assert fault.sentence.endswith(
        "'my_api', which pyproject.toml names by its folder or workspace, is not installed in /py."
    )
    assert "pip install" not in fault.remedy


def test_a_link_out_of_the_workspace_is_named(tmp_path):
    (tmp_path / "root").mkdir()
    (tmp_path / "m.py").touch()
    (tmp_path / "root" / "m.py").symlink_to(tmp_path / "m.py")
    failure = Failure(type="ModuleNotFoundError", message="No module named 'm'")
    fault = faults.find_environment_fault([failure], ENVIRONMENT, root=tmp_path / "root")
    assert f"because m.py is a link to {tmp_path / 'm.py'}, outside of the workspace" in fault.sentence


@pytest.mark.parametrize(
    ("killed", "output", "sentence", "remedy"),
    [
        ("memory", "", "importing the tests exceeds the memory limit",
         "Allow more (in MiB), for example: sandbox.memory = 4096"),
        ("", "error: unrecognized arguments: --cov=m\n  inifile: /w/tox.ini",
         "tox.ini gives pytest the option --cov of pytest-cov, which is missing in /py",
         "Install it: /py -m pip install pytest-cov"),
        ("", "error: unrecognized arguments: --odd\n  inifile: None",
         "pytest's configuration gives pytest the option --odd, which no plugin in /py knows",
         "Install the plugin that has it, or remove --odd from `addopts`."),
        ("", "ERROR: /w/pytest.ini:3: unexpected line", "pytest cannot read /w/pytest.ini (3: unexpected line)",
         "Correct that file."),
    ],
)  # fmt: skip
def test_a_run_that_collected_nothing_is_explained(killed, output, sentence, remedy):
    fault = faults.explain_start(Execution(killed=killed, output=output), ENVIRONMENT)
    assert fault == faults.Fault(sentence=f"This fails because {sentence}.", remedy=remedy)


@pytest.mark.parametrize(
    ("paths", "caller"),
    [
        (["m.py", "/x/site-packages/numpy/__init__.py"], None),
        (["m.py"], None),
        (["m.py", "/x/site-packages/pandas/core.py", "/x/site-packages/numpy/__init__.py"], "pandas"),
    ],
)
def test_only_another_package_is_incompatible_with_one_that_lost_a_name(paths, caller):
    frames = tuple(Frame(path=path, line=1, function="f") for path in paths)
    failure = Failure(type="AttributeError", message="module 'numpy' has no attribute 'float'", frames=frames)
    fault = faults.find_environment_fault([failure], ENVIRONMENT)
    assert (fault.remedy.split()[-2] if fault else None) == caller
