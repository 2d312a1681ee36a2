"""Failures that only the environment can cure are named with the one cure."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from greenloop.project.environment.faults import find_environment_fault
from greenloop_sandbox import Environment, Failure, Frame

PYTHON = Environment(
    executable=Path("/w/.venv/bin/python"),
    prefix=Path("/w/.venv"),
    base=Path("/usr"),
    version=(3, 11),
    source=".venv",
    has_pytest=True,
)


def failure(kind, message, *frames):
    return Failure(type=kind, message=message, frames=tuple(Frame(path=path, line=1, function="f") for path in frames))


@pytest.mark.parametrize(
    ("kind", "message", "frames", "sentence", "remedy"),
    [
        (
            "ModuleNotFoundError",
            "No module named 'numpy'",
            ("m.py",),
            "'numpy' is missing in /w/.venv/bin/python",
            "pip install numpy",
        ),
        ("ModuleNotFoundError", "No module named 'yaml'", ("test_m.py",), "'PyYAML'", "pip install PyYAML"),
        ("ModuleNotFoundError", "No module named 'slugs.text'", ("m.py",), "'slugs'", "pip install slugs"),
        ("ModuleNotFoundError", "No module named 'unheard_of'", ("test_m.py",), "module 'unheard_of'", "or write it"),
        ("ModuleNotFoundError", "No module named 'distutils'", ("m.py",), "Python 3.11", "`interpreter`"),
        (
            "ImportError",
            "libGL.so.1: cannot open shared object file: No such file",
            (),
            "libGL.so.1",
            "apt install libgl1",
        ),
        ("FixtureLookupError", "fixture 'mocker' not found", (), "'pytest-mock'", "pip install pytest-mock"),
        ("FixtureLookupError", "fixture 'my_own' not found", (), "the fixture 'my_own'", "Define it"),
        ("NameError", "name 'pytest' is not defined", ("test_m.py",), "the name 'pytest'", "Import or define it"),
        ("Failed", "async def functions are not natively supported.", (), "'pytest-asyncio'", "pip install"),
        ("gaierror", "[Errno -3] Temporary failure in name resolution", (), "network", "sandbox.network = true"),
        (
            "URLError",
            "<urlopen error [Errno -3] Temporary failure in name resolution>",
            (),
            "network",
            "sandbox.network",
        ),
        ("OSError", "[Errno 101] Network is unreachable", (), "network", "sandbox.network = true"),
        ("ConnectionRefusedError", "[Errno 111] Connection refused", (), "a service", "Start it"),
        (
            "ConnectionError",
            "HTTPConnectionPool(host='localhost', port=8080): Max retries: Connection refused",
            (),
            "localhost:8080",
            "Start it",
        ),
        ("KeyError", "'APP_MODE'", ("m.py", "<frozen os>"), "APP_MODE", 'sandbox.env = ["APP_MODE"]'),
        ("KeyError", "'APP_MODE'", ("m.py", "/usr/lib/python3.11/os.py"), "APP_MODE", "sandbox.env"),
        ("OSError", "[Errno 30] Read-only file system: '/w/out.txt'", (), "/w/out.txt", "tmp_path"),
        ("OSError", "[Errno 28] No space left on device", (), "disk", "less"),
        (
            "FileNotFoundError",
            "[Errno 2] No such file or directory: 'git'",
            ("/usr/lib/python3.11/subprocess.py",),
            "'git'",
            "Install",
        ),
        (
            "FileNotFoundError",
            "[Errno 2] No such file or directory: '/w/.env'",
            (),
            ".env is hidden",
            'sandbox.expose = [".env"]',
        ),
    ],
)
def test_faults(tmp_path, kind, message, frames, sentence, remedy):
    fault = find_environment_fault([failure(kind, message, *frames)], PYTHON, root=tmp_path)
    assert fault is not None
    assert sentence in fault.sentence
    assert remedy in fault.remedy


def test_a_fixture_with_nearly_this_name_is_told(tmp_path):
    text = "E  fixture 'tmp_pth' not found\n>  available fixtures: cache, tmp_path, tmp_path_factory\n"
    missing = replace(failure("FixtureLookupError", ""), text=text)
    fault = find_environment_fault([missing], PYTHON, root=tmp_path)
    assert fault is not None
    assert fault.remedy.startswith("Did you mean 'tmp_path'? ")


@pytest.mark.parametrize(
    ("kind", "message", "frames"),
    [
        ("AssertionError", "assert 1 == 2", ()),
        ("AssertionError", "expected 'Connection refused'", ()),
        ("KeyError", "'name'", ("m.py",)),
        ("FileNotFoundError", "[Errno 2] No such file or directory: 'data.csv'", ("m.py",)),
        ("ModuleNotFoundError", "No module named 'm.sub'", ("test_m.py",)),
        ("NotImplementedError", "", ("m.py",)),
        ("NameError", "name 'x' is not defined", ("test_m.py", "m.py")),
    ],
)
def test_what_code_can_cure_is_no_fault(tmp_path, kind, message, frames):
    (tmp_path / "m.py").touch()
    assert find_environment_fault([failure(kind, message, *frames)], PYTHON, root=tmp_path) is None


def test_one_failure_of_the_codes_own_is_enough_to_go_on(tmp_path):
    network = failure("gaierror", "[Errno -3] Temporary failure in name resolution")
    assert find_environment_fault([network, failure("AssertionError", "")], PYTHON, root=tmp_path) is None
    assert find_environment_fault([], PYTHON) is None


def test_with_the_network_open_the_cure_is_another():
    network = failure("gaierror", "[Errno -2] Name or service not known")
    fault = find_environment_fault([network], PYTHON, network=True)
    assert fault is not None
    assert "sandbox.network" not in fault.remedy
