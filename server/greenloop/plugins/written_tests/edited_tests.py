"""Renders generated tests as one file that the user edits, and reads it back. Runs nothing.

The user removes, corrects or adds tests. A test's form is its code without its name and its import of the target:
two tests with equal forms are the same test.
"""

from __future__ import annotations

import ast
import contextlib
import hashlib
import os
import re
import tempfile
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from greenloop.core.generated_tests import Check
from greenloop.core.python.ast_source import parse_module, parse_module_strictly
from greenloop.core.records.spec import Provenance, Region, Spec
from greenloop.core.text.diff import with_plain_ends
from greenloop.project import settings
from greenloop.wording.generated_tests import describe_one

# What may be edited here; the user edits tests, doctests and recordings in their own files.
EDITABLE = (Provenance.EXAMPLE, Provenance.CONFIRMED, Provenance.DESIGNED, Provenance.PROPERTY, Provenance.HINT)
MOST = 300  # tests in one file
LONGEST = 256_000  # characters of this file
_YOURS_MARK = re.compile(r"#\s*yours\b", re.IGNORECASE)
ImportNode = ast.Import | ast.ImportFrom | ast.Try
_IMPORT_NODES = (ast.Import, ast.ImportFrom, ast.Try)


@dataclass(frozen=True, kw_only=True)
class EditedTest:
    """One test of a file. `kind` is the kind of generated test; `believed`: the votes did not go against it.

    `yours`: the user marked it as their own.
    """

    check: Check
    form: str
    kind: str = ""
    believed: bool = True
    yours: bool = False


class UnreadableTestsError(ValueError):
    """The text is not a file of tests; `str` is one sentence with the line."""


def list_tests(spec: Spec, region: Region) -> list[EditedTest]:
    """Lists the editable tests of a spec, including those that the votes went against."""
    outvoted = {case.id for case in spec.outvoted}
    cases = {case.id: case for case in (*spec.cases, *spec.outvoted) if case.provenance in EDITABLE}
    tests = []
    for path, text in spec.files.items():
        cases_by_name = {each.partition("::")[2]: case for each, case in cases.items() if each.startswith(f"{path}::")}
        for name, test in _generated_tests(text, region).items() if cases_by_name else ():
            if case := cases_by_name.get(name):
                check = replace(
                    test.check, line=case.line, provenance=case.provenance, shown=case.source, batch=case.batch
                )
                kind = name.removeprefix("test_").rpartition("_")[0]
                tests.append(replace(test, check=check, kind=kind, believed=case.id not in outvoted))
    return tests[:MOST]


def render(tests: Sequence[EditedTest], region: Region, module: str, other_tests: Sequence[str] = ()) -> str:
    """Renders the file. `other_tests` are tests in other places, one line each."""
    target_name = region.qualname.partition(".")[0]
    comments = [
        f"# Tests of {region.qualname} in {region.path}. They are stored here, not in your project.",
        "# Delete a test to reject it for good. A test that you correct or add counts as yours.",
        "# To confirm a test unchanged, write `# yours` at the end of its `def` line. Then refine again.",
        "# Delete this file to have new tests generated.",
        *([f"# Must also pass: {', '.join(other_tests)}"] if other_tests else []),
    ]
    imports = dict.fromkeys(line for test in tests for line in test.check.imports)
    blocks = ["\n".join(comments), "\n".join([*imports, f"from {module} import {target_name}"])]
    counts: dict[str, int] = {}
    for test in tests:
        kind = test.kind or "yours"
        counts[kind] = counts.get(kind, 0) + 1
        blocks.append(_function(test, f"test_{kind}_{counts[kind]}"))
    return "\n\n\n".join([f"{blocks[0]}\n\n{blocks[1]}", *blocks[2:]]) + "\n"


def _function(test: EditedTest, name: str) -> str:
    check = test.check
    comment = describe_one(check.provenance) + ("" if test.believed else "; outvoted by the candidates")
    if check.provenance is Provenance.PROPERTY and check.shown:
        comment += f": {check.shown}".replace("\n", " ")
    rows = [f"# {comment}", *(f"@{each}" for each in check.decorators), f"def {name}({check.parameters}):"]
    return "\n".join([*rows, *(f"    {row}" if row.strip() else "" for row in check.body.strip("\n").split("\n"))])


