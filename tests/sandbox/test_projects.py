"""Projects of many kinds: every test has the outcome in the sandbox that it has on the host."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

from greenloop.engine import sandbox_spec
from greenloop.project import configuration
from greenloop_sandbox import Execution, TestRun, case_results
from greenloop_sandbox.report.cases import collect_errors

# The first test waits until a dozen packages are installed.
pytestmark = [pytest.mark.needs("bubblewrap"), pytest.mark.needs("network"), pytest.mark.timeout(900)]

BENCHMARKS = Path(__file__).resolve().parents[2] / "lab/benchmarks"
PLUGINS = (
    "pytest", "anyio", "django", "hypothesis", "markupsafe", "pytest-asyncio", "pytest-cov", "pytest-django",
    "pytest-mock", "pytest-randomly", "pytest-rerunfailures", "pytest-timeout", "pytest-xdist",
)  # fmt: skip
SECONDS = 60.0

GOOD_AND_BAD = "def test_good():\n    pass\n\ndef test_bad():\n    assert 1 == 2\n"
PACKAGE = {"pkg/__init__.py": "", "pkg/m.py": "def double(n):\n    return 2 * n\n"}
USES = "from pkg.m import double\n\ndef test_double():\n    assert double(2) == 4\n\ndef test_bad():\n    assert double(2) == 5\n"


def pyproject(text: str) -> dict[str, str]:
    return {"pyproject.toml": f"[tool.pytest.ini_options]\n{text}\n"}


# trait -> the files of a project that has it
PROJECTS: dict[str, dict[str, str]] = {
    "coverage": {
        **pyproject('addopts = "--cov=pkg --cov-branch --cov-report=term-missing --cov-report=xml --cov-fail-under=99"'),
        **PACKAGE,
        "test_m.py": USES,
    },
    "xdist": {**pyproject('addopts = "-n 2 --dist loadscope"'), **PACKAGE, "test_m.py": USES},
    "random order": {**pyproject('addopts = "-p randomly -p no:cacheprovider --randomly-seed=3"'), "test_a.py": GOOD_AND_BAD},
    "repeated failures": {
        **pyproject('addopts = "--reruns 2"'),
        "test_a.py": "calls = []\n\ndef test_third_time():\n    calls.append(1)\n    assert len(calls) == 1\n\n" + GOOD_AND_BAD,
    },
    "asyncio": {
        **pyproject('asyncio_mode = "auto"\nasyncio_default_fixture_loop_scope = "function"'),
        "test_a.py": """
            import asyncio, pytest

            @pytest.fixture
            async def number():
                await asyncio.sleep(0)
                yield 3

            async def test_good(number):
                assert number == 3

            async def test_server():
                async def serve(reader, writer):
                    writer.write(await reader.readline())
                    writer.close()
                server = await asyncio.start_server(serve, "127.0.0.1", 0)
                reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
                writer.write(b"x\\n")
                assert await reader.read() == b"x\\n"
                writer.close()
                server.close()

            async def test_process():
                process = await asyncio.create_subprocess_exec("/bin/echo", "x", stdout=asyncio.subprocess.PIPE)
                assert (await process.communicate())[0] == b"x\\n"

            async def test_bad(number):
                assert number == 4
        """,
    },
    "anyio": {
        "test_a.py": """
            import anyio, pytest
            pytestmark = pytest.mark.anyio

            @pytest.fixture
            def anyio_backend():
                return "asyncio"

            async def test_good():
                async with anyio.create_task_group() as group:
                    group.start_soon(anyio.sleep, 0)

            async def test_bad():
                with anyio.fail_after(0.05):
                    await anyio.sleep(30)
        """,
    },
    "django": {
        **pyproject('DJANGO_SETTINGS_MODULE = "site_settings"\npython_files = "test_*.py tests.py"'),
        "site_settings.py": """
            SECRET_KEY = "x"
            INSTALLED_APPS = ["django.contrib.auth", "django.contrib.contenttypes", "shop"]
            DATABASES = {"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": "db.sqlite3"}}
            USE_TZ = True
            TIME_ZONE = "Europe/Berlin"
            ROOT_URLCONF = "shop.urls"
        """,
        "shop/__init__.py": "",
        "shop/models.py": "from django.db import models\n\nclass Item(models.Model):\n    name = models.CharField(max_length=9)\n",
        "shop/urls.py": """
            from django.http import HttpResponse
            from django.urls import path
            urlpatterns = [path("x/", lambda request: HttpResponse("x"))]
        """,
        "shop/tests.py": """
            import pytest
            from django.test import TestCase
            from shop.models import Item

            class ItemTest(TestCase):
                def test_count(self):
                    Item.objects.create(name="a")
                    self.assertEqual(Item.objects.count(), 1)

                def test_bad(self):
                    self.assertEqual(Item.objects.count(), 1)

            @pytest.mark.django_db(transaction=True)
            def test_client(client):
                assert client.get("/x/").content == b"x"

            def test_no_database():
                Item.objects.count()
        """,
    },
    "time limits of the project": {
        **pyproject("timeout = 20\nfaulthandler_timeout = 15"),
        "test_a.py": "import time, pytest\n\n@pytest.mark.timeout(0.2)\ndef test_slow():\n    time.sleep(30)\n\n" + GOOD_AND_BAD,
    },
    "Hypothesis": {
        "test_a.py": """
            from hypothesis import given, settings, strategies as st

            @given(st.lists(st.integers()))
            def test_good(values):
                assert sorted(sorted(values)) == sorted(values)

            @given(st.integers())
            @settings(database=None)
            def test_bad(value):
                assert value < 100
        """,
    },
    "unittest": {
        "tests/__init__.py": "",
        "tests/test_a.py": """
            import asyncio, unittest

            def setUpModule():
                global ready
                ready = True

            class A(unittest.TestCase):
                @classmethod
                def setUpClass(cls):
                    cls.value = 3

                def test_good(self):
                    self.assertTrue(ready)
                    self.assertEqual(self.value, 3)

                def test_bad(self):
                    self.assertEqual(self.value, 4)

                @unittest.skip("later")
                def test_skipped(self): ...

                @unittest.expectedFailure
                def test_expected(self):
                    self.fail()

            class B(unittest.IsolatedAsyncioTestCase):
                async def test_async(self):
                    await asyncio.sleep(0)
        """,
    },
    "doctests of modules": {
        **pyproject('addopts = "--doctest-modules"\ndoctest_optionflags = "NORMALIZE_WHITESPACE ELLIPSIS"'),
        "pkg/__init__.py": "",
        "pkg/a.py": '''
            def double(n):
                """
                >>> double(2)
                4
                >>> [double(n) for n in range(20)]
                [0,   2, ...]
                """
                return 2 * n

            class A:
                """
                >>> A().one()
                2
                """
                def one(self):
                    return 1
        ''',
    },
    "doctests of texts": {
        **pyproject('addopts = "--doctest-glob=*.md"\ntestpaths = ["docs"]'),
        "docs/good.md": "# Title\n\n>>> 1 + 1\n2\n",
        "docs/bad.md": ">>> 1 + 1\n3\n",
        "test_not_asked_for.py": GOOD_AND_BAD,
    },
    "src layout": {
        **pyproject('pythonpath = ["src"]\ntestpaths = ["tests"]'),
        **{f"src/{name}": text for name, text in PACKAGE.items()},
        "tests/test_m.py": USES,
    },
    "importlib mode, same names": {
        **pyproject('addopts = "--import-mode=importlib"\npythonpath = "."'),
        **PACKAGE,
        "tests/a/test_m.py": USES,
        "tests/b/test_m.py": USES,
    },
    "namespace package": {
        **pyproject('pythonpath = "src"\nconsider_namespace_packages = true'),
        "src/company/product/m.py": "def double(n):\n    return 2 * n\n",
        "src/company/product/test_m.py": USES.replace("pkg.m", "company.product.m"),
    },
    "C extension": {
        "test_a.py": "import markupsafe._speedups as c\nimport markupsafe\n\ndef test_c():\n    assert markupsafe.escape('<') == '&lt;'\n"
    },
    "conftest at several levels": {
        "conftest.py": "import pytest\n\n@pytest.fixture\ndef value():\n    return 1\n\ndef pytest_addoption(parser):\n    parser.addoption('--mine', default='x')\n",
        "tests/conftest.py": "import pytest\n\n@pytest.fixture\ndef value(value):\n    return value + 1\n",
        "tests/deep/conftest.py": "import pytest\n\n@pytest.fixture\ndef value(value):\n    return value + 1\n",
        "tests/deep/test_a.py": "def test_value(value, request):\n    assert value == 3\n    assert request.config.getoption('--mine') == 'x'\n",
        "tests/test_a.py": "def test_value(value):\n    assert value == 3\n",
    },
    "plugins of the project": {
        **pyproject('addopts = "-p tools.first"'),
        "tools/__init__.py": "",
        "tools/first.py": "import pytest\n\n@pytest.fixture\ndef first():\n    return 1\n",
        "tools/second.py": "import pytest\n\n@pytest.fixture\ndef second():\n    return 2\n",
        "conftest.py": "pytest_plugins = ['tools.second', 'pytester']\n",
        "test_a.py": """
            def test_both(first, second):
                assert first + second == 3

            def test_pytester(pytester):
                pytester.makepyfile("def test_x(): pass")
                pytester.runpytest_inprocess("-p", "no:randomly").assert_outcomes(passed=1)

            def test_pytester_process(pytester):
                pytester.makepyfile("def test_x(): pass")
                pytester.runpytest_subprocess("-p", "no:randomly").assert_outcomes(passed=1)
        """,
    },
    "pytest.toml": {
        "pytest.toml": '[pytest]\naddopts = ["--strict-markers"]\nmarkers = ["slow: takes long"]\ntestpaths = ["checks"]\npython_files = ["check_*.py"]\n',
        "checks/check_a.py": "import pytest\n\n@pytest.mark.slow\n" + GOOD_AND_BAD,
        "test_not_asked_for.py": GOOD_AND_BAD,
    },
    "strict": {
        **pyproject(
            'addopts = ["-ra", "--strict-markers", "--strict-config", "--showlocals", "--basetemp=.tmp", "--junitxml=out.xml"]\n'
            'minversion = "7.0"\nxfail_strict = true\nfilterwarnings = ["error"]\nlog_level = "INFO"\nlog_file = "log.txt"\n'
            'junit_family = "xunit2"\nrequired_plugins = ["pytest-mock"]\nasyncio_default_fixture_loop_scope = "function"'
        ),
        "test_a.py": """
            import warnings, pytest

            def test_warns():
                warnings.warn("old", DeprecationWarning)

            @pytest.mark.xfail
            def test_expected():
                assert False

            @pytest.mark.xfail
            def test_unexpected():
                pass

            def test_skipped():
                pytest.skip("later")

            def test_unclosed():
                open(__file__)

            def test_log(caplog, mocker, tmp_path):
                import logging
                logging.getLogger().info("x")
                assert "x" in caplog.text
                assert (tmp_path / "a").write_text("x")

            @pytest.mark.parametrize("text", ["ä ö", "a/b", "[1]", ""])
            def test_names(text):
                assert text
        """,
    },
    "last failed first": {**pyproject('addopts = "--ff --nf"\ncache_dir = ".cache"'), "test_a.py": GOOD_AND_BAD},
    "writes beside itself": {
        "data/in.txt": "old",
        "test_a.py": """
            import os, pathlib, shutil
            here = pathlib.Path(__file__).parent

            def test_new_file():
                (here / "out.txt").write_text("x")
                assert (here / "out.txt").read_text() == "x"
                (here / "out.txt").unlink()

            def test_old_file():
                assert (here / "data" / "in.txt").read_text() == "old"
                (here / "data" / "in.txt").write_text("new")
                assert (here / "data" / "in.txt").read_text() == "new"
                (here / "data" / "in.txt").write_text("old")

            def test_folder():
                shutil.copytree(here / "data", here / "copy")
                (here / "copy").rename(here / "moved")
                shutil.rmtree(here / "moved")

            def test_links():
                os.link(here / "data" / "in.txt", here / "hard")
                assert os.stat(here / "hard").st_nlink == 2
                os.symlink("hard", here / "soft")
                assert os.path.samefile(here / "soft", here / "hard")
                os.unlink(here / "hard")
                os.unlink(here / "soft")

            def test_mode():
                os.chmod(here / "data" / "in.txt", 0o640)
                assert os.stat(here / "data" / "in.txt").st_mode & 0o777 == 0o640
                os.chmod(here / "data" / "in.txt", 0o644)
        """,
    },
    "subprocesses": {
        **PACKAGE,
        "pkg/__main__.py": "import sys\nprint('ran', sys.argv[1])\n",
        "test_a.py": """
            import multiprocessing, os, shutil, subprocess, sys, time
            from concurrent.futures import ProcessPoolExecutor
            from pkg.m import double

            def test_module():
                process = subprocess.run([sys.executable, "-m", "pkg", "x"], capture_output=True, text=True, check=True)
                assert process.stdout == "ran x\\n"

            def test_from_another_folder(tmp_path):
                code = "import markupsafe, os; print(os.getcwd())"
                process = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
                assert process.stdout.strip() == os.path.realpath(tmp_path)

            def test_script_of_the_environment():
                assert subprocess.run(["pytest", "--version"], check=True).returncode == 0
                assert shutil.which("python") == os.path.join(os.path.dirname(sys.executable), "python")

            def test_shell():
                assert subprocess.check_output("echo $((1 + 1))", shell=True) == b"2\\n"

            def test_pool():
                with ProcessPoolExecutor(2) as pool:
                    assert list(pool.map(double, [1, 2])) == [2, 4]

            def test_spawn():
                context = multiprocessing.get_context("spawn")
                queue = context.Queue()
                process = context.Process(target=queue.put, args=(1,))
                process.start()
                assert queue.get(timeout=30) == 1
                process.join()

            def test_an_orphan_is_gone_when_it_has_ended():
                code = "import subprocess; print(subprocess.Popen(['sleep', '0.1'], stdout=-3).pid)"
                orphan = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip()
                deadline = time.monotonic() + 10
                while os.path.exists("/proc/" + orphan) and time.monotonic() < deadline:
                    time.sleep(0.02)
                assert not os.path.exists("/proc/" + orphan)

            def test_status():
                assert subprocess.run([sys.executable, "-c", "import sys; sys.exit(3)"]).returncode == 3
        """,
    },
    "loopback": {
        "test_a.py": """
            import socket, threading, urllib.request
            from http.server import BaseHTTPRequestHandler, HTTPServer
            import pytest

            class Handler(BaseHTTPRequestHandler):
                def do_GET(self):
                    self.send_response(200)
                    self.end_headers()
                    self.wfile.write(b"x")

            @pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "0.0.0.0"])
            def test_server(host):
                server = HTTPServer((host, 0), Handler)
                threading.Thread(target=server.serve_forever, daemon=True).start()
                assert urllib.request.urlopen(f"http://localhost:{server.server_port}/").read() == b"x"
                server.shutdown()
                server.server_close()

            def test_other_ends(tmp_path):
                one, other = socket.socketpair()
                one.send(b"x")
                assert other.recv(1) == b"x"
                server = socket.socket(socket.AF_UNIX)
                server.bind(str(tmp_path / "s"))
                server.close()

            def test_datagrams():
                one = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
                one.bind(("127.0.0.1", 0))
                one.sendto(b"x", one.getsockname())
                assert one.recv(1) == b"x"

            @pytest.mark.parametrize("family", [socket.AF_INET, socket.AF_UNSPEC])
            def test_what_is_configured(family):
                assert socket.getaddrinfo("localhost", 0, family, flags=socket.AI_ADDRCONFIG)

            def test_outside():
                with pytest.raises(OSError):
                    socket.create_connection(("192.0.2.7", 9), timeout=0.1)

            def test_names():
                assert socket.gethostbyname("localhost") == "127.0.0.1"
                assert socket.gethostname()
                assert socket.gethostbyname(socket.gethostname())
        """,
    },
    "git": {
        "test_a.py": """
            import subprocess

            def git(folder, *words):
                return subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b.c", *words], cwd=folder,
                                      capture_output=True, text=True, check=True).stdout

            def test_repository(tmp_path):
                git(tmp_path, "init", "-q")
                (tmp_path / "a").write_text("x")
                git(tmp_path, "add", "a")
                git(tmp_path, "commit", "-q", "-m", "first")
                assert "first" in git(tmp_path, "log", "--oneline")
                git(tmp_path, "clone", "-q", ".", "copy")
                assert (tmp_path / "copy" / "a").read_text() == "x"
        """,
    },
    "locale and time": {
        "test_a.py": """
            import datetime, getpass, locale, os, pathlib, sys, time, zoneinfo

            def test_zone():
                summer = datetime.datetime(2024, 7, 1, tzinfo=zoneinfo.ZoneInfo("Europe/Berlin"))
                assert summer.utcoffset() == datetime.timedelta(hours=2)

            def test_tzset(monkeypatch):
                monkeypatch.setenv("TZ", "America/New_York")
                time.tzset()
                assert time.tzname[0] == "EST"
                monkeypatch.undo()
                time.tzset()

            def test_locale():
                assert locale.setlocale(locale.LC_ALL, "C.UTF-8")
                locale.setlocale(locale.LC_ALL, "C")

            def test_encodings(tmp_path):
                assert sys.getfilesystemencoding() == "utf-8"
                (tmp_path / "ä").write_text("ö", encoding="utf-8")
                assert os.listdir(tmp_path) == ["ä"]
                print("ü")

            def test_user():
                assert getpass.getuser()
                assert pathlib.Path.home().is_dir()
                assert os.path.expanduser("~") == str(pathlib.Path.home())
                (pathlib.Path.home() / ".config-of-a-test").write_text("x")
                (pathlib.Path.home() / ".config-of-a-test").unlink()
        """,
    },
    "signals and threads": {
        "test_a.py": """
            import os, signal, threading

            def test_alarm():
                hit = []
                signal.signal(signal.SIGALRM, lambda *_: hit.append(1))
                signal.setitimer(signal.ITIMER_REAL, 0.01)
                signal.pause()
                assert hit

            def test_own_signal():
                hit = []
                signal.signal(signal.SIGUSR1, lambda *_: hit.append(1))
                os.kill(os.getpid(), signal.SIGUSR1)
                assert hit

            def test_threads():
                threads = [threading.Thread(target=lambda: None) for _ in range(20)]
                for thread in threads:
                    thread.start()
                for thread in threads:
                    thread.join()

            def test_streams(capfd):
                os.write(1, b"a")
                print("b", end="", flush=True)
                assert capfd.readouterr().out == "ab"
        """,
    },
    "broken beside good": {
        **pyproject('addopts = "--continue-on-collection-errors"'),
        "test_a.py": GOOD_AND_BAD,
        "test_broken.py": "import nothing_of_that_name\n",
        "test_syntax.py": "def (:\n",
    },
}  # fmt: skip


def dedented(text: str) -> str:
    lines = text.split("\n")
    if not text.startswith("\n"):
        return text
    margin = min(len(line) - len(line.lstrip()) for line in lines if line.strip())
    return "\n".join(line[margin:] for line in lines[1:])


@pytest.fixture(scope="session")
def parity():
    """lab/benchmarks/parity.py, which runs suites on the host."""
    sys.path.insert(0, str(BENCHMARKS))
    try:
        spec = importlib.util.spec_from_file_location("parity", BENCHMARKS / "parity.py")
        module = sys.modules["parity"] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        yield module
    finally:
        sys.path.remove(str(BENCHMARKS))
        sys.modules.pop("parity", None)


@pytest.fixture(scope="session")
def full_python(tmp_path_factory) -> Path:
    """A virtual environment with the plugins that real projects use."""
    folder = tmp_path_factory.mktemp("full") / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", folder / "bin" / "python"]
    subprocess.run([*pip, "install", "-q", "--no-compile", *PLUGINS], check=True)
    return folder


@pytest.fixture
def laid(tmp_path, full_python, monkeypatch):
    """`laid(files)`: a project whose `.venv` is the shared environment."""
    monkeypatch.setenv("GREENLOOP_INTERPRETER", str(full_python))

    def lay(files: dict[str, str]) -> Path:
        root = tmp_path / "project"
        for name, text in {"pytest.ini": "", **files}.items() if not _configured(files) else files.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(dedented(text), encoding="utf-8")
        return root

    return lay


def _configured(files: dict[str, str]) -> bool:
    return bool({"pyproject.toml", "pytest.toml", "pytest.ini"} & files.keys())


def outline(execution: Execution) -> dict[str, str]:
    found = {result.id: result.outcome for result in case_results(execution)}
    return {**found, **{error.id: "collection error" for error in collect_errors(execution)}}


async def in_sandbox(root: Path, **options) -> list[Execution]:
    """The suite twice in one session: the second run may go on with what the first has taught."""
    found, warnings = configuration.load(root, command_line={"sandbox.kind": "bubblewrap", **options})
    assert not warnings
    back_end, place = await sandbox_spec.choose_sandbox(root, found)
    session = await back_end.open(place)
    try:
        first = await session.run(TestRun(selectors=(), seconds=SECONDS, baseline=True))
        if session._learning is not None:
            await session._learning
        return [first, await session.run(TestRun(selectors=(), seconds=SECONDS))]
    finally:
        await session.close()


@pytest.mark.story("a project's tests end in the sandbox as on the host", only=("conftest at several levels",))
@pytest.mark.parametrize("trait", PROJECTS)
async def test_same_outcomes_as_on_the_host(trait, laid, parity, full_python, tmp_path, snapshot):
    root = laid(PROJECTS[trait])
    host, _seconds = parity.run_on_host(root, SECONDS, tmp_path, python=full_python / "bin" / "python")
    expected = outline(host)
    assert expected
    before = snapshot(root)
    for execution in await in_sandbox(root):
        assert not execution.broken
        assert outline(execution) == expected, execution.output[-3000:]
    assert snapshot(root) == before


# -- what has to be there beside the project ----------------------------------------------------------------------

FINDER = """
import sys
from importlib.util import spec_from_file_location

