"""Tables that the rows look up: plugins, libraries, programs, services and Python versions."""

from __future__ import annotations

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
