"""The services of the setting `sandbox.services`: their ports and accounts as the project's files name them.

It reads files and starts nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
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
    """Names of a kind of service in projects: schemes of addresses, prefixes of variables, and what is usual.

    `variables` are those of its images.
    """

    port: int
    schemes: str
    prefixes: str
    account: str = ""
    password: str = ""
    database: str = ""
    variables: str = ""


KINDS = {
    "postgres": Kind(
        port=5432,
        schemes=r"postgres(?:ql)?(?:\+\w+)?",
        prefixes=r"PG|POSTGRES(?:QL)?_?|(?:\w+_)?(?:DB|DATABASE)_",
        account="postgres",
        password="postgres",  # noqa: S106 - of a server that only a sandbox reaches
        database="postgres",
        variables="POSTGRES_USER={user} POSTGRES_PASSWORD={password} POSTGRES_DB={database}",
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
        variables="MYSQL_ROOT_PASSWORD={password} MYSQL_DATABASE={database}",
    ),
    "rabbitmq": Kind(
        port=5672,
        schemes="amqps?",
        prefixes=r"RABBITMQ_|AMQP_|(?:CELERY_)?BROKER_",
        account="guest",
        password="guest",  # noqa: S106 - as above
    ),
    "mongo": Kind(port=27017, schemes="mongodb", prefixes="MONGO(?:DB)?_"),
    "elasticsearch": Kind(port=9200, schemes="https?", prefixes="ELASTIC(?:SEARCH)?_"),
    "memcached": Kind(port=11211, schemes="memcached", prefixes="MEMCACHED?_"),
}
INSTALLED = ("postgres", "redis", "mysql")  # the others run from images only
_ALSO = {
    "postgis": "postgres", "pgvector": "postgres", "timescaledb": "postgres", "valkey": "redis", "mariadb": "mysql",
}  # fmt: skip
PARTS = {
    "host": "HOST|HOSTNAME|SERVER|ADDR|ADDRESS",
    "port": "PORT",
    "user": "USER|USERNAME",
    "password": "PASSWORD|PASS",
    "database": "DB|DATABASE|NAME|DBNAME",
    "url": "URL|URI|DSN|BACKEND",
}


def find_services(root: Path, wanted: Sequence[str]) -> tuple[tuple[Service, ...], dict[str, str]]:
    """Returns the wanted services, and the variables with their addresses. Blocking.

    Wanted are installed servers (`postgres`), images (`docker:rabbitmq:4`, `docker:IMAGE=PORT`), and `compose`: the
    images of the compose file. Raises `SettingsError` for a service that greenloop does not know, or without a port.
    """
    found = [each for name in dict.fromkeys(wanted) for each in _expand(name, root)]
    texts = [*_texts(root)] if found else []
    services: list[Service] = []
    variables: dict[str, str] = {}
    for each in found:
        prefix = re.sub(r"\W", "_", each.kind).upper() + "_"
        kind = KINDS.get(each.kind) or Kind(port=0, schemes=re.escape(each.kind), prefixes=prefix)
        service, scheme = _find_service(each, kind, texts)
        services.append(service)
        variables |= _variables(service, kind, scheme, texts)
    return tuple(services), variables


def _expand(name: str, root: Path) -> Sequence[Service]:
    """The services that a name of the setting means; those of images with what it, or the compose file, says."""
    if name == "compose":
        files = [file for pattern in FILES[:2] for file in sorted(root.glob(pattern))]
        if found := next(
            filter(None, (_read_compose(sources.read_text(root, file.name, {}) or "") for file in files)), []
        ):
            return found
        raise SettingsError(
            "`sandbox.services` names compose, and no compose file of the workspace has a service with an `image`.",
            remedy="Name an image: `docker:postgres:16`.",
        )
    image, _, port = name.removeprefix("docker:").partition("=")
    if image != name.partition("=")[0]:
        number = int(port) if port.isdigit() else 0
        return [Service(kind=_kind_of(image), image=image, port=number, inside=number)]
    if name not in INSTALLED:
        raise SettingsError(
            f"`sandbox.services` does not know {name!r}.",
            remedy=f"It knows {', '.join(INSTALLED)}, `compose`, and images: `docker:{name}`.",
        )
    return [Service(kind=name, port=0)]


def _kind_of(image: str) -> str:
    name = re.split("[:@]", image.rpartition("/")[2])[0]
    return _ALSO.get(name, name)


def _read_compose(text: str) -> list[Service]:
    """The services of a compose file that have an image; those that are built are the workspace's own."""
    text = re.sub(r"\$\{\w+(?::?-([^}]*))?\}", r"\1", text)
    block = re.search(r"(?ms)^services:[ \t]*\n(.*?)(?=^\w|\Z)", text)
    names = re.search(r"(?m)^([ \t]+)[\w.-]+:", block[1]) if block else None
    found: list[Service] = []
    for part in re.split(rf"(?m)^(?={names[1]}[\w.-]+:)", block[1]) if block and names else ():
        image = re.search(r"(?m)^\s+image:\s*[\"']?([^\s\"'#]+)", part)
        ports = re.search(r"(?m)^\s+-\s*[\"']?(?:\d+\.[\d.]+:)?(?:(\d+):)?(\d+)(?:/tcp)?[\"']?\s*$", part)
        variables = re.findall(r"(?m)^\s+(?:-\s*)?[\"']?([A-Z][A-Z\d_]*)\s*[:=]\s*[\"']?(.*?)[\"']?\s*$", part)
        outside, inside = (ports[1] or ports[2], ports[2]) if ports else ("0", "0")
        if image:
            pairs = tuple(f"{name}={value}" for name, value in variables)
            found.append(
                Service(kind=_kind_of(image[1]), image=image[1], port=int(outside), inside=int(inside), variables=pairs)
            )
    return found


def _texts(root: Path) -> Iterator[str]:
    paths = [path.relative_to(root).as_posix() for pattern in FILES for path in sorted(root.glob(pattern))]
    modules = sorted(workspace.python_files(root), key=lambda path: (not sources.is_test_file(path), path))
    for path in (*paths, *modules[:MOST]):
        yield (sources.read_text(root, path, {}) or "")[:LONGEST]


def _find_service(wanted: Service, kind: Kind, texts: Sequence[str]) -> tuple[Service, str]:
    """The service as an address of the project names it, or a compose file, and the scheme of its address."""
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
    service = replace(
        wanted,
        port=wanted.port or (int(with_port[1]) if with_port else kind.port),
        inside=(wanted.inside or kind.port) if wanted.image else 0,
        user=unquote(first.username or "") or known.get("user", "") or kind.account,
        password=unquote(first.password or "") or known.get("password", "") or kind.password,
        database=first.path.strip("/") or known.get("database", "") or kind.database,
    )
    if wanted.image and not (service.port and service.inside):
        raise SettingsError(
            f"`sandbox.services` does not say at which port {wanted.image} listens.",
            remedy=f"Add it: `docker:{wanted.image}=PORT`.",
        )
    if wanted.image and not wanted.variables:
        service = replace(service, variables=tuple(kind.variables.format_map(vars(service)).split()))
    return service, first.scheme or {"postgres": "postgresql", "rabbitmq": "amqp"}.get(wanted.kind, wanted.kind)


def _variables(service: Service, kind: Kind, scheme: str, texts: Sequence[str]) -> Mapping[str, str]:
    """The variables that the project reads, of those that usually hold a part of the service's address."""
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