MAPPING = {{'lib': '{lib}/src/lib'}}

class Finder:
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        if name in MAPPING:
            return spec_from_file_location(name, MAPPING[name] + '/__init__.py')

def install():
    sys.meta_path.append(Finder)
"""
EDITABLES = {
    "a .pth file": ("{lib}/src\n", None),
    "setuptools' finder": ("import __editable___lib_finder; __editable___lib_finder.install()\n", FINDER),
}


@pytest.mark.parametrize("way", EDITABLES)
async def test_an_editable_install_outside_the_workspace(way, laid, full_python, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    lib = tmp_path / "lib"
    (lib / "src" / "lib").mkdir(parents=True)
    (lib / "pyproject.toml").write_text("[project]\nname = 'lib'\n")
    (lib / "src" / "lib" / "__init__.py").write_text("VALUE = 7\n")
    (lib / "src" / "lib" / ".env").write_text("SECRET=abc\n")
    root = laid(
        {
            "test_a.py": "import pathlib, lib, pytest\n\ndef test_value():\n    assert lib.VALUE == 7\n\n"
            "def test_secret():\n    assert (pathlib.Path(lib.__file__).parent / '.env').read_text() == ''\n\n"
            "def test_written():\n    with pytest.raises(OSError):\n        pathlib.Path(lib.__file__).write_text('')\n"
        }
    )
    with installed(full_python, *(text and text.format(lib=lib) for text in EDITABLES[way])):
        for execution in await in_sandbox(root):
            assert set(outline(execution).values()) == {"passed"}, execution.output[-2000:]
            assert len(outline(execution)) == 3


class installed:  # noqa: N801 - it is used as a function
    """While it lasts, the environment has an editable install."""

    def __init__(self, venv: Path, pth: str, finder: str | None) -> None:
        (packages,) = venv.glob("lib/python*/site-packages")
        self._files = {packages / "__editable__.lib.pth": pth, packages / "__editable___lib_finder.py": finder}

    def __enter__(self) -> None:
        for path, text in self._files.items():
            if text is not None:
                path.write_text(text)

    def __exit__(self, *_about: object) -> None:
        for path in self._files:
            path.unlink(missing_ok=True)


async def test_named_variables_and_no_others(laid, monkeypatch):
    monkeypatch.setenv("WANTED", "yes")
    monkeypatch.setenv("OTHER", "no")
    root = laid(
        {
            "test_a.py": "import os\n\ndef test_a():\n    assert (os.getenv('WANTED'), os.getenv('OTHER')) == ('yes', None)\n"
        }
    )
    for execution in await in_sandbox(root, **{"sandbox.env": ["WANTED"]}):
        assert outline(execution) == {"test_a.py::test_a": "passed"}


async def test_a_project_without_pytest_is_lent_one(laid):
    root = laid({**PACKAGE, "test_m.py": USES})
    for execution in await in_sandbox(root):
        assert outline(execution) == {"test_m.py::test_double": "passed", "test_m.py::test_bad": "failed"}


async def test_the_repository_itself_is_hidden_but_git_says_so(laid):
    root = laid(
        {
            "test_a.py": "import subprocess\n\ndef test_head():\n"
            "    subprocess.run(['git', 'rev-parse', 'HEAD'], check=True, capture_output=True)\n"
        }
    )
    for words in (["init", "-q"], ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "x", "--allow-empty"]):
        subprocess.run(["git", *words], cwd=root, check=True)
    for execution in await in_sandbox(root):
        assert outline(execution) == {"test_a.py::test_head": "failed"}
    for execution in await in_sandbox(root, **{"sandbox.expose": [".git"]}):
        assert outline(execution) == {"test_a.py::test_head": "passed"}, execution.output[-2000:]
