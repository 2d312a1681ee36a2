"""Environments with one fault each: every fault is named in one sentence with its remedy, and no model is asked.

The faults are real ones: binaries are patched, packages are installed half or in another version, limits are run into.
Where a program or package is not to be had here, a package of the same name in the environment does what that does.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
import pytest

from greenloop.core.errors import CannotVerifyError
from greenloop.core.records.outcome import StopReason
from greenloop.engine import refine
from greenloop.project import configuration

pytestmark = [pytest.mark.needs("bubblewrap"), pytest.mark.timeout(120)]

TEST = "from m import f\n\n\ndef test_f():\n    assert f() == 1\n"
CODE = "def f():\n    return 2\n"


class Unasked:
    """A model that counts how often it is asked."""

    name = "unasked"

    def __init__(self) -> None:
        self.calls = 0

    async def complete(self, request: Any, on_token: Callable[[str], None]) -> Any:
        self.calls += 1
        raise CannotVerifyError("The model was asked.")

    def count_tokens(self, text: str) -> int:
        return len(text) // 4

    async def close(self) -> None:
        """Nothing is open."""


class Venv:
    """A virtual environment of this Python without packages, and what is put into it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
        major, minor = sys.version_info[:2]
        self.site = folder / "lib" / f"python{major}.{minor}" / "site-packages"

    def package(self, name: str, version: str, files: Mapping[str, str | bytes]) -> None:
        info = self.site / f"{name}-{version}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        for path, text in files.items():
            file = self.site / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(text.encode() if isinstance(text, str) else text)


def extension(old: bytes, new: bytes) -> Mapping[str, str | bytes]:
    """A package `quick` around a real extension module in which one text of the binary is another."""
    assert len(old) == len(new)
    data = next(Path(psutil.__file__).parent.glob("_psutil_linux*.so")).read_bytes()
    assert old in data
    return {"quick/__init__.py": "from . import _psutil_linux\n", "quick/_psutil_linux.abi3.so": data.replace(old, new)}


def thrown(name: str, kind: str, message: str) -> Mapping[str, str]:
    """A package whose function `go` raises what the package of that name raises."""
    return {
        f"{name}/__init__.py": f"class {kind}(Exception):\n    pass\n\n\ndef go():\n    raise {kind}({message!r})\n"
    }


@dataclass(frozen=True, kw_only=True)
class Seed:
    """One fault: the project's files, what is installed beside it, and what must be said."""

    says: str
    remedy: str
    files: Mapping[str, str | bytes] = field(default_factory=dict)
    package: tuple[str, str, Mapping[str, str | bytes]] | None = None
    settings: Mapping[str, object] = field(default_factory=dict)
    target: str = "test_m.py::test_f"


def using(module: str, call: str) -> Mapping[str, str]:
    return {"m.py": f"import {module}\n\n\ndef f():\n    return {module}.{call}\n"}


