"""A docstring task: a module with one function not written yet, its reference, and the tests that judge."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Region, Spec
from greenloop.specs import doctest


@dataclass(frozen=True, kw_only=True)
class Docstring:
    """`folder` is the workspace below the measurement's own; `text` and `reference` are the whole module at `path`.

    `judge` are the ids that must pass, in files of the folder or of `files`; `tests` are those of them that are tests,
    the others ask whether the reference gives the same.
    """

    id: str
    folder: str
    path: str
    qualname: str
    text: str
    reference: str
    judge: tuple[str, ...]
    tests: tuple[str, ...]
    files: Mapping[str, str] = field(default_factory=dict)

    @property
    def region(self) -> Region:
        return find_region(self.path, self.qualname, self.text)

    @property
    def examples(self) -> Spec:
        return doctest.examples(self.region, self.text)

    def problem(self, root: Path) -> Problem:
        texts = {self.path: self.text}
        return Problem(
            root=root / self.folder, spec=self.examples, regions=(self.region,), originals=texts, files=texts
        )


def find_region(path: str, qualname: str, text: str) -> Region:
    node = find_function(text, qualname)
    start = min([node.lineno, *(each.lineno for each in node.decorator_list)])
    assert node.end_lineno is not None
    return Region(path=path, qualname=qualname, start=start, end=node.end_lineno)


def find_function(text: str, name: str) -> ast.FunctionDef:
    matches = [node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef) and node.name == name]
    return matches[-1]


def make_stub(text: str, name: str) -> str:
    """The module with everything behind the function's docstring left out."""
    node = find_function(text, name)
    docstring = node.body[0]
    assert docstring.end_lineno is not None
    assert node.end_lineno is not None
    rows = text.split("\n")
    stub = " " * docstring.col_offset + "raise NotImplementedError"
    return "\n".join([*rows[: docstring.end_lineno], stub, *rows[node.end_lineno :]])


def read_rows(path: Path) -> list[dict[str, Any]]:
    if not path.exists():
        return []
    return [json.loads(row) for row in path.read_text().splitlines() if row.strip()]


def append_row(path: Path, row: Mapping[str, Any]) -> None:
    with path.open("a") as file:
        file.write(json.dumps(row, ensure_ascii=False) + "\n")


def write_tasks(path: Path, tasks: Iterable[Docstring]) -> None:
    path.write_text("".join(json.dumps(asdict(task), ensure_ascii=False) + "\n" for task in tasks))


def read_tasks(path: Path) -> list[Docstring]:
    entries = read_rows(path)
    for row in entries:
        row |= {"judge": tuple(row["judge"]), "tests": tuple(row["tests"])}
    return [Docstring(**row) for row in entries]
