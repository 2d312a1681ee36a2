"""Stores the tests of a docstring between runs.

There are two files for each function: one that the user edits, and a record of how it was written. Both are in the
state folder, readable only by the user. The difference between the two is the user's decision: a missing test was
struck out, a new or changed one counts as the user's own. A changed signature or docstring makes both stale, and they
are set aside. It must not know when tests are designed or who is believed.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from greenloop.core.generated_tests import Check, build_test_file, generated_path
from greenloop.core.records.spec import Provenance, Region, Spec
from greenloop.core.text.json_codec import from_json, to_json
from greenloop.plugins.written_tests import edited_tests
from greenloop.plugins.written_tests.edited_tests import (
    EditedTest,
    UnreadableTestsError,
    list_tests,
    read,
    render,
    without_struck,
)
from greenloop.project.syntax import definitions

CONFIRMED = "confirmed"  # the kind of generated tests that the user confirmed or wrote
SHOWN = 50  # tests in other places that are named in the file
KEPT = (Provenance.DESIGNED, Provenance.PROPERTY)  # tests that cannot be read from the docstring again


@dataclass(frozen=True, kw_only=True)
class StoredTests:
    """The stored tests of a function. `path` is the file to edit.

    `struck` are the forms of tests that must never come back, each with the line that shows it.
    `messages` are sentences for the user. `file_text` is the file's text when it was read (None: no file).
    """

    path: Path
    region: Region
    digest: str
    tests: tuple[EditedTest, ...] = ()
    struck: Mapping[str, str] = field(default_factory=dict)
    messages: tuple[str, ...] = ()
    file_text: str | None = None
    readable: bool = True

    @property
    def generated_tests(self) -> tuple[EditedTest, ...]:
        """Frozen tests that only have a vote."""
        return tuple(test for test in self.tests if test.check.provenance in KEPT)

    @property
    def user_tests(self) -> tuple[EditedTest, ...]:
        """The tests that the user corrected, added or confirmed."""
        return tuple(test for test in self.tests if test.check.provenance is Provenance.CONFIRMED)

    @property
    def confirmed(self) -> tuple[Check, ...]:
        """The checks of the user's own tests, in the kind `confirmed`."""
        return tuple(test.check for test in self.user_tests)

    def has(self, provenance: Provenance | None) -> bool:
        """Are there stored tests of this provenance, so that no model need be asked for them?"""
        return any(test.check.provenance is provenance for test in self.generated_tests)

    def spec(self, module: str) -> Spec:
        """The spec of the confirmed tests and the generated ones; those that the votes went against are `outvoted`."""
        result = build_test_file(self.region, module, CONFIRMED, self.confirmed)
        for kind in dict.fromkeys(test.kind for test in self.generated_tests):
            tests_of_kind = [test for test in self.generated_tests if test.kind == kind]
            generated = build_test_file(self.region, module, kind, [test.check for test in tests_of_kind])
            cases = list(zip(generated.cases, tests_of_kind, strict=True))
            result += replace(
                generated,
                cases=tuple(case for case, test in cases if test.believed),
                outvoted=tuple(case for case, test in cases if not test.believed),
            )
        return result

    def without_struck(self, spec: Spec) -> Spec:
        """The spec without the tests that were struck out or have become the user's own."""
        return without_struck(spec, self.region, {*self.struck, *(test.form for test in self.user_tests)})


def load(root: Path, region: Region, text: str, *, as_written: bool = False) -> StoredTests:
    """Loads the tests of a function; `text` is its source file. Never raises for the contents of the stored files.

    `as_written`: without what the user has changed since the file was written.
    """
    file = edited_tests.stored_path(root, region.path, region.qualname)
    digest = _digest(text, region)
    stored = StoredTests(path=file, region=region, digest=digest)
    try:
        file_text = edited_tests.read_text(file)
    except OSError as error:
        return replace(stored, messages=(f"{file} cannot be read ({error.strerror}).",), readable=False)
    record = _read_record(file)
    if file_text is None:
        # Nothing replaces a file that the user deleted during the run.
        return replace(stored, readable=record is None or not as_written)
    if record is not None and record.digest != digest:
        moved_to = edited_tests.set_aside(file)
        message = (
            f"The signature or docstring of {region.qualname} has changed; its old tests were moved to {moved_to}."
        )
        return replace(stored, messages=(message,))
    stored = replace(stored, file_text=file_text)
    if as_written and record is not None:
        return replace(record.restore(stored), readable=edited_tests.sha(file_text) == record.sha)
    try:
        tests = read(file_text, region)
    except UnreadableTestsError as error:
        message = f"{file} cannot be read: {error}. Correct or delete it; until then the last saved tests are used."
        return (record or _Record()).restore(replace(stored, messages=(message,), readable=False))
    return _as_edited(stored, tests, record) if record is not None else _without_record(stored, tests)


