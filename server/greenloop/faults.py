"""Failures that no candidate can cure: a package, program, service or file that the tests' environment lacks."""

from __future__ import annotations

import errno
import re
import sys
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

from greenloop import sources
from greenloop.core.nouns import Environment, Failure

# Import names that differ from what one installs.
_DISTRIBUTIONS = {
    "attr": "attrs",
    "bs4": "beautifulsoup4",
    "cv2": "opencv-python-headless",
    "Crypto": "pycryptodome",
    "dateutil": "python-dateutil",
    "docx": "python-docx",
    "dotenv": "python-dotenv",
    "fitz": "PyMuPDF",
    "git": "GitPython",
    "google": "google-api-python-client",
    "jose": "python-jose",
    "jwt": "PyJWT",
    "MySQLdb": "mysqlclient",
    "OpenSSL": "pyOpenSSL",
    "PIL": "Pillow",
    "psycopg2": "psycopg2-binary",
    "serial": "pyserial",
    "skimage": "scikit-image",
    "sklearn": "scikit-learn",
    "slugify": "python-slugify",
    "usb": "pyusb",
    "yaml": "PyYAML",
    "zmq": "pyzmq",
}
# Names nobody gives to a module of their own; `slugify`, `magic` and their like are left out on purpose.
_KNOWN = frozenset(
    """aiohttp alembic altair anthropic anyio attr attrs babel bcrypt black bokeh boto3 botocore bs4 cachetools celery
    certifi cffi chardet Crypto cryptography cupy cv2 cython dask dateutil discord django docker docutils docx dotenv
    duckdb fabric faiss faker fastapi fastmcp filelock flask flask_sqlalchemy freezegun gevent gensim git gradio
    graphene greenlet grpc gunicorn h5py httpx huggingface_hub hypothesis igraph importlib_metadata IPython jax jinja2
    joblib jose jsonschema jwt kafka keras langchain lightgbm litellm llvmlite loguru lxml markdown markupsafe
    marshmallow matplotlib mlflow moto msgpack multidict mypy MySQLdb nbformat networkx nltk nox numba numexpr numpy
    openai OpenSSL opentelemetry openpyxl orjson pandas paramiko passlib pendulum pexpect PIL pkg_resources platformdirs
    playwright plotly pluggy polars prometheus_client prompt_toolkit psutil psycopg psycopg2 pyarrow pycparser pydantic
    pydantic_settings pygame pygments pygls pymongo pymysql pyparsing PyQt5 PyQt6 PySide6 pyspark pytest_asyncio
    pytest_mock pytz pywt ray redis regex requests requests_mock responses respx rich ruamel ruff scipy scrapy seaborn
    selenium sentry_sdk serial setuptools shapely simplejson six skimage sklearn spacy sqlalchemy sqlmodel starlette
    statsmodels streamlit structlog sympy tabulate tenacity tensorflow termcolor thrift tiktoken toml tomli tornado
    torch torchvision tqdm transformers trio twisted typer typing_extensions tzlocal ujson urllib3 uvicorn uvloop
    watchdog websocket websockets werkzeug wrapt xarray xgboost xlrd xmltodict yaml yarl zmq zstandard""".split()  # noqa: SIM905 - a list literal would take 150 lines
)
_PLUGINS = {
    "aiohttp_client": "pytest-aiohttp",
    "anyio_backend": "anyio",
    "benchmark": "pytest-benchmark",
    "class_mocker": "pytest-mock",
    "db": "pytest-django",
    "django_db_setup": "pytest-django",
    "event_loop": "pytest-asyncio",
    "faker": "Faker",
    "freezer": "pytest-freezer",
    "httpserver": "pytest-httpserver",
    "httpx_mock": "pytest-httpx",
    "mocker": "pytest-mock",
    "page": "pytest-playwright",
    "qtbot": "pytest-qt",
    "requests_mock": "requests-mock",
    "respx_mock": "respx",
    "snapshot": "syrupy",
    "subtests": "pytest-subtests",
    "testdir": "",
}
_HIDDEN = (".env*", "*.pem", "*.key", ".git", ".netrc", "credentials*")
_NETWORK = re.compile(
    r"Temporary failure in name resolution|Name or service not known|nodename nor servname|Network is unreachable"
    r"|getaddrinfo failed|No address associated|Failed to resolve|Name resolution|No route to host"
)
_REFUSED = re.compile(
    r"Connection refused|Errno 111|Connect call failed|Cannot connect to host|All connection attempts failed"
)


