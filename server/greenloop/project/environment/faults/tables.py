"""Tables that the rows look up: packages, plugins, libraries, programs, services and Python versions."""

from __future__ import annotations

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
PLUGINS = {
    "aiohttp_client": "pytest-aiohttp", "anyio_backend": "anyio", "benchmark": "pytest-benchmark",
    "class_mocker": "pytest-mock", "db": "pytest-django", "django_db_setup": "pytest-django",
    "event_loop": "pytest-asyncio", "faker": "Faker", "freezer": "pytest-freezer", "httpserver": "pytest-httpserver",
    "httpx_mock": "pytest-httpx", "mocker": "pytest-mock", "page": "pytest-playwright", "qtbot": "pytest-qt",
    "requests_mock": "requests-mock", "respx_mock": "respx", "snapshot": "syrupy", "subtests": "pytest-subtests",
}  # fmt: skip
# Marks, and the plugin that declares each.
MARKS = {
    "anyio": "anyio", "asyncio": "pytest-asyncio", "benchmark": "pytest-benchmark", "django_db": "pytest-django",
    "flaky": "pytest-rerunfailures", "freeze_time": "pytest-freezer", "respx": "respx", "timeout": "pytest-timeout",
    "vcr": "pytest-recording",
}  # fmt: skip
# Options of pytest, by prefix, and the plugin that provides them; the longest matching prefix counts.
OPTIONS = {
    "--alluredir": "allure-pytest", "--asyncio-": "pytest-asyncio", "--benchmark": "pytest-benchmark",
    "--black": "pytest-black", "--cov": "pytest-cov", "--create-db": "pytest-django", "--dist": "pytest-xdist",
    "--doctest-plus": "pytest-doctestplus", "--ds": "pytest-django", "--flake8": "pytest-flake8",
    "--force-sugar": "pytest-sugar", "--html": "pytest-html", "--hypothesis-": "hypothesis", "--isort": "pytest-isort",
    "--json-report": "pytest-json-report", "--mpl": "pytest-mpl", "--mypy": "pytest-mypy", "--nbval": "nbval",
    "--no-cov": "pytest-cov", "--no-migrations": "pytest-django", "--nomigrations": "pytest-django",
    "--numprocesses": "pytest-xdist", "--randomly-": "pytest-randomly", "--random-order": "pytest-random-order",
    "--record-mode": "pytest-recording", "--reruns": "pytest-rerunfailures", "--reuse-db": "pytest-django",
    "--ruff": "pytest-ruff", "--self-contained-html": "pytest-html", "--snapshot-": "syrupy",
    "--testmon": "pytest-testmon", "--timeout": "pytest-timeout", "--vcr-": "pytest-recording", "-n": "pytest-xdist",
}  # fmt: skip
# Debian packages of shared libraries that Python packages load, by the prefix of the file name.
LIBRARIES = {
    "libGL.so": "libgl1", "libSM.so": "libsm6", "libX11.so": "libx11-6", "libXext.so": "libxext6",
    "libXrender.so": "libxrender1", "libatomic.so": "libatomic1", "libcairo": "libcairo2", "libffi.so": "libffi8",
    "libgdal.so": "libgdal-dev", "libgeos_c.so": "libgeos-c1v5", "libglib-2.0": "libglib2.0-0",
    "libgobject-2.0": "libglib2.0-0", "libgomp.so": "libgomp1", "libgthread-2.0": "libglib2.0-0",
    "libmagic": "libmagic1", "libmariadb.so": "libmariadb3", "libmysqlclient.so": "default-libmysqlclient-dev",
    "libodbc.so": "unixodbc", "libopenblas.so": "libopenblas0", "libpango": "libpango-1.0-0", "libpq.so": "libpq5",
    "libsndfile": "libsndfile1", "libspatialindex": "libspatialindex-dev", "libtcl": "tk", "libtk": "tk",
    "libusb": "libusb-1.0-0", "libxml2.so": "libxml2", "libxslt.so": "libxslt1.1", "libzbar": "libzbar0",
    "libzmq.so": "libzmq5",
}  # fmt: skip
# The service that usually listens on a port.
SERVICES = {
    "1433": "SQL Server", "2375": "Docker", "3306": "MySQL", "5432": "PostgreSQL", "5672": "RabbitMQ", "6379": "Redis",
    "8086": "InfluxDB", "9000": "MinIO", "9042": "Cassandra", "9092": "Kafka", "9200": "Elasticsearch",
    "11211": "memcached", "27017": "MongoDB",
}  # fmt: skip
# Modules removed from the standard library, and the package that replaces each, if any.
REMOVED = {
    "aifc": "", "asynchat": "pyasynchat", "asyncore": "pyasyncore", "audioop": "audioop-lts", "binhex": "",
    "cgi": "legacy-cgi", "chunk": "", "crypt": "", "distutils": "setuptools", "formatter": "", "imghdr": "", "imp": "",
    "lib2to3": "", "nntplib": "", "pipes": "", "smtpd": "aiosmtpd", "sndhdr": "", "spwd": "", "sunau": "",
    "telnetlib": "", "uu": "", "xdrlib": "",
}  # fmt: skip
# Names added late to the standard library, and the first version that has each.
ADDED = {
    "asyncio.Runner": (3, 11), "asyncio.TaskGroup": (3, 11), "asyncio.timeout": (3, 11), "contextlib.chdir": (3, 11),
    "copy.replace": (3, 13), "dataclasses.KW_ONLY": (3, 10), "datetime.UTC": (3, 11), "enum.StrEnum": (3, 11),
    "functools.Placeholder": (3, 14), "inspect.get_annotations": (3, 10), "itertools.batched": (3, 12),
    "itertools.pairwise": (3, 10), "math.fma": (3, 13), "math.sumprod": (3, 12), "types.NoneType": (3, 10),
    "types.UnionType": (3, 10), "typing.Concatenate": (3, 10), "typing.LiteralString": (3, 11), "typing.Never": (3, 11),
    "typing.NotRequired": (3, 11), "typing.ParamSpec": (3, 10), "typing.ReadOnly": (3, 13), "typing.Required": (3, 11),
    "typing.Self": (3, 11), "typing.TypeAlias": (3, 10), "typing.TypeGuard": (3, 10), "typing.TypeIs": (3, 13),
    "typing.Unpack": (3, 11), "typing.assert_never": (3, 11), "typing.override": (3, 12),
    "warnings.deprecated": (3, 13),
}  # fmt: skip
# Lines that only newer versions of Python can parse, and the first version that can.
SYNTAX = {
    r"\s*match\s+[^=:]+:\s*(#.*)?$": (3, 10),
    r"\s*except\s*\*": (3, 11),
    r"\s*type\s+\w+(\[[^\]]*\])?\s*=": (3, 12),
    r"\s*(?:async\s+)?(?:def|class)\s+\w+\[": (3, 12),
    r".*\bt(['\"])[^'\"]*\{": (3, 14),
}
# Debian packages of programs whose name differs.
DEBIAN = {
    "cc": "build-essential", "chromedriver": "chromium-driver", "convert": "imagemagick", "dot": "graphviz",
    "g++": "build-essential", "gcc": "build-essential", "gs": "ghostscript", "java": "default-jre", "node": "nodejs",
    "pg_ctl": "postgresql", "pdftotext": "poppler-utils", "psql": "postgresql-client", "rg": "ripgrep",
    "soffice": "libreoffice", "tesseract": "tesseract-ocr",
}  # fmt: skip
