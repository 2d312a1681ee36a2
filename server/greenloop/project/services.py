"""The services of the setting `sandbox.services`: their ports and accounts as the project's files name them.

It reads files and starts nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from greenloop.core.errors import SettingsError
from greenloop.project import sources, workspace
from greenloop_sandbox import Service

FILES = ("compose*.y*ml", "docker-compose*.y*ml", "pytest.ini", "pyproject.toml", "setup.cfg", "tox.ini", ".env.*")
MOST = 500  # Python files that are read, those of tests first
LONGEST = 200_000  # characters of one file
LOCAL = {"", "localhost", "127.0.0.1", "::1", "0.0.0.0"}  # noqa: S104 - an address that is recognised


@dataclass(frozen=True, kw_only=True)
class Kind:
    """Names of a kind of service in projects: schemes of addresses, prefixes of variables, and what is usual."""

    port: int
    schemes: str
    prefixes: str
    account: str = ""
    password: str = ""
    database: str = ""


KINDS = {
    "postgres": Kind(
        port=5432,
        schemes=r"postgres(?:ql)?(?:\+\w+)?",
        prefixes=r"PG|POSTGRES(?:QL)?_?|(?:\w+_)?(?:DB|DATABASE)_",
        account="postgres",
        password="postgres",  # noqa: S106 - of a server that only a sandbox reaches
        database="postgres",
    ),
    "redis": Kind(
        port=6379,
        schemes=r"rediss?",
        prefixes=r"(?:\w+_)?REDIS_|CACHE_|(?:CELERY_)?BROKER_|CELERY_RESULT_|RESULT_",
        database="0",
    ),
    "mysql": Kind(
        port=3306,
        schemes=r"(?:mysql|mariadb)(?:\+\w+)?",
        prefixes=r"MYSQL_?|MARIADB_?|(?:\w+_)?(?:DB|DATABASE)_",
        account="root",
        password="mysql",  # noqa: S106 - as above
        database="test",
    ),
}
PARTS = {
    "host": "HOST|HOSTNAME|SERVER|ADDR|ADDRESS",
    "port": "PORT",
    "user": "USER|USERNAME",
    "password": "PASSWORD|PASS",
    "database": "DB|DATABASE|NAME|DBNAME",
    "url": "URL|URI|DSN|BACKEND",
}
_TITLES = {"PostgreSQL": "postgres", "Redis": "redis", "MySQL": "mysql"}


def find_services(root: Path, wanted: Sequence[str]) -> tuple[tuple[Service, ...], dict[str, str]]:
    """Returns the wanted services, and the variables with their addresses. Blocking.

    Raises `SettingsError` for a service that greenloop does not know.
    """
    for name in wanted:
        if name not in KINDS:
            raise SettingsError(f"`sandbox.services` does not know {name!r}.", remedy=f"It knows {', '.join(KINDS)}.")
    texts = [*_texts(root)] if wanted else []
    services: list[Service] = []
    variables: dict[str, str] = {}
    for name in dict.fromkeys(wanted):
        service, scheme = _find_service(name, texts)
        services.append(service)
        variables |= _variables(service, scheme, texts)
    return tuple(services), variables


def setting_for(service: str) -> str:
    """The setting that would start a service, by its title; "" where there is none."""
    name = next((name for title, name in _TITLES.items() if service.startswith(title)), "")
    return f'sandbox.services = ["{name}"]' if name else ""


def _texts(root: Path) -> Iterator[str]:
    paths = [path.relative_to(root).as_posix() for pattern in FILES for path in sorted(root.glob(pattern))]
    modules = sorted(workspace.python_files(root), key=lambda path: (not sources.is_test_file(path), path))
    for path in (*paths, *modules[:MOST]):
        yield (sources.read_text(root, path, {}) or "")[:LONGEST]


def _find_service(name: str, texts: Sequence[str]) -> tuple[Service, str]:
    """The service as an address of the project names it, or a compose file, and the scheme of its address."""
    kind = KINDS[name]
    address = re.compile(rf"\b{kind.schemes}://[^\s\"'`<>{{}}]+")
    found = [urlsplit(match.group()) for text in texts for match in address.finditer(text)]
    local = [each for each in found if (each.hostname or "") in LOCAL] or found
    known = {
        part: match.group(1)
        for part, words in PARTS.items()
        for text in texts
        if (match := re.search(rf"(?m)^[ \t-]*(?:{kind.prefixes})(?:{words})[ \t]*[:=][ \t]*[\"']?([\w.-]+)", text))
    }
    first = local[0] if local else urlsplit("")
    with_port = re.search(r":(\d+)$", first.netloc) if (first.hostname or "") in LOCAL else None
    service = Service(
        kind=name,
        port=int(with_port[1]) if with_port else kind.port,
        user=unquote(first.username or "") or known.get("user", "") or kind.account,
        password=unquote(first.password or "") or known.get("password", "") or kind.password,
        database=first.path.strip("/") or known.get("database", "") or kind.database,
    )
    return service, first.scheme or {"postgres": "postgresql"}.get(name, name)


def _variables(service: Service, scheme: str, texts: Sequence[str]) -> Mapping[str, str]:
    """The variables that the project reads, of those that usually hold a part of the service's address."""
    kind = KINDS[service.kind]
    account = f"{service.user}:{service.password}@" if service.user else ""
    values = {
        "host": "127.0.0.1",
        "port": str(service.port),
        "user": service.user,
        "password": service.password,
        "database": service.database,
        "url": f"{scheme}://{account}127.0.0.1:{service.port}/{service.database}",
    }
    found: dict[str, str] = {}
    for part, words in PARTS.items():
        name = re.compile(rf"\b((?:{kind.prefixes})(?:{words}))\b")
        found |= {match.group(1): values[part] for text in texts for match in name.finditer(text)}
    return found