@dataclass(frozen=True, kw_only=True)
class Fault:
    """What the environment lacks, in one sentence, and the one cure."""

    sentence: str
    remedy: str


def environment_fault(
    failures: Iterable[Failure], environment: Environment, *, root: Path | None = None, network: bool = False
) -> Fault | None:
    """The fault when every failure comes from the environment, else None.

    Ask `missing` first: a module that is still to be written looks like one that is not installed.
    With the `root`, a module that the workspace has is no missing package.
    `network`: the sandbox lets tests reach the network.
    """
    found = [_fault(failure, root, environment, network=network) for failure in failures]
    return found[0] if found and all(found) else None


def said(failure: Failure) -> str:
    """The exception's message; from the rendering when the runner had only that."""
    if failure.message:
        return failure.message
    return "\n".join(re.findall(r"^E +(.*)$", failure.text, re.MULTILINE))


def _fault(failure: Failure, root: Path | None, environment: Environment, *, network: bool) -> Fault | None:
    message = said(failure)
    return (
        _package(failure, message, root, environment)
        or _plugin(message, environment)
        or _reach(failure, message, network=network)
        or _variable(failure, message)
        or _file(failure, message)
    )


# -- packages -------------------------------------------------------------------------------------------------------


def _package(failure: Failure, message: str, root: Path | None, environment: Environment) -> Fault | None:
    if match := re.search(r"^([\w.+-]+\.so[\w.]*): cannot open shared object file", message):
        return Fault(
            sentence=f"This fails because the system library {match[1]} is missing.",
            remedy="Install the system package that holds it.",
        )
    match = re.search(r"No module named '([^']+)'", message)
    if match is None:
        return None
    top = match[1].partition(".")[0]
    where = next((frame.path for frame in reversed(failure.frames) if not frame.path.startswith("/")), "")
    if root is not None and sources.find_module(top, root, where) is not None:
        return None
    if top in sys.stdlib_module_names:
        version = ".".join(map(str, environment.version))
        return Fault(
            sentence=f"This fails because Python {version} ({environment.executable}) has no module '{match[1]}'.",
            remedy="Name another Python in the setting `interpreter`.",
        )
    if root is not None and not is_third_party(top, root) and (not where or sources.is_trusted(where)):
        # Neither declared nor known, and `missing` saw nothing to write: only the user knows what was meant.
        return Fault(
            sentence=f"This fails because neither the workspace nor {environment.executable} has a module '{top}'.",
            remedy=f"Install its package ({environment.executable} -m pip install ...), or write it.",
        )
    return _install(_DISTRIBUTIONS.get(top, top), environment)


def _install(distribution: str, environment: Environment) -> Fault:
    python = environment.executable
    return Fault(
        sentence=f"This fails because the package '{distribution}' is missing in {python}.",
        remedy=f"Install it: {python} -m pip install {distribution}",
    )


def _plugin(message: str, environment: Environment) -> Fault | None:
    match = re.search(r"fixture '(\w+)' not found", message)
    if match and _PLUGINS.get(match[1]):
        return _install(_PLUGINS[match[1]], environment)
    if "async def functions are not natively supported" in message:
        return _install("pytest-asyncio", environment)
    return None


def is_third_party(top: str, root: Path) -> bool:
    """Is a module that the workspace does not have one to install (declared, widely known), rather than to write?"""
    names = {_normal(top), _normal(_DISTRIBUTIONS.get(top, top))}
    return top in sys.stdlib_module_names or top in _KNOWN or bool(names & declared(root))


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def declared(root: Path) -> set[str]:
    """Normalised names of the distributions that the project says it needs, from all the usual files."""
    found: set[str] = set()
    for file in sorted(
        [*root.glob("requirements*.txt"), *root.glob("requirements/*.txt"), *root.glob("*constraints*.txt")]
    )[:20]:
        found |= _requirements((sources.text(root, file.relative_to(root).as_posix()) or "").splitlines())
    for name in ("pyproject.toml", "Pipfile"):
        try:
            found |= _table(tomllib.loads(sources.text(root, name) or ""))
        except tomllib.TOMLDecodeError:
            continue
    for name in ("setup.cfg", "setup.py", "tox.ini", "environment.yml", "environment.yaml"):
        quoted = re.findall(
            r"^[ \t\"'\[-]*([A-Za-z][\w.-]*)[ \t]*(?:[<>=!~;\[,\"'].*)?$", sources.text(root, name) or "", re.MULTILINE
        )
        found |= {_normal(item) for item in quoted}
        found |= {
            _normal(item)
            for item in re.findall(r"[\"']([A-Za-z][\w.-]*)[^\"'\n]*[\"']", sources.text(root, name) or "")
        }
    return found