def read(text: str, region: Region) -> list[EditedTest]:
    """Reads the tests of an edited file, all of them as the user's. Raises `UnreadableTestsError`."""
    if len(text) > LONGEST:
        raise UnreadableTestsError(f"it is longer than {LONGEST} characters")
    try:
        body = parse_module_strictly(text).body
    except SyntaxError as error:
        raise UnreadableTestsError(f"line {error.lineno or 1}: {error.msg}") from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise UnreadableTestsError(f"line 1: {error}") from None
    for node in body:
        is_test = isinstance(node, ast.FunctionDef) and node.name.startswith("test")
        is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if not (is_test or is_text or isinstance(node, _IMPORT_NODES)):
            raise UnreadableTestsError(f"line {node.lineno}: only imports and functions named test_… are allowed here")
    functions = [node for node in body if isinstance(node, ast.FunctionDef)]
    counts = Counter(node.name for node in functions)
    if duplicate := next((node for node in functions if counts[node.name] > 1), None):
        raise UnreadableTestsError(f"line {duplicate.lineno}: there is more than one {duplicate.name}")
    if len(functions) > MOST:
        raise UnreadableTestsError(f"it holds more than {MOST} tests")
    return list(_tests(body, text, region).values())


def _generated_tests(text: str, region: Region) -> dict[str, EditedTest]:
    """Parses the tests of a generated file, ignoring anything else in it."""
    module = parse_module(text)
    return {} if isinstance(module, SyntaxError) else _tests(module.body, text, region)


def _tests(body: Sequence[ast.stmt], text: str, region: Region) -> dict[str, EditedTest]:
    import_nodes = [node for node in body if isinstance(node, _IMPORT_NODES)]
    rows = with_plain_ends(text).split("\n")
    return {node.name: _test(node, import_nodes, rows, region) for node in body if isinstance(node, ast.FunctionDef)}


def _test(node: ast.FunctionDef, import_nodes: Sequence[ImportNode], rows: Sequence[str], region: Region) -> EditedTest:
    target_name = region.qualname.partition(".")[0]
    statements = [each for each in node.body if not _plain_import(each, target_name)] or [ast.Pass()]
    first_line = min((each.lineno for each in node.decorator_list), default=node.lineno)
    used_names = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
    target_modules = {_module(each) for each in import_nodes if _plain_import(each, target_name)}
    imports: list[str] = []
    inner_imports: list[str] = []
    for head in import_nodes:
        source = ast.unparse(head)
        if isinstance(head, ast.Try):
            imports += [source] if node.decorator_list else []
        elif not _plain_import(head, target_name) and used_names & {
            (item.asname or item.name).partition(".")[0] for item in head.names
        }:
            # Names of the target's module must not be imported when the tests are collected.
            (inner_imports if _module(head) in target_modules else imports).append(source)
    check = Check(
        body="\n".join([*inner_imports, _body(statements, node, rows)]),
        line=region.start,
        provenance=Provenance.CONFIRMED,
        shown=_shown_line(statements),
        imports=tuple(imports),
        decorators=tuple(ast.unparse(each) for each in node.decorator_list),
        parameters=ast.unparse(node.args),
    )
    form = "\n".join([*check.decorators, check.parameters, *inner_imports, *map(ast.unparse, statements)])
    yours = any(_YOURS_MARK.search(row) for row in rows[first_line - 1 : node.body[0].lineno])
    return EditedTest(check=check, form=form, yours=yours)


def _module(node: ast.stmt) -> tuple[str | None, int] | None:
    return (node.module, node.level) if isinstance(node, ast.ImportFrom) else None


def _plain_import(node: ast.stmt, name: str) -> bool:
    """Does it import the target and nothing else?"""
    return isinstance(node, ast.ImportFrom) and [(item.name, item.asname) for item in node.names] == [(name, None)]