SEEDS = {
    # packages
    "package missing": Seed(
        says="the package 'requests' is missing in", remedy="-m pip install requests", files=using("requests", "get(1)")
    ),
    "package missing in conftest": Seed(
        says="'SQLAlchemy'".lower(), remedy="pip install sqlalchemy", files={"conftest.py": "import sqlalchemy\n"}
    ),
    "package too old for a name": Seed(
        says="installed 'pydantic' 1.10.0 has no 'field_validator'",
        remedy="pip install --upgrade pydantic",
        files={"m.py": "from pydantic import field_validator\n\n\ndef f():\n    return 2\n"},
        package=("pydantic", "1.10.0", {"pydantic/__init__.py": "def root():\n    pass\n"}),
    ),
    "package too old for a module": Seed(
        says="installed 'rich' 9.1 has no module 'rich.pretty'",
        remedy="pip install --upgrade rich",
        files={"m.py": "import rich.pretty\n\n\ndef f():\n    return 2\n"},
        package=("rich", "9.1", {"rich/__init__.py": ""}),
    ),
    "packages that do not fit each other": Seed(
        says="'pandas' is incompatible with the installed 'numpy', which has no 'float'",
        remedy="--upgrade pandas numpy",
        files=using("pandas", "x()"),
        package=(
            "pandas",
            "1.0",
            {"pandas/__init__.py": "import numpy\n\nkind = numpy.float\n", "numpy/__init__.py": ""},
        ),
    ),
    "version conflict": Seed(
        says="tokenizers 0.13.3 is installed",
        remedy="pip install 'tokenizers>=0.14,<0.19'",
        files=using("transformers", "go()"),
        package=(
            "transformers",
            "4",
            thrown(
                "transformers",
                "ImportError",
                "tokenizers>=0.14,<0.19 is required for a normal functioning of this module, but found "
                "tokenizers==0.13.3.",
            ),
        ),
    ),
    "project not installed": Seed(
        says="this project itself is not installed",
        remedy="pip install -e .",
        files={
            "pyproject.toml": '[project]\nname = "my.project"\nversion = "1"\n',
            "m.py": "from importlib.metadata import version\n\nHERE = version('my-project')\n\n\ndef f():\n    return 2\n",
        },
    ),
    # binaries
    "C library missing": Seed(
        says="the system library libq.so.6 is missing",
        remedy="apt-file search libq.so.6",
        files=using("quick", "x()"),
        package=("quick", "1", extension(b"\0libc.so.6\0", b"\0libq.so.6\0")),
    ),
    "extension broken": Seed(
        says="the binary part of the package 'quick' is incompatible (undefined symbol: PyModule_Erased",
        remedy="--force-reinstall --no-cache-dir quick",
        files=using("quick", "x()"),
        package=("quick", "1", extension(b"\0PyModule_Create2\0", b"\0PyModule_Erased2\0")),
    ),
    "extension of another architecture": Seed(
        says="is incompatible (invalid ELF header)",
        remedy="--force-reinstall --no-cache-dir quick",
        files=using("quick", "x()"),
        package=("quick", "1", extension(b"\x7fELF", b"\xcf\xfa\xed\xfe")),
    ),
    "extension of another Python": Seed(
        says="the package 'quick' was built for another Python (_fast.cpython-36m-x86_64-linux-gnu.so)",
        remedy="--force-reinstall",
        files=using("quick", "x()"),
        package=(
            "quick",
            "1",
            {"quick/__init__.py": "import quick._fast\n", "quick/_fast.cpython-36m-x86_64-linux-gnu.so": b"\x7fELF"},
        ),
    ),
    # pytest's own
    "plugin's fixture": Seed(
        says="'pytest-mock' is missing",
        remedy="pip install pytest-mock",
        files={"test_m.py": "from m import f\n\n\ndef test_f(mocker):\n    assert f() == 1\n"},
    ),
    "plugin's option": Seed(
        says="pytest.ini gives pytest the option --cov of pytest-cov",
        remedy="pip install pytest-cov",
        files={"pytest.ini": "[pytest]\naddopts = --cov=m --cov-report=term\n"},
    ),
    "option of nobody": Seed(
        says="the option --no-such-thing, which no plugin in",
        remedy="remove --no-such-thing from `addopts`",
        files={"pytest.ini": "[pytest]\naddopts = --no-such-thing\n"},
    ),
    "plugin required": Seed(
        says="requires the plugin pytest-xdist",
        remedy="pip install 'pytest-xdist'",
        files={"pytest.ini": "[pytest]\nrequired_plugins = pytest-xdist\n"},
    ),
    "pytest too old": Seed(
        says="requires pytest 99.0",
        remedy="pip install 'pytest>=99.0'",
        files={"pytest.ini": "[pytest]\nminversion = 99.0\n"},
    ),
    "mark of a plugin": Seed(
        says="'pytest-asyncio' is missing",
        remedy="pip install pytest-asyncio",
        files={
            "pytest.ini": "[pytest]\naddopts = --strict-markers\n",
            "test_m.py": "import pytest\nfrom m import f\n\n\n@pytest.mark.asyncio\ndef test_f():\n    assert f() == 1\n",
        },
    ),
    # what the sandbox closes
    "variable missing": Seed(
        says="the environment variable APP_TOKEN_FILE is not set",
        remedy='sandbox.env = ["APP_TOKEN_FILE"]',
        files={"m.py": "import os\n\nFILE = os.environ['APP_TOKEN_FILE']\n\n\ndef f():\n    return FILE\n"},
    ),
    "variable missing, said by a library": Seed(
        says="the environment variable SECRET_KEY is not set",
        remedy='sandbox.env = ["SECRET_KEY"]',
        files=using("decouple", "go()"),
        package=(
            "decouple",
            "3",
            thrown(
                "decouple",
                "UndefinedValueError",
                "SECRET_KEY not found. Declare it as envvar or define a default value.",
            ),
        ),
    ),
    "network": Seed(
        says="needs network access",
        remedy="sandbox.network = true",
        files={
            "m.py": "import urllib.request\n\n\ndef f():\n    return urllib.request.urlopen('http://example.com').status\n"
        },
    ),
    "network by number": Seed(
        says="needs network access",
        remedy="sandbox.network = true",
        files={
            "m.py": "import socket\n\n\ndef f():\n    return socket.create_connection(('192.0.2.1', 80), timeout=5)\n"
        },
    ),
    "database not running": Seed(
        says="the test needs PostgreSQL at localhost:5432",
        remedy='sandbox.services = ["postgres"]',
        files={"m.py": "import socket\n\n\ndef f():\n    return socket.create_connection(('localhost', 5432))\n"},
    ),
    "hidden key file": Seed(
        says="service.key, which is hidden from tests",
        remedy='sandbox.expose = ["service.key"]',
        files={
            "service.key": '{"id": 1}\n',
            "m.py": "import json\n\n\ndef f():\n    with open('service.key') as file:\n        return json.load(file)['id']\n",
        },
    ),
    "hidden .env": Seed(
        says=".env, which is hidden from tests",
        remedy='sandbox.expose = [".env"]',
        files={
            ".env": "MODE=1\n",
            "m.py": "def f():\n    rows = [row.split('=') for row in open('.env')]\n    return int(dict(rows)['MODE'])\n",
        },
    ),
    "hidden git repository": Seed(
        says="the git repository, which is hidden",
        remedy='sandbox.expose = [".git"]',
        files={
            ".git/HEAD": "ref: refs/heads/main\n",
            "m.py": "import subprocess\n\n\ndef f():\n"
            "    return subprocess.run(['git', 'rev-parse', 'HEAD'], check=True, capture_output=True).stdout\n",
        },
    ),
    "file outside the workspace": Seed(
        says="is outside the workspace",
        remedy="Put the file into the workspace",
        files={"m.py": "def f():\n    return len(open('@OUTSIDE@').read())\n"},
    ),
    "path that is read-only": Seed(
        says="writes to /usr/share/app.state, which is read-only",
        remedy="tmp_path",
        files={"m.py": "def f():\n    return open('/usr/share/app.state', 'w').write('x')\n"},
    ),
    "port of root": Seed(
        says="opens a port below 1024",
        remedy="port 0",
        files={
            "m.py": "import socket\n\n\ndef f():\n    with socket.socket() as s:\n        s.bind(('127.0.0.1', 80))\n"
        },
    ),
    "rights of root": Seed(
        says="needs root privileges",
        remedy="os.getuid()",
        files={
            "m.py": "import os, tempfile\n\n\ndef f():\n    file = tempfile.mkstemp()[1]\n    os.chown(file, 0, 0)\n    return 1\n"
        },
    ),
    # the machine
    "program missing": Seed(
        says="the program 'pdftotext' is missing",
        remedy="apt install poppler-utils",
        files={"m.py": "import subprocess\n\n\ndef f():\n    return subprocess.check_output(['pdftotext', '-v'])\n"},
    ),
    "program missing in a shell": Seed(
        says="the program 'tesseract' is missing",
        remedy="apt install tesseract-ocr",
        files={
            "m.py": "import subprocess\n\n\ndef f():\n    return subprocess.check_output('tesseract --version', shell=True)\n"
        },
    ),
    "container engine": Seed(
        says="needs Docker",
        remedy="sandbox.services = ['docker:IMAGE']",
        files={
            "m.py": "import socket\n\n\ndef f():\n    with socket.socket(socket.AF_UNIX) as s:\n"
            "        s.connect('/var/run/docker.sock')\n"
        },
    ),
    "locale missing": Seed(
        says="does not have the locale tlh_QO.UTF-8",
        remedy="localedef -i tlh_QO -f UTF-8 tlh_QO.UTF-8",
        files={"m.py": "import locale\n\n\ndef f():\n    return locale.setlocale(locale.LC_ALL, 'tlh_QO.UTF-8')\n"},
    ),
    "time zone data missing": Seed(
        says="no data for the time zone Europe/Berlin",
        remedy="pip install tzdata",
        files={
            "conftest.py": "import zoneinfo\n\nzoneinfo.reset_tzpath(to=[])\n",
            "m.py": "import zoneinfo\n\n\ndef f():\n    return zoneinfo.ZoneInfo('Europe/Berlin')\n",
        },
    ),
    "display missing": Seed(
        says="needs a display",
        remedy="xvfb",
        files=using("pyglet", "go()"),
        package=("pyglet", "2", thrown("pyglet", "NoSuchDisplayException", 'Cannot connect to "None"')),
    ),
    "Django not configured": Seed(
        says="Django settings are not configured",
        remedy="`DJANGO_SETTINGS_MODULE`",
        files=using("django", "go()"),
        package=(
            "django",
            "5",
            thrown(
                "django",
                "ImproperlyConfigured",
                "Requested setting DATABASES, but settings are not configured. You must either define the environment "
                "variable DJANGO_SETTINGS_MODULE or call settings.configure() before accessing settings.",
            ),
        ),
    ),
    "downloaded model missing": Seed(
        says="spaCy's model 'en_core_web_sm' is missing",
        remedy="-m spacy download en_core_web_sm",
        files=using("spacy", "go()"),
        package=(
            "spacy",
            "3",
            thrown(
                "spacy",
                "OSError",
                "[E050] Can't find model 'en_core_web_sm'. It doesn't seem to be a Python package.",
            ),
        ),
    ),
    # Python
    "Python too old for the library": Seed(
        says="'fma' was added to 'math' with Python 3.13",
        remedy="Set `interpreter`",
        files={"m.py": "from math import fma\n\n\ndef f():\n    return fma(1, 1, 1)\n"},
    ),
    "Python too old for the syntax": Seed(
        says="m.py:4 uses syntax of Python 3.14 or newer",
        remedy="Set `interpreter`",
        files={"m.py": "name = 'x'\n\n\nwhole = t'{name}'\n\n\ndef f():\n    return whole\n"},
    ),
    "module removed from Python": Seed(
        says="has no module 'formatter'",
        remedy="Set `interpreter`",
        files={"m.py": "import formatter\n\n\ndef f():\n    return formatter\n"},
    ),
    # limits
    "memory at import": Seed(
        says="the memory limit",
        remedy="sandbox.memory",
        files={"m.py": "TABLE = bytearray(900 << 20)\n\n\ndef f():\n    return len(TABLE)\n"},
        settings={"sandbox.memory": 256},
    ),
    "threads of a fixture": Seed(
        says="the limit of processes and threads",
        remedy="sandbox.processes",
        files={
            "conftest.py": "import threading\nimport pytest\n\n\n@pytest.fixture(autouse=True)\ndef pool():\n"
            "    stop = threading.Event()\n    workers = [threading.Thread(target=stop.wait) for _ in range(60)]\n"
            "    try:\n        for worker in workers:\n            worker.start()\n        yield\n"
            "    finally:\n        stop.set()\n"
        },
        settings={"sandbox.processes": 16},
    ),
    "disk of a fixture": Seed(
        says="fills the sandbox's disk",
        remedy="write less",
        files={
            "conftest.py": "import pytest\n\n\n@pytest.fixture(autouse=True)\ndef big(tmp_path):\n"
            "    for number in range(100):\n        (tmp_path / str(number)).write_bytes(bytes(4 << 20))\n"
        },
    ),
    "time of the imports": Seed(
        says="importing the tests took longer than",
        remedy="sandbox.longest",
        files={"conftest.py": "import time\n\ntime.sleep(60)\n"},
        settings={"sandbox.seconds": 1, "sandbox.longest": 2},
    ),
}