def _requirements(rows: Iterable[object]) -> set[str]:
    matches = [re.match(r"\s*([A-Za-z0-9][\w.-]*)", row) for row in rows if isinstance(row, str)]
    return {_normal(match[1]) for match in matches if match}


def _table(table: dict[str, object]) -> set[str]:
    def at(*keys: str) -> object:
        value: object = table
        for key in keys:
            value = value.get(key) if isinstance(value, dict) else None
        return value

    found: set[str] = set()
    plain = at("project", "dependencies")
    found |= _requirements(plain) if isinstance(plain, list) else set()
    for group in (at("project", "optional-dependencies"), at("dependency-groups")):
        for rows in group.values() if isinstance(group, dict) else ():
            found |= _requirements(rows) if isinstance(rows, list) else set()
    groups = at("tool", "poetry", "group")
    tables = [
        at("tool", "poetry", "dependencies"),
        at("tool", "poetry", "dev-dependencies"),
        at("packages"),
        at("dev-packages"),
    ]
    inner = groups.values() if isinstance(groups, dict) else ()
    tables += [item.get("dependencies") for item in inner if isinstance(item, dict)]
    for item in tables:
        found |= {_normal(str(key)) for key in item} if isinstance(item, dict) else set()
    return found - {"python"}


# -- what the sandbox closes ----------------------------------------------------------------------------------------


def _reach(failure: Failure, message: str, *, network: bool) -> Fault | None:
    if failure.type in {"AssertionError", "Failed"}:
        return None
    if _NETWORK.search(message) or failure.type in {"gaierror", "NameResolutionError"}:
        if network:
            return Fault(sentence="This fails because a host could not be reached.", remedy="Check the network.")
        return Fault(
            sentence="This fails because the test reaches for the network, which the sandbox closes.",
            remedy="Let tests reach it: sandbox.network = true",
        )
    if failure.type == "ConnectionRefusedError" or _REFUSED.search(message):
        place = re.search(r"host='([\w.-]+)', port=(\d+)|\('([\w.-]+)', (\d+)\)|host ([\w.-]+):(\d+)", message)
        parts = [part for part in place.groups() if part] if place else []
        service = f"a service at {':'.join(parts)}" if parts else "a service"
        cure = "Start it." if network else "Start it and set sandbox.network = true, or let the test use a stand-in."
        return Fault(
            sentence=f"This fails because the test needs {service}, which does not answer inside the sandbox.",
            remedy=cure,
        )
    return None


def _variable(failure: Failure, message: str) -> Fault | None:
    name = message.strip("'\"")
    asked = any(frame.path.endswith("os.py") or frame.path == "<frozen os>" for frame in failure.frames)
    if failure.type == "KeyError" and asked and re.fullmatch(r"[A-Za-z_]\w*", name):
        return Fault(
            sentence=f"This fails because the environment variable {name} is not set inside the sandbox.",
            remedy=f'Pass it on: sandbox.env = ["{name}"]',
        )
    return None


def _file(failure: Failure, message: str) -> Fault | None:
    quoted = re.search(r"\[Errno (\d+)\] [^:]+: '([^']+)'", message)
    number = int(quoted[1]) if quoted else 0
    if number == errno.EROFS or "Read-only file system" in message:
        what = quoted[2] if quoted else "its own folder"
        return Fault(
            sentence=f"This fails because the test writes to {what}, which is read-only inside the sandbox.",
            remedy="Let the test write to tmp_path.",
        )
    if number == errno.ENOSPC or "No space left on device" in message:
        return Fault(sentence="This fails because the test fills the sandbox's disk.", remedy="Let it write less.")
    if failure.type in {"FileNotFoundError", "PermissionError"} and quoted:
        name = Path(quoted[2]).name
        program = any(frame.path.endswith("subprocess.py") for frame in failure.frames)
        if number == errno.ENOENT and program and "/" not in quoted[2]:
            return Fault(
                sentence=f"This fails because the program '{name}' is missing inside the sandbox.",
                remedy="Install it on this machine.",
            )
        if any(fnmatch(name, pattern) for pattern in _HIDDEN):
            return Fault(
                sentence=f"This fails because {name} is hidden from tests.",
                remedy=f'Show it to them: sandbox.expose = ["{name}"]',
            )
    return None
