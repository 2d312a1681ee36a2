"""Reads declared dependencies to decide if a missing module is to be installed or written."""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path

from packaging.utils import canonicalize_name

from greenloop.project import sources

# Import names that differ from the name of the distribution to install.
DISTRIBUTIONS = {
    "attr": "attrs", "bs4": "beautifulsoup4", "cv2": "opencv-python-headless", "Crypto": "pycryptodome",
    "dateutil": "python-dateutil", "docx": "python-docx", "dotenv": "python-dotenv", "fitz": "PyMuPDF",
    "git": "GitPython", "google": "google-api-python-client", "jose": "python-jose", "jwt": "PyJWT",
    "MySQLdb": "mysqlclient", "OpenSSL": "pyOpenSSL", "PIL": "Pillow", "psycopg2": "psycopg2-binary",
    "serial": "pyserial", "skimage": "scikit-image", "sklearn": "scikit-learn", "slugify": "python-slugify",
    "usb": "pyusb", "yaml": "PyYAML", "zmq": "pyzmq",
}  # fmt: skip
# Names that projects do not use for their own modules; `slugify`, `magic` and the like are left out on purpose.
KNOWN = frozenset(
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


def is_third_party(top_level: str, root: Path) -> bool:
    """Should a module that the workspace lacks be installed (it is declared or widely known) rather than written?"""
    spellings = {canonicalize_name(top_level), canonicalize_name(DISTRIBUTIONS.get(top_level, top_level))}
    return top_level in sys.stdlib_module_names or top_level in KNOWN or bool(spellings & declared_distributions(root))


def declared_distributions(root: Path) -> set[str]:
    """Normalised names of the distributions that the project declares in any of the usual files."""
    distributions: set[str] = set()
    globs = ("requirements*.txt", "requirements/*.txt", "*constraints*.txt")
    for file in sorted(file for pattern in globs for file in root.glob(pattern))[:20]:
        distributions |= _requirements((sources.read_text(root, file.relative_to(root).as_posix()) or "").splitlines())
    for name in ("pyproject.toml", "Pipfile"):
        distributions |= _declared_in(_read_toml(root, name))
    for name in ("setup.cfg", "setup.py", "tox.ini", "environment.yml", "environment.yaml"):
        text = sources.read_text(root, name) or ""
        words = re.findall(r"^[ \t\"'\[-]*([A-Za-z][\w.-]*)[ \t]*(?:[<>=!~;\[,\"'].*)?$", text, re.MULTILINE)
        words += re.findall(r"[\"']([A-Za-z][\w.-]*)[^\"'\n]*[\"']", text)
        distributions |= {canonicalize_name(word) for word in words}
    return distributions


def is_local_dependency(top_level: str, root: Path) -> bool:
    """Is it declared as another project on this machine, such as a member of the same workspace?"""
    table = _read_toml(root, "pyproject.toml")
    uv, poetry = _subtable(table, "tool", "uv", "sources"), _subtable(table, "tool", "poetry", "dependencies")
    kinds = {canonicalize_name(name): entry for name, entry in (*poetry.items(), *uv.items())}
    entry = kinds.get(canonicalize_name(top_level))
    return isinstance(entry, dict) and bool(entry.keys() & {"workspace", "path"})


def project_name(root: Path) -> str:
    """The project's own normalised name, or empty."""
    name = _subtable(_read_toml(root, "pyproject.toml"), "project").get("name")
    return canonicalize_name(name) if isinstance(name, str) else ""


def _read_toml(root: Path, name: str) -> Mapping[str, object]:
    try:
        return tomllib.loads(sources.read_text(root, name) or "")
    except tomllib.TOMLDecodeError:
        return {}


def _declared_in(table: Mapping[str, object]) -> set[str]:
    project, poetry = _subtable(table, "project"), _subtable(table, "tool", "poetry")
    groups = [*_subtable(project, "optional-dependencies").values(), *_subtable(table, "dependency-groups").values()]
    tables = [_subtable(table, "packages"), _subtable(table, "dev-packages"), _subtable(poetry, "dev-dependencies")]
    tables += [_subtable(part, "dependencies") for part in (poetry, *_subtable(poetry, "group").values())]
    distributions = {name for group in (project.get("dependencies"), *groups) for name in _requirements(group)}
    return (distributions | {canonicalize_name(key) for entries in tables for key in entries}) - {"python"}


def _subtable(table: object, *keys: str) -> Mapping[str, object]:
    for key in keys:
        table = table.get(key) if isinstance(table, dict) else None
    return table if isinstance(table, dict) else {}


def _requirements(lines: object) -> set[str]:
    texts = [line for line in lines if isinstance(line, str)] if isinstance(lines, list) else []
    matches = [re.match(r"\s*([A-Za-z0-9][\w.-]*)", text) for text in texts]
    return {canonicalize_name(match[1]) for match in matches if match}
