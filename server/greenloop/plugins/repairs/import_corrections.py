"""Corrects a module's imports of things that are elsewhere or are spelled differently.

Only where one can be meant: the one module of the project that defines the name, the one of the standard library from
which it is usually imported or that has it in this version of Python, the one of an installed package, or else the most
similar name of the module or module of that name.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from greenloop.core.python import standard_names
from greenloop.core.python.assignments import has_lines_to_itself
from greenloop.core.python.ast_source import parse_module
from greenloop.core.python.names import module_bindings
from greenloop.core.python.standard_names import MEMBERS, MODULES
from greenloop.core.records.problem import ImportCorrection
from greenloop.core.records.spec import Region
from greenloop.core.text.diff import with_plain_ends
from greenloop.core.text.similar import MEANT, similar
from greenloop.plugins.repairs import installed_names
from greenloop.project import sources
from greenloop.project.environment.declared_dependencies import is_third_party
from greenloop.project.missing_imports import (
    MOST_FILES,
    absolute_name,
    correct_attribute,
    find_defining,
    import_name,
    with_names,
    written_name,
)
from greenloop.project.syntax import definitions

_NO_NAME = re.compile(r"cannot import name '(\w+)' from '([\w.]+)'")
_NO_MODULE = re.compile(r"No module named '([\w.]+)'")
_NO_ATTRIBUTE = re.compile(r"^module '([\w.]+)' has no attribute '(\w+)'")
_AS_ITSELF = re.compile(r"\b(\w+) as \1\b")
_FROM = re.compile(r"(from\s+)\S+(\s+import\b)")


def find_corrections(
    message: str, line: int, text: str, path: str, root: Path, read_text: sources.ReadText, sites: Sequence[Path] = ()
) -> list[ImportCorrection]:
    """The corrections of a file's imports, of which the one at the line failed with this message.

    `sites` are the folders of installed packages. None at all where that one cannot be corrected. Others that a module
    guards or makes later are left alone.
    """
    text = with_plain_ends(text)
    patterns = (_NO_NAME, _NO_MODULE, _NO_ATTRIBUTE)
    module = parse_module(text) if any(each.search(message) for each in patterns) else None
    if not isinstance(module, ast.Module):
        return []
    if match := _NO_ATTRIBUTE.search(message):
        return correct_attribute(match[1], match[2], line, text, path)
    looker = _Looker(path=path, root=root, read_text=read_text, text=text, sites=sites)
    lines = text.split("\n")
    nodes = [each for each in ast.walk(module) if isinstance(each, ast.Import | ast.ImportFrom)]
    nodes = [each for each in nodes if has_lines_to_itself(each, lines)]
    failed = next((each for each in nodes if each.lineno <= line <= (each.end_lineno or each.lineno)), None)
    first = looker.correct(failed, message) if failed else None
    if first is None:
        return []  # the others are looked up in all files, which is for this failure alone
    others = (looker.correct(each, "") for each in nodes if each is not failed and each in module.body)
    return [first, *filter(None, others)]


@dataclass(frozen=True, kw_only=True)
class _Looker:
    """Looks up what one file imports."""

    path: str
    root: Path
    read_text: sources.ReadText
    text: str
    sites: Sequence[Path]

    def correct(self, node: ast.Import | ast.ImportFrom, message: str) -> ImportCorrection | None:
        missing = match[1] if (match := _NO_MODULE.search(message)) else ""
        if isinstance(node, ast.Import):
            return self._correct_import(node, missing) if missing else None
        dotted = absolute_name(node.module or "", node.level, self.path, self.root)
        if missing:
            return self._correct_module(node, dotted) if dotted == missing else None
        match = _NO_NAME.search(message)
        told = match[1] if match else ""
        if told and not self._is_known(dotted):
            return self._correct_installed(node, dotted, told)
        known = self._names_of(dotted)
        if told in known or not self._is_known(dotted):
            return None  # this Python has it
        wrong = [each for each in node.names if each.name == told or (known and each.name not in known)]
        wrong = [each for each in wrong if each.name != "*" and "__getattr__" not in known]
        return self._correct_names(node, dotted, wrong, known) if wrong else None

    def _correct_installed(self, node: ast.ImportFrom, dotted: str, told: str = "") -> ImportCorrection | None:
        """Corrects an import of names that an installed module lacks but its package has; `told` is one of them."""
        file = installed_names.find_file(dotted, self.sites)
        text = file.read_text(encoding="utf-8", errors="replace") if file else ""
        known = definitions.identifiers(text) if installed_names.names_all(text) else {each.name for each in node.names}
        wrong = [each for each in node.names if each.name == told or each.name not in known]
        if not wrong or any(each.name == "*" for each in wrong):
            return None
        present = {each.name: installed_names.find_present(each.name, dotted, self.sites) for each in wrong}
        return self._correction(node, wrong[0], present, dotted)

    def _correct_names(
        self, node: ast.ImportFrom, dotted: str, wrong: Sequence[ast.alias], known: Sequence[str]
    ) -> ImportCorrection | None:
        present: dict[str, tuple[str, str] | None] = {}
        for each in wrong:
            if former := standard_names.present_name(dotted, each.name):
                present[each.name] = former
            elif place := self._defining(each.name, dotted):
                present[each.name] = (place, each.name)
            else:
                similar = _similar(each.name, known)
                present[each.name] = (dotted, similar[0]) if similar else None
        return self._correction(node, wrong[0], present, dotted)

    def _correct_module(self, node: ast.ImportFrom, dotted: str) -> ImportCorrection | None:
        """Takes the similar module that has all of the names, or else the one that defines them."""
        names = {each.name for each in node.names}
        if dotted in standard_names.FORMER_MODULES:
            present = {name: standard_names.present_name(dotted, name) for name in names}
            return self._correction(node, node.names[0], present, dotted)
        if any((site / dotted.partition(".")[0]).is_dir() for site in self.sites) and not self._is_known(dotted):
            return self._correct_installed(node, dotted)
        similar = _similar(dotted, self._modules()) if not self._is_to_install(dotted) else ()
        places = [each for each in similar if names <= {*self._names_of(each), "*"}]
        if not places and self._is_known(dotted):
            places = [*{self._defining(name, dotted) for name in names}]
        if len(places) != 1 or not places[0]:
            return None
        return self._correction(node, node.names[0], {name: (places[0], name) for name in names}, dotted)

    def _correct_import(self, node: ast.Import, missing: str) -> ImportCorrection | None:
        """Takes the similar module that has all attributes which are read."""
        chosen = next((each for each in node.names if each.name == missing), None)
        if chosen and missing in standard_names.FORMER_MODULES and ("." not in missing or chosen.asname):
            return self._correction(node, chosen, {missing: ("", standard_names.FORMER_MODULES[missing])}, "")
        if chosen is None or self._is_to_install(missing):
            return None
        read = self._read_of(chosen.asname or missing)
        found = [each for each in _similar(missing, self._modules()) if read and read <= {*self._names_of(each)}]
        if len(found) != 1 or ("." in missing + found[0] and not chosen.asname):
            return None
        return self._correction(node, chosen, {missing: ("", found[0])}, "")

    def _correction(
        self,
        node: ast.Import | ast.ImportFrom,
        first: ast.alias,
        present: Mapping[str, tuple[str, str] | None],
        dotted: str,
    ) -> ImportCorrection | None:
        """The statement with what these names are now: the module that has each, and how it is spelled.

        Those of the module `dotted` stay where they are; what is built in (`builtins`) is not imported. None where one
        is not known.
        """
        found = {name: place for name, place in present.items() if place}
        if len(found) < len(present):
            return None
        rows = self.text.split("\n")[node.lineno - 1 : node.end_lineno]
        gone = [each for each in node.names if each.name in found and found[each.name][0] != dotted]
        spelled = {name: right for name, (_place, right) in found.items() if right != name}
        renamed, uses = self._rename_where_safe(
            {each.name: spelled[each.name] for each in node.names if each.name in spelled}
        )
        places = {found[each.name][0] for each in gone}
        level = node.level if isinstance(node, ast.ImportFrom) else 0
        if len(places) == 1 and len(gone) == len(node.names) and not spelled and places != {standard_names.BUILT_IN}:
            dots, name = written_name(places.pop(), level, self.path, self.root)
            text = _FROM.sub(rf"\g<1>{'.' * dots}{name}\g<2>", "\n".join(rows), count=1) + "\n"
        else:
            stay = [each for each in node.names if each.name in spelled and each not in gone]
            aliases = [(each, self._spelling(each, spelled[each.name], renamed)) for each in stay]
            text, indent = with_names(rows, node, aliases, gone), rows[0][: node.col_offset]
            for place in sorted(places):
                names = [each for each in gone if found[each.name][0] == place]
                text += indent + self._import_from(place, names, found, renamed, level)
        end, bound = node.end_lineno or node.lineno, first.asname or first.name
        region = Region(path=self.path, qualname=bound, start=node.lineno, end=end, imports=True)
        own = "\n".join(rows)
        text = _AS_ITSELF.sub(lambda match: match[0] if match[0] in own else match[1], text)
        return ImportCorrection(region=region, text=text, renamed=renamed, uses=uses)

    def _import_from(
        self,
        place: str,
        names: Sequence[ast.alias],
        found: Mapping[str, tuple[str, str]],
        renamed: Mapping[str, str],
        level: int,
    ) -> str:
        """The statement that imports these names, as they are now, from a module; what is built in is only named."""
        rights = {each.name: found[each.name][1] for each in names}
        if place == standard_names.BUILT_IN:
            bound = [each for each in names if each.asname or each.name not in renamed]
            return "".join(f"{each.asname or each.name} = {rights[each.name]}\n" for each in bound)
        written = {each.name: self._spelling(each, rights[each.name], renamed) for each in names}
        dots, name = written_name(place, level, self.path, self.root)
        listed = [ast.alias(name=written[each.name], asname=each.asname) for each in names]
        return f"{ast.unparse(ast.ImportFrom(module=name, names=listed, level=dots))}\n"

    def _rename_where_safe(self, spelled: Mapping[str, str]) -> tuple[dict[str, str], tuple[Region, ...]]:
        """Those of the names that can be written otherwise in the whole file, and the functions that use them."""
        nodes = [each for each in self._nodes() if isinstance(each, ast.Name)]
        renamed: dict[str, str] = {}
        uses: dict[Region, None] = {}
        for name, right in spelled.items():
            lines = {each.lineno for each in nodes if each.id == name}
            found = [definitions.enclosing_definition(self.text, line, self.path) for line in sorted(lines)]
            if lines and all(each and each.kind == "function" for each in found):
                renamed[name] = right
                places = (each for each in found if each)
                uses |= dict.fromkeys(
                    Region(path=self.path, qualname=each.qualname, start=each.start, end=each.end) for each in places
                )
        return renamed, tuple(uses)

    def _spelling(self, alias: ast.alias, right: str, renamed: Mapping[str, str]) -> str:
        """The right name, and the one that the rest of the file still uses."""
        uses = any(isinstance(each, ast.Name) and each.id == alias.name for each in self._nodes())
        is_bound_alike = alias.asname or alias.name in renamed or not uses
        return right if is_bound_alike else f"{right} as {alias.name}"

    def _is_known(self, dotted: str) -> bool:
        """Is it a module, or in a package, of the project or the standard library?"""
        top = dotted.partition(".")[0]
        is_own = sources.find_module(top, self.root, self.path) or (self.root / top).is_dir()
        return bool(is_own) or top in sys.stdlib_module_names

    def _is_to_install(self, dotted: str) -> bool:
        return not self._is_known(dotted) and is_third_party(dotted.partition(".")[0], self.root)

    def _read_of(self, name: str) -> set[str]:
        """The attributes that the file reads of a module."""
        nodes = self._nodes()
        named = (each for each in nodes if isinstance(each, ast.Attribute) and isinstance(each.value, ast.Name))
        return {each.attr for each in named if getattr(each.value, "id", "") == name}

    def _nodes(self) -> list[ast.AST]:
        module = parse_module(self.text)
        return [*ast.walk(module)] if isinstance(module, ast.Module) else []

    def _defining(self, name: str, dotted: str) -> str:
        """The one other module that defines a name; "" where there is none, or more than one."""
        found = [each for each in find_defining(name, self.path, self.root, self.read_text) if each != dotted]
        if not found and MEMBERS.get(name, dotted) != dotted:
            return MEMBERS[name]
        return found[0] if len(found) == 1 else ""

    def _modules(self) -> list[str]:
        own = (each for each in sources.python_files(self.root, most=MOST_FILES) if not sources.is_trusted(each))
        return [*(import_name(each, self.path, self.root) for each in own), *sys.stdlib_module_names]

    def _names_of(self, dotted: str) -> Sequence[str]:
        """The names that a module has, with the modules in it; none where that is not known."""
        file = sources.find_module(dotted, self.root, self.path)
        if file is None:
            return dir(import_module(dotted)) if dotted in MODULES else ()
        bound = module_bindings(self.read_text(file) or "")
        if "*" in bound:
            return ()
        folder = self.root / Path(file).parent if file.endswith("__init__.py") else None
        inner = [each.stem for each in folder.iterdir()] if folder and folder.is_dir() else []
        return [*bound, *inner, "__name__", "__file__", "__doc__", "__path__"]


def _similar(name: str, known: Sequence[str]) -> list[str]:
    """The names that may be meant, the likeliest first."""
    alike = [each for each in dict.fromkeys(known) if each.lower() == name.lower() and each != name]
    if name.startswith("_"):
        return alike
    public = [each for each in known if not each.startswith("_") and each.lower() != name.lower()]
    return [*alike, *similar(name, public, most=5, likeness=MEANT)]
