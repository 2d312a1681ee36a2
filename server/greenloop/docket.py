"""The tests of a docstring between runs: a file that the user edits, and a record of how it was written.

Both stand in the state folder, readable for nobody else, one pair for each function. What differs between the two is
the user's word: a test that is gone was struck out, one that is new or changed counts as his. A changed signature or
docstring makes both stale; they are kept aside. It must not know when tests are designed or who is believed.
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

from greenloop import settings, syntax
from greenloop.core.edited import LONGEST, Unreadable, Written, read, render, sift, written
from greenloop.core.encode import from_json, to_json
from greenloop.core.nouns import Provenance, Region, Spec
from greenloop.core.sheet import Check, sheet
from greenloop.core.sheet import path_of as sheet_path

CONFIRMED = "confirmed"  # the kind of sheet that the user's own word makes
DOCKETS = 300  # functions of one workspace whose tests are kept; older ones are dropped
SHOWN = 50  # tests that stand elsewhere and are named in the file
KEPT = (Provenance.DESIGNED, Provenance.PROPERTY)  # what is not read from the docstring anew


@dataclass(frozen=True, kw_only=True)
class Docket:
    """What is known of a function's tests. `path` is the file to edit.

    `kept` are frozen tests that have a vote only, `own` those that the user corrected, added or confirmed; `struck` are
    the forms of tests that must never come back, with the line that shows each.
    `said` are sentences for the user. `seen` is the file's text when it was looked at (None: there was none).
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
        """The tests of the user's own, as the sheet `confirmed` has them."""
        return tuple(test.check for test in self.own)

    def has(self, provenance: Provenance) -> bool:
        """Are there kept tests of this provenance, so that nobody need be asked for some?"""
        return any(test.check.provenance is provenance for test in self.kept)

    def spec(self, module: str) -> Spec:
        """The kept tests as they were, those that the votes went against among `outvoted`, and the confirmed ones."""
        found = sheet(self.region, module, CONFIRMED, self.confirmed)
        for kind in dict.fromkeys(test.kind for test in self.kept):
            mine = [test for test in self.kept if test.kind == kind]
            made = sheet(self.region, module, kind, [test.check for test in mine])
            lost = {case.id for case, test in zip(made.cases, mine, strict=True) if not test.believed}
            found += replace(
                made,
                cases=tuple(case for case in made.cases if case.id not in lost),
                outvoted=tuple(case for case in made.cases if case.id in lost),
            )
        return found

    def sifted(self, spec: Spec) -> Spec:
        """The spec without what was struck out, and without what is the user's own by now."""
        return sift(spec, self.region, {*self.struck, *(test.form for test in self.own)})


def path_of(root: Path, path: str, qualname: str) -> Path:
    """Where the tests of a function are kept, whether or not there are any."""
    name = f"{path.removesuffix('.py').replace('/', '.')}__{qualname}"
    clean = re.sub(r"[^0-9a-zA-Z_.-]", "_", name)
    if clean != name or len(clean) > 120:
        clean = f"{clean[:120]}-{_sha(name)[:8]}"
    return settings.state_folder() / "tests" / _sha(str(root))[:16] / f"{clean}.py"


def load(root: Path, region: Region, text: str) -> Docket:
    """What is known of the function that `text`, its file's, holds. Never raises for what the files hold."""
    file = path_of(root, region.path, region.qualname)
    digest = _digest(text, region)
    blank = Docket(path=file, region=region, digest=digest)
    try:
        seen = _text(file)
    except OSError as error:
        return replace(blank, said=(f"{file} cannot be read ({error.strerror}).",), readable=False)
    if seen is None:
        return blank
    record = _record(file)
    if record is not None and record.digest != digest:
        aside = _aside(file)
        told = f"What {region.qualname} should do has changed; its old tests are kept in {aside}."
        return replace(blank, said=(told,))
    known = replace(blank, seen=seen)
    try:
        tests = read(seen, region)
    except Unreadable as error:
        told = f"{file} cannot be read: {error}. Correct it or delete it; until then the tests count as they were."
        return _as_written(replace(known, said=(told,), readable=False), record or _Record())
    return _as_edited(known, tests, record) if record is not None else _unknown(known, tests)


def save(docket: Docket, spec: Spec, module: str) -> Docket:
    """Writes what must hold now; kept tests whose sheet is in the spec without them count as struck out.

    A file that the user changed since it was loaded, or that cannot be read, stays as it is; what he confirmed
    meanwhile is added to the record. Never raises: what went wrong is in `said`.
    """
    tests = written(spec, docket.region)
    here = {test.form for test in tests}
    asked = {test.kind for test in docket.kept if sheet_path(docket.region, test.kind) in spec.files}
    absent = [test for test in docket.kept if test.form not in here]
    gone = {test.form: test.check.shown for test in absent if test.kind in asked}
    left = [test for test in absent if test.kind not in asked] + [test for test in docket.own if test.form not in here]
    every = (*tests, *left)
    now = replace(
        docket,
        kept=tuple(test for test in every if test.check.provenance in KEPT),
        own=tuple(test for test in every if test.check.provenance is Provenance.CONFIRMED),
        struck={form: shown for form, shown in {**docket.struck, **gone}.items() if form not in here},
        said=(),
    )
    try:
        return _saved(now, every, _others(spec), module)
    except OSError as error:
        return replace(now, said=(f"The tests could not be kept in {docket.path} ({error.strerror}).",))


