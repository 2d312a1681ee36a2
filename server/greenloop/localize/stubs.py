"""Test first: names that a test imports or uses and nobody has written yet, and the stubs that stand in for them.

Python's own messages tell what is missing; the test's text tells how it is used (called, awaited, subclassed, raised).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from greenloop.core.python.ast_source import indentation_unit
from greenloop.core.records.spec import Region
from greenloop.core.records.verdict import Failure
from greenloop.project import sources, workspace
from greenloop.project.environment_faults import failure_message, is_third_party
from greenloop.project.syntax import definitions

TextOf = Callable[[str], str | None]

_CANNOT = re.compile(r"cannot import name '([^']+)' from '([^']+)'")
_NO_MODULE = re.compile(r"No module named '([^']+)'(?!; '[^']*' is not a package)")
_NO_MODULE_ATTRIBUTE = re.compile(r"module '([^']+)' has no attribute '([^']+)'")
_NO_ATTRIBUTE = re.compile(r"(type object )?'([^'.]+)'(?: object)? has no attribute '([^']+)'")


@dataclass(frozen=True, kw_only=True)
class MissingNames:
    """Names to be written into one file.

    `path` is the module that gains them (`new_file`: it does not exist); `owner` is the class for methods, else empty;
    `uses` are the texts of the tests that want them.
    """

    path: str
    names: tuple[str, ...]
    new_file: bool = False
    owner: str = ""
    on_class: bool = False
    uses: str = ""


def find_missing(
    failures: Iterable[Failure],
    text_of: TextOf,
    root: Path,
    test_path: str = "",
    *,
    patterns: Sequence[str] | None = None,
) -> MissingNames | None:
    """What must be written first, when a test says so; None when the failures mean something else.

    `text_of` gives a file's text, stubs included. `test_path` is for failures that do not tell where they happened.
    """
    for failure in failures:
        inside = [frame.path for frame in failure.frames if not frame.path.startswith("/")]
        path = next((path for path in reversed(inside) if "site-packages" not in path), test_path)
        asking = _Importer(path=path, text=(text_of(path) if path else None) or "", text_of=text_of, root=root)
        found = _missing_in(failure_message(failure), asking, by_test=not path or sources.is_trusted(path, patterns))
        if found is not None:
            return found
    return None


@dataclass(frozen=True, kw_only=True)
class _Importer:
    """The file that asks for a name, and where to look for others."""

    path: str
    text: str
    text_of: TextOf
    root: Path

    def module(self, name: str) -> str | None:
        """The file of a module, also of one that is a stub so far."""
        found = sources.find_module(name, self.root, self.path, unsaved=_Texts(self.text_of))
        if found is not None:
            return found
        path = workspace.resolve_module(name, self.root, self.path)
        return path if self.text_of(path) is not None else None


class _Texts:
    """The files that have a text, saved or not."""

    def __init__(self, text_of: TextOf) -> None:
        self._text_of = text_of

    def __contains__(self, path: object) -> bool:
        return isinstance(path, str) and self._text_of(path) is not None


def _missing_in(message: str, asking: _Importer, *, by_test: bool) -> MissingNames | None:
    if match := _NO_MODULE.search(message):
        return _missing_module(match[1], asking, by_test=by_test)
    if not by_test:
        return None
    if match := _CANNOT.search(message):
        return _missing_name(match[2], match[1], asking)
    if match := _NO_MODULE_ATTRIBUTE.search(message):
        return _missing_name(match[1], match[2], asking)
    if match := _NO_ATTRIBUTE.search(message):
        return _missing_member(match[2], match[3], asking, on_class=bool(match[1]))
    return None


def _missing_name(module: str, name: str, asking: _Importer) -> MissingNames | None:
    path = asking.module(module)
    if path is None or sources.is_trusted(path):
        return None
    bound = _bound_names(asking.text_of(path) or "")
    if name in bound:
        return None  # It is there, but not yet when asked for: a circular import, or a condition.
    if path.endswith("__init__.py"):
        below = path.removesuffix("__init__.py")
        if (asking.root / f"{below}{name}.py").exists() or (asking.root / below / name).is_dir():
            return None  # A module nobody imported; writing a function of its name would hide it.
        members = _members(asking.text, name)
        if members and not re.search(rf"(?<![\w.]){re.escape(name)}\(", asking.text) and name.islower():
            return MissingNames(path=f"{below}{name}.py", names=members, new_file=True, uses=asking.text)
    names = [item for item in dict.fromkeys([name, *_used_names(asking, module)]) if item not in bound]
    return MissingNames(path=path, names=tuple(names), uses=asking.text)


def _missing_module(module: str, asking: _Importer, *, by_test: bool) -> MissingNames | None:
    top = module.partition(".")[0]
    root = asking.root
    local = asking.module(top) is not None or (root / top).is_dir() or (root / "src" / top).is_dir()
    if not local and (not by_test or is_third_party(top, root)):
        return None
    parent = module.rpartition(".")[0]
    found = asking.module(parent) if parent else None
    if found is not None and not found.endswith("__init__.py"):
        return None  # The parent is a plain module: it would have to become a package first.
    path = workspace.resolve_module(module, root, asking.path)
    if asking.text_of(path) is not None or sources.is_trusted(path):
        return None
    names = _used_names(asking, module)
    return MissingNames(path=path, names=tuple(names), new_file=True, uses=asking.text) if names else None


def _used_names(asking: _Importer, module: str) -> list[str]:
    """What a test takes from a module: the names it imports from it, or the attributes it uses of it."""
    names: list[str] = []
    file = asking.module(module)
    text = asking.text
    for source, taken, _line in sources.find_imports(text, asking.path):
        if source == module or (file is not None and asking.module(source) == file):
            names.extend(name for name in taken if name != "*")
            names.extend(() if taken else _members(text, _alias(text, source)))
        else:
            whole = [name for name in taken if f"{source}.{name}" == module]
            names.extend(member for name in whole for member in _members(text, _alias(text, name)))
    return list(dict.fromkeys(names))


def _alias(text: str, module: str) -> str:
    match = re.search(rf"\b{re.escape(module)}[ \t]+as[ \t]+(\w+)", text)
    return match[1] if match else module


def _members(text: str, name: str) -> tuple[str, ...]:
    """`x` of every `name.x` in the text."""
    code = "\n".join(line for line in text.splitlines() if not re.match(r"\s*(?:import|from)\s", line))
    return tuple(dict.fromkeys(re.findall(rf"(?<![\w.]){re.escape(name)}\.([^\W\d]\w*)", code)))


def _bound_names(text: str) -> set[str]:
    """Names a module binds at its top level, as far as its text shows."""
    names = {name for item in definitions.find_bindings(text) for name in item.names}
    return names | {item.name for item in definitions.find_definitions(text) if not item.owner}


# -- members of classes ---------------------------------------------------------------------------------------------


def _missing_member(owner: str, name: str, asking: _Importer, *, on_class: bool) -> MissingNames | None:
    if name.startswith("__") and name.endswith("__"):
        return None
    word = re.escape(name)
    # Set somewhere, only not in time: a mistake in code that exists.
    known = re.compile(rf"\bself\.{word}\b[^=\n]*=(?!=)|^\s+{word}\s*[:=]|['\"]{word}['\"]", re.MULTILINE)
    for path in _class_files(owner, asking):
        content = asking.text_of(path) or ""
        found = [
            item for item in definitions.find_definitions(content, path) if item.kind == "class" and item.name == owner
        ]
        if len(found) != 1:
            continue
        if known.search(definitions.line_span(content, found[0].start, found[0].end)):
            return None
        return MissingNames(path=path, names=(name,), owner=found[0].qualname, on_class=on_class, uses=asking.text)
    return None


def _class_files(owner: str, asking: _Importer) -> list[str]:
    """Workspace files that may define the class, those that the test imports first."""
    imported = [asking.module(module) for module, _names, _line in sources.find_imports(asking.text, asking.path)]
    near = [path for path in imported if path is not None]
    rest = sources.python_files(asking.root, most=3000)
    needle = re.compile(rf"^\s*class\s+{re.escape(owner)}\b", re.MULTILINE)
    found = []
    for path in dict.fromkeys([*near, *rest]):
        text = asking.text_of(path) if path in near else sources.read_text(asking.root, path)
        if not sources.is_trusted(path) and needle.search(text or ""):
            found.append(path)
    return found


# -- stubs ----------------------------------------------------------------------------------------------------------


def add_stubs(missing: MissingNames, text_of: TextOf) -> tuple[dict[str, str], tuple[Region, ...]]:
    """The file's new text with a stub for each name, and the regions of the stubs.

    Everything that was in the file stays. Upper-case names become constants (`None`), which are no regions.
    """
    text = text_of(missing.path) or ""
    end = "\r\n" if "\r\n" in text else "\n"
    for name in missing.names:
        text = _with_method(text, missing, name, end) if missing.owner else _with_name(text, missing, name, end)
    listed = definitions.find_definitions(text)
    regions = []
    for name in missing.names:
        item = definitions.find_by_qualname(listed, f"{missing.owner}.{name}" if missing.owner else name)
        if item is not None:
            regions.append(
                Region(path=missing.path, qualname=item.qualname, start=item.start, end=item.end, created=True)
            )
    return {missing.path: text}, tuple(regions)


def _with_name(text: str, found: MissingNames, name: str, end: str) -> str:
    block = _top_level(name, found.uses, indentation_unit(text))
    if not text.strip():
        return text + end.join(block) + end
    rows = definitions.split_lines(text)
    main = next((row for row, line in enumerate(rows) if re.match(r"if\s+__name__\s*==", line)), len(rows))
    head = "".join(rows[:main]).rstrip(" \t\r\n")
    tail = "".join(rows[main:])
    gap = end * 3 if head else ""
    return f"{head}{gap}{end.join(block)}{end}" + (f"{end}{end}{tail}" if tail else "")


def _top_level(name: str, uses: str, unit: str) -> list[str]:
    word = re.escape(name)
    if name.isupper() and len(name) > 1:
        return [f"{name} = None"]
    if name[:1].isupper() or re.search(rf"\b{word}\.[a-z_]\w*\(", uses):
        raised = name.endswith(("Error", "Exception", "Warning")) or re.search(rf"\braises\(\(?[\w, ]*\b{word}\b", uses)
        if raised:
            return [f"class {name}(Exception):", f"{unit}pass"]
        return [
            f"class {name}:",
            f"{unit}def __init__(self, *args, **kwargs):",
            f'{unit}{unit}raise NotImplementedError("{name}")',
        ]
    keyword = "async def" if re.search(rf"\bawait\s+(?:\w+\.)*{word}\(", uses) else "def"
    return [f"{keyword} {name}(*args, **kwargs):", f'{unit}raise NotImplementedError("{name}")']


def _with_method(text: str, found: MissingNames, name: str, end: str) -> str:
    owner = definitions.find_by_qualname(definitions.find_definitions(text), found.owner)
    if owner is None:
        return text
    rows = definitions.split_lines(text)
    unit = indentation_unit(text)
    outer = re.match(r"[ \t]*", rows[owner.name_line - 1])
    body = next((row for row in rows[owner.header_end : owner.end] if row.strip()), None)
    if body is None:  # `class Foo: pass` on one line
        header, _colon, rest = rows[owner.header_end - 1].rpartition(":")
        inner = (outer[0] if outer else "") + unit
        rows[owner.header_end - 1] = f"{header}:{end}{inner}{rest.strip()}{end}"
    else:
        inner = (re.match(r"[ \t]*", body) or [""])[0]
    if not rows[owner.end - 1].endswith(("\n", "\r")):
        rows[owner.end - 1] += end
    block = [inner + line if line else "" for line in _method(name, found, unit)]
    rows.insert(owner.end, end + end.join(block) + end)
    return "".join(rows)


def _method(name: str, found: MissingNames, unit: str) -> list[str]:
    word = re.escape(name)
    called = re.search(rf"\.{word}\(", found.uses)
    awaited = re.search(rf"\bawait\s+[\w.()]+\.{word}\(", found.uses)
    body = f'{unit}raise NotImplementedError("{name}")'
    if found.on_class:
        return ["@classmethod", f"{'async ' if awaited else ''}def {name}(cls, *args, **kwargs):", body]
    if not called and re.search(rf"\.{word}\b", found.uses):
        return ["@property", f"def {name}(self):", body]
    return [f"{'async ' if awaited else ''}def {name}(self, *args, **kwargs):", body]
