"""Loads the settings from six sources, which override each other in a fixed order.

Defaults < `[tool.greenloop]` of the repository < user file < editor < environment < command line.
The repository is not trusted: it may only set keys marked for it, and only lower limits.
An unknown key or a bad value gives one warning that names it, and the earlier value holds.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from greenloop.core import entry_points
from greenloop.core.errors import SettingsError
from greenloop.core.text.json_codec import flatten
from greenloop.core.text.similar import closest
from greenloop.project.settings import APP, Settings, get, keys, user_file, with_value

# `model` is a text, so a table of it names the model itself; VS Code has no setting below another one.
OTHER_NAMES = {"model.name": "model", "modelKind": "model.kind"}
LABORATORY = ("ranker.", "planner.skip")  # how the keys begin that only the laboratory has


def load(
    root: Path | None,
    *,
    editor: Mapping[str, Any] | None = None,
    command_line: Mapping[str, Any] | None = None,
    environ: Mapping[str, str] | None = None,
) -> tuple[Settings, list[str]]:
    """All sources merged, and one warning for each key that was rejected.

    Raises `SettingsError` when the command line itself names a bad key or value.
    """
    warnings: list[str] = []
    settings = Settings()
    if root is not None:
        # A broken pyproject.toml is the project's own problem; its tests will report it.
        tools = _toml(root / "pyproject.toml")[0].get("tool")
        table = tools.get(APP, {}) if isinstance(tools, dict) else {}
        if not isinstance(table, dict):
            warnings.append(f"[tool.{APP}] in pyproject.toml is not a table; it is ignored.")
            table = {}
        settings = _merge(settings, table, "pyproject.toml", warnings, repository=True)
    file_settings, problem = _toml(user_file())
    if problem:
        warnings.append(problem)
    settings = _merge(settings, file_settings, str(user_file()), warnings)
    settings = _merge(settings, editor or {}, "the editor", warnings, editor=True)
    settings = _merge(settings, _environment(os.environ if environ is None else environ), "the environment", warnings)
    rejected: list[str] = []
    settings = _merge(settings, command_line or {}, "the command line", rejected)
    if rejected:
        raise SettingsError(rejected[0])
    return settings, warnings


def parse_assignments(assignments: Sequence[str]) -> dict[str, Any]:
    """Parses `key=value` words of the command line; values are TOML if they parse as such, else text."""
    result: dict[str, Any] = {}
    for word in assignments:
        key, equals, value = word.partition("=")
        if not equals:
            raise SettingsError(f"'{word}' is not in the form key=value.")
        result[key.strip()] = _value(value.strip())
    return result


def _value(text: str) -> Any:
    try:
        return tomllib.loads(f"v = {text}")["v"]
    except tomllib.TOMLDecodeError:
        return text


def _toml(path: Path) -> tuple[dict[str, Any], str]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig")), ""
    except (FileNotFoundError, NotADirectoryError):
        return {}, ""
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        return {}, f"{path} cannot be read ({error}); its settings are ignored."


def _environment(environ: Mapping[str, str]) -> dict[str, Any]:
    result = {}
    for key, kind, _default, _metadata in keys():
        text = environ.get(f"{APP.upper()}_{key.upper().replace('.', '_')}")
        if text is not None:
            result[key] = text if kind is str else _value(text)
    return result


def _merge(
    settings: Settings,
    table: Mapping[str, Any],
    source: str,
    warnings: list[str],
    *,
    repository: bool = False,
    editor: bool = False,
) -> Settings:
    known_keys = {key: (kind, metadata) for key, kind, _default, metadata in keys()}
    for written_key, value in flatten(table):
        key = OTHER_NAMES.get(written_key, written_key)
        if key not in known_keys:
            if key.startswith(LABORATORY):
                why = f"belongs to greenloop's laboratory, which is not installed. {entry_points.INSTALL_LABORATORY}"
                warnings.append(f"Setting '{key}' in {source} {why}")
                continue
            near = closest(key, known_keys)
            hint = f"; did you mean '{near}'?" if near else "; see docs/settings.md"
            warnings.append(f"Unknown setting '{key}' in {source}{hint}")
            continue
        kind, metadata = known_keys[key]
        try:
            coerced = _coerce(value, kind, metadata)
        except ValueError as error:
            warnings.append(f"Setting '{key}' in {source} {error}; {get(settings, key)!r} is kept.")
            continue
        if repository and metadata["repository"] == "no":
            warnings.append(f"Setting '{key}' in {source} is ignored: a repository cannot set it; use {user_file()}.")
            continue
        if editor and not metadata["editor"]:
            why = "editor settings may come from the repository"
            warnings.append(f"Setting '{key}' in {source} is ignored: {why}; use {user_file()}.")
            continue
        if repository and metadata["repository"] == "lower" and coerced > get(settings, key):
            warnings.append(f"Setting '{key}' in {source} is ignored: a repository can only lower it.")
            continue
        settings = with_value(settings, key, coerced)
    return settings


def _coerce(value: Any, kind: Any, metadata: Mapping[str, Any]) -> Any:
    if get_origin(kind) is Literal:
        if value not in get_args(kind):
            raise ValueError(f"must be one of {', '.join(map(str, get_args(kind)))}, not {value!r}")
        return value
    if get_origin(kind) is list:
        if isinstance(value, str):
            value = [part.strip() for part in value.split(",") if part.strip()]
        return _coerce_items(value, get_args(kind)[0], metadata)
    value = _coerce_number(value, kind)
    if type(value) is not kind:
        names = {int: "a whole number", float: "a number", bool: "true or false", str: "a string"}
        raise ValueError(f"must be {names[kind]}, not {value!r}")
    _check_limits(value, metadata)
    return value


def _coerce_items(value: Any, kind: Any, metadata: Mapping[str, Any]) -> Any:
    """A list of texts, of numbers, or of words that may be in it once each."""
    if kind is float and isinstance(value, list):  # of `0.2, 0.8` the parts are texts
        value = [_coerce_number(_value(part) if isinstance(part, str) else part, kind) for part in value]
    item_kind = str if get_origin(kind) is Literal else kind
    if not (isinstance(value, list) and all(isinstance(part, item_kind) for part in value)):
        raise ValueError(f"must be a list of {'numbers' if kind is float else 'strings'}, not {value!r}")
    if get_origin(kind) is Literal and (len(set(value)) < len(value) or not set(value) <= set(get_args(kind))):
        raise ValueError(f"must be a list of {', '.join(get_args(kind))}, each at most once, not {value!r}")
    for each in value:
        _check_limits(each, metadata)
    return value


def _coerce_number(value: Any, kind: Any) -> Any:
    return float(value) if kind is float and isinstance(value, int) and not isinstance(value, bool) else value


def _check_limits(value: Any, metadata: Mapping[str, Any]) -> None:
    if (least := metadata["least"]) is not None and not value >= least:
        raise ValueError(f"must be at least {least:g}, not {value!r}")
    if (most := metadata["most"]) is not None and not value <= most:
        raise ValueError(f"must be at most {most:g}, not {value!r}")
