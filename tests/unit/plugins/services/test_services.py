"""Ports, accounts and variables of services, as the files of a project name them."""

from __future__ import annotations

import pytest

from greenloop.core.errors import SettingsError
from greenloop.plugins.services.services import find_services
from greenloop_sandbox import Service

COMPOSE = "services:\n  db:\n    environment:\n      POSTGRES_USER: shop\n      POSTGRES_PASSWORD: secret\n      POSTGRES_DB: goods\n"
SETTINGS = (
    'import os\nHOST = os.environ["POSTGRES_HOST"]\nURL = os.getenv("DATABASE_URL")\nCACHE = os.environ["REDIS_URL"]\n'
)


def test_a_compose_file_names_the_account_and_the_code_the_variables(tmp_path):
    (tmp_path / "compose.yaml").write_text(COMPOSE)
    (tmp_path / "settings.py").write_text(SETTINGS)
    services, variables = find_services(tmp_path, ["postgres", "redis"])
    assert services == (
        Service(kind="postgres", port=5432, user="shop", password="secret", database="goods"),
        Service(kind="redis", port=6379, database="0"),
    )
    assert variables["POSTGRES_HOST"] == "127.0.0.1"
    assert variables["DATABASE_URL"] == "postgresql://shop:secret@127.0.0.1:5432/goods"
    assert variables["REDIS_URL"] == "redis://127.0.0.1:6379/0"
    assert "PGHOST" not in variables  # nothing reads it


@pytest.mark.parametrize(
    ("address", "port", "variable"),
    [
        (
            "postgresql+asyncpg://me:pw@localhost:5544/mine",
            5544,
            "postgresql+asyncpg://me:pw@127.0.0.1:5544/mine",
        ),
        ("postgres://me:pw@db:6000/mine", 5432, "postgres://me:pw@127.0.0.1:5432/mine"),
        ("postgresql://me:pw@localhost:port/mine", 5432, "postgresql://me:pw@127.0.0.1:5432/mine"),
    ],
)
def test_an_address_in_the_code_names_all(tmp_path, address, port, variable):
    (tmp_path / "conftest.py").write_text(f'URL = os.environ.get("DATABASE_URL", "{address}")\n')
    (service,), variables = find_services(tmp_path, ["postgres"])
    assert (service.port, service.user, service.database) == (port, "me", "mine")
    assert variables == {"DATABASE_URL": variable}


def test_without_the_setting_nothing_is_read(tmp_path):
    assert find_services(tmp_path / "gone", []) == ((), {})


@pytest.mark.parametrize(
    ("name", "service", "variables"),
    [
        (
            "docker:postgres:16",
            Service(
                kind="postgres", image="postgres:16", port=5432, inside=5432, user="postgres", password="postgres",
                database="postgres",
                variables=("POSTGRES_USER=postgres", "POSTGRES_PASSWORD=postgres", "POSTGRES_DB=postgres"),
            ),
            {"DATABASE_URL": "postgresql://postgres:postgres@127.0.0.1:5432/postgres", "POSTGRES_HOST": "127.0.0.1"},
        ),
        (
            "docker:localhost:5000/team/search-index:2=7700",
            Service(kind="search-index", image="localhost:5000/team/search-index:2", port=7700, inside=7700),
            {"SEARCH_INDEX_PORT": "7700"},
        ),
    ],
)  # fmt: skip
def test_an_image_gets_the_account_and_the_tests_its_address(tmp_path, name, service, variables):
    (tmp_path / "settings.py").write_text(SETTINGS + 'PORT = os.environ["SEARCH_INDEX_PORT"]\n')
    services, found = find_services(tmp_path, [name])
    assert (services, found) == ((service,), variables)


def test_a_compose_file_names_images_ports_and_variables(tmp_path):
    (tmp_path / "compose.yaml").write_text(
        "services:\n  # the shop\n  web:\n    build: .\n    ports: ['8000:8000']\n"
        '  db:\n    image: "postgres:${PG_VERSION:-16}"\n    environment:\n      - POSTGRES_PASSWORD=secret\n'
        '    ports:\n      - "127.0.0.1:5544:5432"\n'
        "  queue:\n    image: rabbitmq:4\nvolumes:\n  data:\n"
    )
    services, _variables = find_services(tmp_path, ["compose"])
    assert [(each.image, each.port, each.inside, each.variables) for each in services] == [
        ("postgres:16", 5544, 5432, ("POSTGRES_PASSWORD=secret",)),
        ("rabbitmq:4", 5672, 5672, ()),
    ]
    assert services[0].password == "secret"


@pytest.mark.parametrize(
    ("name", "message", "remedy"),
    [
        ("compose", "no compose file of the workspace has a service with an `image`", "`docker:postgres:16`"),
        ("docker:team/own:1", "does not say at which port team/own:1 listens", "`docker:team/own:1=PORT`"),
    ],
)
def test_what_is_missing_is_named(tmp_path, name, message, remedy):
    with pytest.raises(SettingsError, match=message) as raised:
        find_services(tmp_path, [name])
    assert remedy in raised.value.remedy


def test_an_unknown_service_is_refused_with_those_that_are_known(tmp_path):
    with pytest.raises(SettingsError, match="does not know 'oracle'") as raised:
        find_services(tmp_path, ["oracle"])
    assert raised.value.remedy == "It knows postgres, redis, mysql, `compose`, and images: `docker:oracle`."
