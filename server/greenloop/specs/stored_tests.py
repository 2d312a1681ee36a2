"""Stores the tests of a docstring between runs.

There are two files for each function: one that the user edits, and a record of how it was written. Both are in the
state folder, readable only by the user. The difference between the two is the user's decision: a missing test was
struck out, a new or changed one counts as the user's own. A changed signature or docstring makes both stale, and they
are set aside. It must not know when tests are designed or who is believed.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from greenloop.core.generated_tests import Check, build_test_file
from greenloop.core.generated_tests import generated_path as sheet_path
from greenloop.core.records.spec import Provenance, Region, Spec
from greenloop.core.text.json_codec import from_json, to_json
from greenloop.project import settings
from greenloop.project.syntax import definitions
from greenloop.specs.edited_tests import LONGEST, Unreadable, Written, read, render, sift, written

CONFIRMED = "confirmed"  # the kind of generated tests that the user confirmed or wrote
DOCKETS = 300  # functions of one workspace whose tests are kept; older ones are dropped
SHOWN = 50  # tests in other places that are named in the file
KEPT = (Provenance.DESIGNED, Provenance.PROPERTY)  # tests that cannot be read from the docstring again


@dataclass(frozen=True, kw_only=True)
class Docket:
    """The stored tests of a function. `path` is the file to edit.

    `generated_tests` are frozen tests that only have a vote, `user_tests` those that the user corrected, added or
    confirmed; `struck` are the forms of tests that must never come back, each with the line that shows it.
    `messages` are sentences for the user. `file_text` is the file's text when it was read (None: no file).
    """

    path: Path
    region: Region
    digest: str
    kept: tuple[Written, ...] = ()
    own: tuple[Written, ...] = ()
    struck: Mapping[str, str] = field(default_factory=dict)
    said: tuple[str, ...] = ()
    seen: str | None = None
    readable: bool = True

    @property
    def confirmed(self) -> tuple[Check, ...]:
        """The checks of the user's own tests, in the kind `confirmed`."""
        return tuple(test.check for test in self.own)

    def has(self, provenance: Provenance) -> bool:
        """Are there stored tests of this provenance, so that no model need be asked for them?"""
        return any(test.check.provenance is provenance for test in self.kept)

    def spec(self, module: str) -> Spec:
        """The spec of the confirmed tests and the generated ones; those that the votes went against are `outvoted`."""
        result = build_test_file(self.region, module, CONFIRMED, self.confirmed)
        for kind in dict.fromkeys(test.kind for test in self.kept):
            tests_of_kind = [test for test in self.kept if test.kind == kind]
            generated = build_test_file(self.region, module, kind, [test.check for test in tests_of_kind])
            outvoted_ids = {
                case.id for case, test in zip(generated.cases, tests_of_kind, strict=True) if not test.believed
            }
            result += replace(
                generated,
                cases=tuple(case for case in generated.cases if case.id not in outvoted_ids),
                outvoted=tuple(case for case in generated.cases if case.id in outvoted_ids),
            )
        return result

    def sifted(self, spec: Spec) -> Spec:
        """The spec without the tests that were struck out or have become the user's own."""
        return sift(spec, self.region, {*self.struck, *(test.form for test in self.own)})


def path_of(root: Path, path: str, qualname: str) -> Path:
    """Where the tests of a function are stored, even if there are none yet."""
    full_name = f"{path.removesuffix('.py').replace('/', '.')}__{qualname}"
    safe_name = re.sub(r"[^0-9a-zA-Z_.-]", "_", full_name)
    if safe_name != full_name or len(safe_name) > 120:
        safe_name = f"{safe_name[:120]}-{_sha(full_name)[:8]}"
    return settings.state_folder() / "tests" / _sha(str(root))[:16] / f"{safe_name}.py"


