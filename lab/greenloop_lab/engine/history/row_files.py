"""Writes rows as they come, as JSON Lines or, where pyarrow is installed, as Parquet.

It must not know what the rows are.
"""

from __future__ import annotations

import json
import shlex
import sys
import types
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from importlib.util import find_spec
from itertools import chain, islice
from pathlib import Path
from typing import Any, BinaryIO, get_args, get_origin, get_type_hints

from greenloop.core.errors import UsageError
from greenloop.project.environment.installation import runner
from greenloop_lab.engine.history.formats._row import Row

PARQUET = ".parquet"
BATCH = 200  # rows that are in memory for Parquet


def check_file(path: Path) -> None:
    """Raises `UsageError` where no new file can be made there, before anything is read."""
    if path.exists() or path.is_symlink():
        raise UsageError(f"{path} exists already.", remedy="Remove it, or choose another file with --out.")
    if not path.parent.is_dir():
        raise UsageError(
            f"There is no folder {path.parent}.", remedy="Create it first, or choose another file with --out."
        )
    if path.suffix == PARQUET and find_spec("pyarrow") is None:
        raise UsageError(
            f"{path.name} cannot be written, because Parquet needs pyarrow.",
            remedy=f"Install it with `{package_command('pyarrow')}`, or write JSON Lines: "
            f"--out {path.with_suffix('.jsonl').name}.",
        )


def write_rows(rows: Iterable[Mapping[str, Any]], kind: type[Row], path: Path) -> int:
    """Writes a new file; returns the number of rows. No row: no file. A file that cannot be completed is removed.

    Raises `UsageError` where it cannot be written.
    """
    iterator = iter(rows)
    first = next(iterator, None)
    if first is None:
        return 0
    every = chain([first], iterator)
    try:
        file = path.open("xb")
    except OSError as error:
        raise _unwritable(path, error) from error
    try:
        with file:
            return _write_parquet(every, kind, file) if path.suffix == PARQUET else write_lines(every, file)
    except OSError as error:
        path.unlink(missing_ok=True)
        raise _unwritable(path, error) from error
    except BaseException:
        path.unlink(missing_ok=True)
        raise


def write_lines(rows: Iterable[Mapping[str, Any]], file: BinaryIO) -> int:
    """Writes one JSON object a line; returns their number."""
    count = 0
    for row in rows:
        file.write(json.dumps(row, ensure_ascii=True).encode() + b"\n")
        count += 1
    return count


def _unwritable(path: Path, error: OSError) -> UsageError:
    return UsageError(f"{path} cannot be written: {error.strerror}.", remedy="Choose another file with --out.")


def _write_parquet(rows: Iterator[Mapping[str, Any]], kind: type[Row], file: BinaryIO) -> int:
    import pyarrow as pa  # noqa: PLC0415 - not installed with greenloop
    from pyarrow import parquet  # noqa: PLC0415

    schema = pa.schema([(name, _arrow_type(hint)) for name, hint in _columns(kind)])
    count = 0
    with parquet.ParquetWriter(file, schema) as writer:
        while batch := list(islice(rows, BATCH)):
            # Halves of surrogate pairs, which JSON escapes, are not UTF-8.
            table = pa.Table.from_pylist([_encodable(dict(row)) for row in batch], schema=schema)
            writer.write_table(table)
            count += len(batch)
    return count


def _columns(kind: type) -> list[tuple[str, Any]]:
    hints = get_type_hints(kind)
    return [(each.name, hints[each.name]) for each in fields(kind)]


def _arrow_type(hint: Any) -> Any:
    import pyarrow as pa  # noqa: PLC0415

    if get_origin(hint) is types.UnionType:
        return _arrow_type(get_args(hint)[0])
    if get_origin(hint) is tuple:
        return pa.list_(_arrow_type(get_args(hint)[0]))
    if is_dataclass(hint) and isinstance(hint, type):
        return pa.struct([(name, _arrow_type(each)) for name, each in _columns(hint)])
    return {str: pa.string(), int: pa.int64(), float: pa.float64(), bool: pa.bool_()}[hint]


def _encodable(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, dict):
        return {name: _encodable(item) for name, item in value.items()}
    return [_encodable(item) for item in value] if isinstance(value, list) else value


def package_command(package: str, prefix: Path | None = None, arguments: Sequence[str] | None = None) -> str:
    """The command that adds a package to this greenloop, for the tool that installed it."""
    arguments = sys.argv[1:] if arguments is None else arguments
    prefix = prefix or Path(sys.prefix)
    if runner(prefix) == "uvx":
        return f"uvx --with {package} greenloop {shlex.join(arguments)}".rstrip()
    if (prefix / "uv-receipt.toml").is_file():
        return f"uv tool install greenloop --with {package}"
    if "pipx" in prefix.parts:
        return f"pipx inject greenloop {package}"
    return f"{sys.executable} -m pip install {package}"