@dataclass
class Told:
    """What a request ended with."""

    text: str
    calls: int
    solved: bool = False


@pytest.fixture
def play(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.delenv("GREENLOOP_INTERPRETER", raising=False)

    async def run(seed: Seed, venv: Venv | None = None, python: str = "") -> Told:
        root = tmp_path / "project"
        outside = tmp_path / "outside.csv"
        outside.write_text("1,2\n")
        for name, text in {"m.py": CODE, "test_m.py": TEST, **seed.files}.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            data = text.encode() if isinstance(text, str) else text
            path.write_bytes(data.replace(b"@OUTSIDE@", str(outside).encode()))
        interpreter = python or str((venv or Venv(tmp_path / "venv")).folder)
        found, warnings = configuration.load(
            root,
            command_line={
                "model": "local",
                "preset": "plain",
                "sandbox.kind": "bubblewrap",
                "interpreter": interpreter,
                **seed.settings,
            },
        )
        assert not warnings
        model = Unasked()
        request = refine.RefineRequest(root=root, target=seed.target)
        try:
            outcome = await refine.refine(request, settings=found, emit=lambda _event: None, model=model)
        except CannotVerifyError as error:
            return Told(f"{error} {error.remedy}", model.calls)
        if outcome.reason is not StopReason.ENVIRONMENT:
            return Told(f"{outcome.reason}: {outcome.message}", model.calls, outcome.solved)
        return Told(outcome.message, model.calls)

    return run


@pytest.mark.parametrize("name", SEEDS)
async def test_a_seeded_fault_is_named_with_its_remedy_and_no_model_is_asked(play, tmp_path, name):
    seed = SEEDS[name]
    if name.startswith("Python too old") and sys.version_info >= (3, 13):
        pytest.skip("this Python is too new")
    venv = Venv(tmp_path / "venv")
    if seed.package:
        venv.package(*seed.package)
    told = await play(seed, venv)
    assert seed.says in told.text
    assert seed.remedy in told.text
    assert told.calls == 0
    assert "greenloop doctor" not in told.text


FUNCTION = 'def f():\n    """Two.\n\n    >>> f()\n    1\n    """\n    return 2\n'


@pytest.mark.story("a fault of the environment is named and no model asked")
@pytest.mark.parametrize(
    ("files", "says"),
    [
        ({"m.py": f"import requests\n\n\n{FUNCTION}"}, "the package 'requests' is missing"),
        ({"m.py": FUNCTION, "conftest.py": "import sqlalchemy\n"}, "the package 'sqlalchemy' is missing"),
        ({"m.py": FUNCTION, "pytest.ini": "[pytest]\naddopts = --cov=m\n"}, "the option --cov of pytest-cov"),
        (
            {"m.py": CODE, "test_m.py": f"import requests\n{TEST}"},
            "the package 'requests' is missing",
        ),
    ],
    ids=["examples of a module", "conftest", "option", "the only test"],
)
async def test_a_function_without_a_test_that_runs_for_the_environments_sake(play, files, says):
    told = await play(Seed(says=says, remedy="", files=files, target="m.py::f"))
    assert says in told.text
    assert told.calls == 0


@pytest.mark.story("a fault of the environment is named and no model asked")
async def test_an_environment_whose_base_python_is_gone(play, tmp_path):
    venv = Venv(tmp_path / "venv")
    (venv.folder / "pyvenv.cfg").write_text("home = /opt/gone/bin\nversion = 3.11.7\n")
    told = await play(Seed(says="", remedy=""), venv)
    assert "The Python /opt/gone/bin of the environment" in told.text
    assert "python3 -m venv" in told.text
    assert told.calls == 0


async def test_an_environment_whose_pytest_is_broken(play, tmp_path):
    venv = Venv(tmp_path / "venv")
    venv.package("pytest", "9.0", {"pytest/__init__.py": "import pluggy_of_old\n"})
    told = await play(Seed(says="", remedy=""), venv)
    assert "pytest cannot be imported" in told.text
    assert "-m pip install pluggy_of_old" in told.text
    assert told.calls == 0


# -- what the code got wrong ----------------------------------------------------------------------------------------

OWN = {
    "a module misspelt": Seed(
        says="'helpres'", remedy="", files={"helpers.py": "X = 1\n", "m.py": "import helpres\n\n\ndef f():\n    pass\n"}
    ),
    "a key of a dictionary": Seed(says="", remedy="", files={"m.py": "def f():\n    return {'a': 1}['HOME_PAGE']\n"}),
    "an error that the code raises": Seed(
        says="", remedy="", files={"m.py": "def f():\n    raise ConnectionError('Connection refused by the queue')\n"}
    ),
    "an error of the network that the code raises": Seed(
        says="", remedy="", files={"m.py": "def f():\n    raise OSError(101, 'Network is unreachable')\n"}
    ),
    "a variable that the code demands": Seed(
        says="", remedy="", files={"m.py": "def f():\n    raise ValueError('environment variable MODE is not set')\n"}
    ),
    "a file that does not exist": Seed(
        says="", remedy="", files={"m.py": "def f():\n    return open('data/none.csv').read()\n"}
    ),
    "a name not written yet": Seed(says="", remedy="", files={"m.py": "X = 1\n"}),
    "a module not written yet": Seed(
        says="", remedy="", files={"test_m.py": "from shop import f\n\n\ndef test_f():\n    assert f() == 1\n"}
    ),
    "memory without end": Seed(
        says="",
        remedy="",
        files={"m.py": "def f():\n    return bytearray(900 << 20)\n"},
        settings={"sandbox.memory": 256},
    ),
    "a loop without end": Seed(
        says="",
        remedy="",
        files={"m.py": "def f():\n    while True:\n        pass\n"},
        settings={"sandbox.seconds": 1, "sandbox.longest": 100},
    ),
    "a server at another port": Seed(
        says="",
        remedy="",
        files={
            "m.py": "import socket\n\n\ndef f(port):\n    socket.create_connection(('127.0.0.1', 1))\n    return 1\n",
            "test_m.py": "import socket\nfrom m import f\n\n\ndef test_f():\n    with socket.create_server(('', 0)) as s:\n"
            "        assert f(s.getsockname()[1]) == 1\n",
        },
    ),
    "a time zone misspelt": Seed(
        says="",
        remedy="",
        files={"m.py": "import zoneinfo\n\n\ndef f():\n    return zoneinfo.ZoneInfo('Europe/Berln')\n"},
    ),
}


@pytest.mark.parametrize("name", OWN)
async def test_what_the_code_got_wrong_is_not_the_environments_fault(play, name):
    told = await play(OWN[name])
    if OWN[name].says:  # nothing of it can run, so no model is asked either
        assert "cannot be collected" in told.text
        assert OWN[name].says in told.text
        assert "pip install" not in told.text
    else:
        assert told.calls == 1, told.text


def test_there_are_at_least_twenty_kinds():
    assert len(SEEDS) >= 20