def load(root: Path, region: Region, text: str) -> Docket:
    """Loads the tests of a function; `text` is its source file. Never raises for the contents of the stored files."""
    file = path_of(root, region.path, region.qualname)
    digest = _digest(text, region)
    empty = Docket(path=file, region=region, digest=digest)
    try:
        file_text = _text(file)
    except OSError as error:
        return replace(empty, said=(f"{file} cannot be read ({error.strerror}).",), readable=False)
    if file_text is None:
        return empty
    record = _record(file)
    if record is not None and record.digest != digest:
        moved_to = _aside(file)
        message = f"What {region.qualname} should do has changed; its old tests are kept in {moved_to}."
        return replace(empty, said=(message,))
    stored = replace(empty, seen=file_text)
    try:
        tests = read(file_text, region)
    except Unreadable as error:
        message = f"{file} cannot be read: {error}. Correct it or delete it; until then the tests count as they were."
        return _as_written(replace(stored, said=(message,), readable=False), record or _Record())
    return _as_edited(stored, tests, record) if record is not None else _unknown(stored, tests)


def save(docket: Docket, spec: Spec, module: str) -> Docket:
    """Writes the current tests; a stored test that is missing from its own kind in the spec counts as struck out.

    A file that the user changed since it was loaded, or that cannot be read, is left unchanged; tests that they
    confirmed in the meantime are added to the record. Never raises: errors are in `messages`.
    """
    tests = written(spec, docket.region)
    present_forms = {test.form for test in tests}
    generated_kinds = {test.kind for test in docket.kept if sheet_path(docket.region, test.kind) in spec.files}
    absent = [test for test in docket.kept if test.form not in present_forms]
    newly_struck = {test.form: test.check.shown for test in absent if test.kind in generated_kinds}
    unchanged = [test for test in absent if test.kind not in generated_kinds] + [
        test for test in docket.own if test.form not in present_forms
    ]
    all_tests = (*tests, *unchanged)
    updated = replace(
        docket,
        kept=tuple(test for test in all_tests if test.check.provenance in KEPT),
        own=tuple(test for test in all_tests if test.check.provenance is Provenance.CONFIRMED),
        struck={form: shown for form, shown in {**docket.struck, **newly_struck}.items() if form not in present_forms},
        said=(),
    )
    try:
        return _saved(updated, all_tests, _others(spec), module)
    except OSError as error:
        return replace(updated, said=(f"The tests could not be kept in {docket.path} ({error.strerror}).",))


def update(root: Path, region: Region, text: str, spec: Spec, module: str) -> tuple[str, ...]:
    """Like `save`, when votes or answers changed the spec during a run; returns messages for the user.

    It starts from the tests last written: the user's edits in the meantime count from the next run on.
    """
    path, digest = path_of(root, region.path, region.qualname), _digest(text, region)
    record = _record(path)
    if record is None or record.digest != digest:
        return save(load(root, region, text), spec, module).said
    try:
        file_text = _text(path)
    except OSError as error:
        return (f"{path} cannot be read ({error.strerror}).",)
    is_unchanged = file_text is not None and _sha(file_text) == record.sha
    stored = Docket(path=path, region=region, digest=digest, seen=file_text, readable=is_unchanged)
    return save(_as_written(stored, record), spec, module).said


def _saved(docket: Docket, tests: Sequence[Written], others: Sequence[str], module: str) -> Docket:
    current = _text(docket.path)
    if current != docket.seen or not docket.readable:
        record = _record(docket.path) or _Record(digest=docket.digest)
        recorded_forms = {test.form for test in record.tests}
        record = replace(record, pending=tuple(test for test in docket.own if test.form not in recorded_forms))
        if current is not None:
            _put(_beside(docket.path), json.dumps(to_json(record)))
        return docket
    if not tests and current is None:
        return docket
    for folder in (docket.path.parent.parent, docket.path.parent):
        folder.mkdir(mode=0o700, exist_ok=True)
    text = render(tests, docket.region, module, others)
    # The record first: tests that it does not list would count as the user's.
    record = _Record(digest=docket.digest, sha=_sha(text), tests=tuple(tests), struck=docket.struck)
    _put(_beside(docket.path), json.dumps(to_json(record)))
    _put(docket.path, text)
    _prune(docket.path.parent)
    return replace(docket, seen=text)


def struck(root: Path, path: str, qualname: str) -> tuple[str, ...]:
    """The lines that show what the user struck out, without checking whether the function changed."""
    with contextlib.suppress(OSError):
        record = _record(path_of(root, path, qualname))
        return tuple(record.struck.values()) if record else ()
    return ()


# -- the record, and the user's edits ------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class _Record:
    """How the file was written: `sha` is the hash of its text. `pending` was confirmed after the user changed it."""

    digest: str = ""
    sha: str = ""
    tests: tuple[Written, ...] = ()
    struck: Mapping[str, str] = field(default_factory=dict)
    pending: tuple[Written, ...] = ()