def _body(statements: Sequence[ast.stmt], node: ast.FunctionDef, rows: Sequence[str]) -> str:
    """The statements as written; as `ast` writes them where dedenting would change a multi-line string."""
    first = statements[0]
    has_multiline_text = any(
        isinstance(each, ast.Constant | ast.JoinedStr) and (each.end_lineno or 0) > each.lineno
        for each in ast.walk(node)
    )
    # Do two of them share a line?
    inline = (
        not hasattr(first, "lineno")
        or first.lineno == node.lineno
        or len({each.lineno for each in statements}) < len(statements)
    )
    if has_multiline_text or inline:
        return "\n".join(map(ast.unparse, statements))
    margin = " " * first.col_offset
    return "\n".join(row.removeprefix(margin) for row in rows[first.lineno - 1 : node.end_lineno]).rstrip()


def _shown_line(statements: Sequence[ast.stmt]) -> str:
    """The line that shows what is tested."""
    tested = [each for each in statements if not isinstance(each, ast.Import | ast.ImportFrom)]
    return ast.unparse((tested or statements)[-1]).split("\n")[0]


def without_struck(spec: Spec, region: Region, forms: Iterable[str]) -> Spec:
    """The spec without the tests of these forms, except those that the user confirmed.

    Their files stay; the removed tests are no longer selected.
    """
    struck_forms = set(forms)
    if not struck_forms:
        return spec
    ids: set[str] = set()
    for path, text in spec.files.items():
        ids |= {f"{path}::{name}" for name, test in _generated_tests(text, region).items() if test.form in struck_forms}
    ids -= {case.id for case in spec.cases if case.provenance is Provenance.CONFIRMED}
    return without_cases(spec, ids)


def without_cases(spec: Spec, ids: Collection[str]) -> Spec:
    """The spec without these cases; their files stay."""
    return replace(
        spec,
        cases=tuple(case for case in spec.cases if case.id not in ids),
        selectors=tuple(each for each in spec.selectors if each not in ids),
        outvoted=tuple(case for case in spec.outvoted if case.id not in ids),
    )


# -- the files --------------------------------------------------------------------------------------------------------


MAX_FUNCTIONS = 300  # functions of one workspace whose tests are kept; older ones are dropped


def stored_path(root: Path, path: str, qualname: str) -> Path:
    """Returns where the tests of a function are stored, even if there are none yet."""
    full_name = f"{path.removesuffix('.py').replace('/', '.')}__{qualname}"
    safe_name = re.sub(r"[^0-9a-zA-Z_.-]", "_", full_name)
    if safe_name != full_name or len(safe_name) > 120:
        safe_name = f"{safe_name[:120]}-{sha(full_name)[:8]}"
    return settings.state_folder() / "tests" / sha(str(root))[:16] / f"{safe_name}.py"


def read_text(file: Path) -> str | None:
    """Reads a file; if it is far too long, only enough to notice."""
    try:
        with file.open("rb") as stream:
            return stream.read(4 * LONGEST).decode("utf-8", "replace")
    except FileNotFoundError:
        return None


def record_path(file: Path) -> Path:
    return file.with_suffix(".json")


def set_aside(file: Path) -> Path:
    old_path = file.with_suffix(".old.py")
    with contextlib.suppress(OSError):
        file.replace(old_path)
        record_path(file).unlink(missing_ok=True)
    return old_path


def write_atomically(path: Path, text: str) -> None:
    """Writes a file atomically, readable by its owner only."""
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:40]}.")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", errors="replace", newline="\n") as file:
            file.write(text)
        Path(temporary).replace(path)
    except OSError:
        Path(temporary).unlink(missing_ok=True)
        raise


def prune(folder: Path) -> None:
    files = sorted(folder.glob("*.py"), key=lambda path: path.stat().st_mtime, reverse=True)
    for old in files[MAX_FUNCTIONS:]:
        old.unlink(missing_ok=True)
        record_path(old).unlink(missing_ok=True)


def sha(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