def save(stored: StoredTests, spec: Spec, module: str) -> StoredTests:
    """Writes the current tests; a stored test that is missing from its own kind in the spec counts as struck out.

    A file that the user changed since it was loaded, or that cannot be read, is left unchanged; tests that they
    confirmed in the meantime are added to the record. Never raises: errors are in `messages`.
    """
    tests = list_tests(spec, stored.region)
    present_forms = {test.form for test in tests}
    unchanged = []
    newly_struck = {}
    for test in (*stored.generated_tests, *stored.user_tests):
        if test.form in present_forms:
            continue
        if test.check.provenance in KEPT and generated_path(stored.region, test.kind) in spec.files:
            newly_struck[test.form] = test.check.shown
        else:
            unchanged.append(test)
    struck = {form: shown for form, shown in {**stored.struck, **newly_struck}.items() if form not in present_forms}
    updated = replace(stored, tests=(*tests, *unchanged), struck=struck, messages=())
    try:
        # Cases that must hold but were not generated by greenloop.
        others = [case for case in spec.cases if case.id.partition("::")[0] not in spec.files and case.executed]
        return _write(updated, [case.id.replace("\n", " ") for case in others[:SHOWN]], module)
    except OSError as error:
        return replace(updated, messages=(f"The tests could not be saved to {stored.path} ({error.strerror}).",))


def update(root: Path, region: Region, text: str, spec: Spec, module: str) -> tuple[str, ...]:
    """Like `save`, when votes or answers changed the spec during a run; returns messages for the user.

    It starts from the tests last written: the user's edits in the meantime count from the next run on.
    """
    return save(load(root, region, text, as_written=True), spec, module).messages


def _write(stored: StoredTests, other_tests: Sequence[str], module: str) -> StoredTests:
    current = edited_tests.read_text(stored.path)
    if current != stored.file_text or not stored.readable:
        record = _read_record(stored.path) or _Record(digest=stored.digest)
        recorded_forms = {test.form for test in record.tests}
        record = replace(record, pending=tuple(test for test in stored.user_tests if test.form not in recorded_forms))
        if current is not None:
            edited_tests.write_atomically(edited_tests.record_path(stored.path), json.dumps(to_json(record)))
        return stored
    if not stored.tests and current is None:
        return stored
    for folder in (stored.path.parent.parent, stored.path.parent):
        folder.mkdir(mode=0o700, exist_ok=True)
    text = render(stored.tests, stored.region, module, other_tests)
    # The record first: tests that it does not list would count as the user's.
    record = _Record(digest=stored.digest, sha=edited_tests.sha(text), tests=stored.tests, struck=stored.struck)
    edited_tests.write_atomically(edited_tests.record_path(stored.path), json.dumps(to_json(record)))
    edited_tests.write_atomically(stored.path, text)
    edited_tests.prune(stored.path.parent)
    return replace(stored, file_text=text)


def struck_lines(root: Path, path: str, qualname: str) -> tuple[str, ...]:
    """The lines that show what the user struck out, without checking whether the function changed."""
    with contextlib.suppress(OSError):
        record = _read_record(edited_tests.stored_path(root, path, qualname))
        return tuple(record.struck.values()) if record else ()
    return ()


# -- the record, and the user's edits ------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class _Record:
    """Record of a written file: `sha` is the hash of its text. `pending` was confirmed after the user changed it."""

    digest: str = ""
    sha: str = ""
    tests: tuple[EditedTest, ...] = ()
    struck: Mapping[str, str] = field(default_factory=dict)
    pending: tuple[EditedTest, ...] = ()

    def restore(self, stored: StoredTests) -> StoredTests:
        """The tests as they were last saved."""
        return replace(stored, tests=(*self.tests, *self.pending), struck=self.struck)


def _as_edited(stored: StoredTests, tests: Sequence[EditedTest], record: _Record) -> StoredTests:
    recorded = {test.form: test for test in record.tests}
    present = {test.form: test for test in tests}
    current = {test.form: test for test in record.pending}
    for form, test in present.items():
        recorded_test = recorded.get(form)
        if recorded_test is None:
            current[form] = replace(test, kind=CONFIRMED)
        elif test.yours or recorded_test.check.provenance is Provenance.CONFIRMED:
            check = replace(recorded_test.check, provenance=Provenance.CONFIRMED)
            current[form] = replace(recorded_test, kind=CONFIRMED, check=check)
        else:
            current[form] = recorded_test
    removed = {form: test.check.shown for form, test in recorded.items()}
    struck = {form: shown for form, shown in {**record.struck, **removed}.items() if form not in present}
    return replace(stored, tests=tuple(current.values()), struck=struck)


def _without_record(stored: StoredTests, tests: Sequence[EditedTest]) -> StoredTests:
    """Loads a file whose record is lost: only tests marked `# yours` count as the user's."""
    message = f"The record of {stored.path} is missing, so its tests that are not marked `# yours` only have a vote."
    designed = [
        replace(test, kind="designed", check=replace(test.check, provenance=Provenance.DESIGNED))
        for test in tests
        if not test.yours
    ]
    return _as_edited(replace(stored, messages=(message,)), tests, _Record(tests=tuple(designed)))


def _digest(text: str, region: Region) -> str:
    """Hashes what the function should do: its header and docstring, regardless of layout."""
    definition = definitions.find_by_qualname(definitions.find_definitions(text), region.qualname)
    if definition is None:
        return edited_tests.sha("")
    header = "".join(definitions.line_span(text, definition.name_line, definition.header_end).split())
    docstring = definitions.line_span(text, *definition.docstring) if definition.docstring else ""
    return edited_tests.sha("\n".join([header, *(row.strip() for row in docstring.strip().splitlines())]))


def _read_record(file: Path) -> _Record | None:
    """Reads how the file was written; None where that is no longer known."""
    try:
        return from_json(_Record, json.loads(edited_tests.record_path(file).read_bytes()))
    except (OSError, ValueError):
        return None