def _as_written(docket: Docket, record: _Record) -> Docket:
    all_tests = (*record.tests, *record.pending)
    return replace(
        docket,
        kept=tuple(test for test in all_tests if test.check.provenance in KEPT),
        own=tuple(test for test in all_tests if test.check.provenance is Provenance.CONFIRMED),
        struck=record.struck,
    )


def _as_edited(docket: Docket, tests: Sequence[Written], record: _Record) -> Docket:
    recorded = {test.form: test for test in record.tests}
    present = {test.form: test for test in tests}
    generated_tests: list[Written] = []
    user_tests: dict[str, Written] = {test.form: test for test in record.pending}
    for form, test in present.items():
        recorded_test = recorded.get(form)
        if recorded_test is None:
            user_tests[form] = replace(test, kind=CONFIRMED)
        elif test.yours or recorded_test.check.provenance is Provenance.CONFIRMED:
            user_tests[form] = replace(
                recorded_test, kind=CONFIRMED, check=replace(recorded_test.check, provenance=Provenance.CONFIRMED)
            )
        elif recorded_test.check.provenance in KEPT:
            generated_tests.append(recorded_test)
    removed = {form: test.check.shown for form, test in recorded.items()}
    struck = {form: shown for form, shown in {**record.struck, **removed}.items() if form not in present}
    return replace(docket, kept=tuple(generated_tests), own=tuple(user_tests.values()), struck=struck)


def _unknown(docket: Docket, tests: Sequence[Written]) -> Docket:
    """Loads a file whose record is lost: only tests marked `# yours` count as the user's."""
    message = f"How {docket.path} came about is not known any more; what is not marked `# yours` in it has a vote only."
    designed = [
        replace(test, kind="designed", check=replace(test.check, provenance=Provenance.DESIGNED))
        for test in tests
        if not test.yours
    ]
    return _as_edited(replace(docket, said=(message,)), tests, _Record(tests=tuple(designed)))


def _others(spec: Spec) -> list[str]:
    """Ids of the cases that must hold but were not generated by greenloop."""
    other_cases = [case for case in spec.cases if case.id.partition("::")[0] not in spec.files and case.executed]
    return [case.id.replace("\n", " ") for case in other_cases[:SHOWN]]


def _digest(text: str, region: Region) -> str:
    """Hashes what the function should do: its header and docstring, regardless of layout."""
    definition = definitions.find_by_qualname(definitions.find_definitions(text), region.qualname)
    if definition is None:
        return _sha("")
    header = "".join(definitions.line_span(text, definition.name_line, definition.header_end).split())
    docstring = definitions.line_span(text, *definition.docstring) if definition.docstring else ""
    return _sha("\n".join([header, *(row.strip() for row in docstring.strip().splitlines())]))


def _sha(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


# -- files ----------------------------------------------------------------------------------------------------------


def _text(file: Path) -> str | None:
    """Reads a file; if it is far too long, only enough to notice."""
    try:
        with file.open("rb") as stream:
            return stream.read(4 * LONGEST).decode("utf-8", "replace")
    except FileNotFoundError:
        return None


def _beside(file: Path) -> Path:
    return file.with_suffix(".json")


def _record(file: Path) -> _Record | None:
    """Reads how the file was written; None where that is no longer known."""
    try:
        return from_json(_Record, json.loads(_beside(file).read_bytes()))
    except (OSError, ValueError):
        return None


def _aside(file: Path) -> Path:
    old_path = file.with_suffix(".old.py")
    with contextlib.suppress(OSError):
        file.replace(old_path)
        _beside(file).unlink(missing_ok=True)
    return old_path


def _put(path: Path, text: str) -> None:
    """Writes a file atomically, readable by its owner only."""
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:40]}.")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", errors="replace", newline="\n") as file:
            file.write(text)
        Path(temporary).replace(path)
    except OSError:
        Path(temporary).unlink(missing_ok=True)
        raise


def _prune(folder: Path) -> None:
    files = sorted(folder.glob("*.py"), key=lambda path: path.stat().st_mtime, reverse=True)
    for old in files[DOCKETS:]:
        old.unlink(missing_ok=True)
        _beside(old).unlink(missing_ok=True)