def update(root: Path, region: Region, text: str, spec: Spec, module: str) -> tuple[str, ...]:
    """As `save`, when votes or answers changed the spec during a run; returns what there is to say.

    It begins with what was written last: what the user does to the file meanwhile counts from the next run on.
    """
    path, digest = path_of(root, region.path, region.qualname), _digest(text, region)
    record = _record(path)
    if record is None or record.digest != digest:
        return save(load(root, region, text), spec, module).said
    try:
        seen = _text(path)
    except OSError as error:
        return (f"{path} cannot be read ({error.strerror}).",)
    same = seen is not None and _sha(seen) == record.sha
    known = Docket(path=path, region=region, digest=digest, seen=seen, readable=same)
    return save(_as_written(known, record), spec, module).said


def _saved(docket: Docket, tests: Sequence[Written], others: Sequence[str], module: str) -> Docket:
    current = _text(docket.path)
    if current != docket.seen or not docket.readable:
        record = _record(docket.path) or _Record(digest=docket.digest)
        known = {test.form for test in record.tests}
        record = replace(record, pending=tuple(test for test in docket.own if test.form not in known))
        if current is not None:
            _put(_beside(docket.path), json.dumps(to_json(record)))
        return docket
    if not tests and current is None:
        return docket
    for folder in (docket.path.parent.parent, docket.path.parent):
        folder.mkdir(mode=0o700, exist_ok=True)
    text = render(tests, docket.region, module, others)
    # The record first: tests that it does not know would count as the user's.
    record = _Record(digest=docket.digest, sha=_sha(text), tests=tuple(tests), struck=docket.struck)
    _put(_beside(docket.path), json.dumps(to_json(record)))
    _put(docket.path, text)
    _prune(docket.path.parent)
    return replace(docket, seen=text)


def struck(root: Path, path: str, qualname: str) -> tuple[str, ...]:
    """The lines that show what the user struck out, without a look at what the function says now."""
    with contextlib.suppress(OSError):
        record = _record(path_of(root, path, qualname))
        return tuple(record.struck.values()) if record else ()
    return ()


# -- what was written, and what was made of it ----------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class _Record:
    """`sha` is of the file as written; `pending` was confirmed while the file was the user's to change."""

    digest: str = ""
    sha: str = ""
    tests: tuple[Written, ...] = ()
    struck: Mapping[str, str] = field(default_factory=dict)
    pending: tuple[Written, ...] = ()


def _as_written(docket: Docket, record: _Record) -> Docket:
    every = (*record.tests, *record.pending)
    return replace(
        docket,
        kept=tuple(test for test in every if test.check.provenance in KEPT),
        own=tuple(test for test in every if test.check.provenance is Provenance.CONFIRMED),
        struck=record.struck,
    )


def _as_edited(docket: Docket, tests: Sequence[Written], record: _Record) -> Docket:
    was = {test.form: test for test in record.tests}
    here = {test.form: test for test in tests}
    kept: list[Written] = []
    own: dict[str, Written] = {test.form: test for test in record.pending}
    for form, test in here.items():
        old = was.get(form)
        if old is None:
            own[form] = replace(test, kind=CONFIRMED)
        elif test.yours or old.check.provenance is Provenance.CONFIRMED:
            own[form] = replace(old, kind=CONFIRMED, check=replace(old.check, provenance=Provenance.CONFIRMED))
        elif old.check.provenance in KEPT:
            kept.append(old)
    gone = {form: test.check.shown for form, test in was.items()}
    struck = {form: shown for form, shown in {**record.struck, **gone}.items() if form not in here}
    return replace(docket, kept=tuple(kept), own=tuple(own.values()), struck=struck)


def _unknown(docket: Docket, tests: Sequence[Written]) -> Docket:
    """Of a file whose record is lost: nobody's word but that of whoever marked it."""
    told = f"How {docket.path} came about is not known any more; what is not marked `# yours` in it has a vote only."
    designed = [
        replace(test, kind="designed", check=replace(test.check, provenance=Provenance.DESIGNED))
        for test in tests
        if not test.yours
    ]
    return _as_edited(replace(docket, said=(told,)), tests, _Record(tests=tuple(designed)))


def _others(spec: Spec) -> list[str]:
    """What must hold and is not greenloop's to write down, by its id."""
    outside = [case for case in spec.cases if case.id.partition("::")[0] not in spec.files and case.executed]
    return [case.id.replace("\n", " ") for case in outside[:SHOWN]]


def _digest(text: str, region: Region) -> str:
    """Of what the function is asked to do: its header and its docstring, however they are laid out."""
    found = syntax.lookup(syntax.definitions(text), region.qualname)
    if found is None:
        return _sha("")
    header = "".join(syntax.span(text, found.name_line, found.header_end).split())
    said = syntax.span(text, *found.docstring) if found.docstring else ""
    return _sha("\n".join([header, *(row.strip() for row in said.strip().splitlines())]))


def _sha(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


# -- files ----------------------------------------------------------------------------------------------------------


def _text(file: Path) -> str | None:
    """Of a file far too long only so much that it is seen to be."""
    try:
        with file.open("rb") as stream:
            return stream.read(4 * LONGEST).decode("utf-8", "replace")
    except FileNotFoundError:
        return None


def _beside(file: Path) -> Path:
    return file.with_suffix(".json")


def _record(file: Path) -> _Record | None:
    """How the file was written; None where that is not known any more."""
    try:
        return from_json(_Record, json.loads(_beside(file).read_bytes()))
    except (OSError, ValueError):
        return None


def _aside(file: Path) -> Path:
    aside = file.with_suffix(".old.py")
    with contextlib.suppress(OSError):
        file.replace(aside)
        _beside(file).unlink(missing_ok=True)
    return aside


def _put(path: Path, text: str) -> None:
    """In one step, readable for its owner only."""
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
