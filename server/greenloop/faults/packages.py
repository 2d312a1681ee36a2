"""Packages that are missing, of the wrong version or built for another machine, and a Python that is too old."""

from __future__ import annotations

import ast
import difflib
import re
import sys
from pathlib import Path

from greenloop import sources, syntax
from greenloop.faults.declared import is_third_party, project
from greenloop.faults.known import ADDED, DISTRIBUTIONS, LIBRARIES, MARKS, PLUGINS, REMOVED
from greenloop.faults.seen import Fault, Seen, because, is_installed_path, normal

_LIBRARY = re.compile(
    r"([\w.+-]+\.so[\w.]*): cannot open shared object file|Error loading shared library ([\w.+-]+):"
    r"|cannot load library '([^']+)'|no library called \"([^\"]+)\" was found"
)
_UNFIT = re.compile(
    r"wrong ELF class: \w+|invalid ELF header|file too short|incompatible architecture|undefined symbol: \w+"
    r"|dynamic module does not define [\w ]+|numpy\.\w+ size changed|_ARRAY_API not found"
    r"|compiled using NumPy [\w.]+ cannot be run|compiled against A[BP]I version"
)
_TOO_NEW = re.compile(r"version `((?:GLIBC|GLIBCXX|CXXABI)_[\d.]+)' not found")
_ABOUT = re.compile(r"(?:site|dist)-packages/([A-Za-z_]\w*)")
_CANNOT = re.compile(r"cannot import name '([^']+)' from '([^']+)' \(([^)]+)\)")
_NO_ATTRIBUTE = re.compile(r"module '([^']+)' has no attribute '([^']+)'")
_CONFLICT = re.compile(r"\((\S+) (\S+) \([^)]*\), Requirement\.parse\('([^']+)'\)")
_FOUND = re.compile(r"([A-Za-z][\w.-]*[<>=!~][^ ]*) is required .*but found [\w.-]+==(\w+(?:\.\w+)*)")
_NOT_FOUND = re.compile(r"No package metadata was found for ([\w.-]+)|The '([\w.-]+)[^']*' distribution was not found")
_TK = {"tkinter", "_tkinter", "turtle"}


def check(seen: Seen) -> Fault | None:
    """The package, plugin or Python that is to blame."""
    if (fault := _plugin(seen)) or seen.raised:
        return fault
    return _library(seen) or _binary(seen) or _version(seen) or _name(seen) or _syntax(seen) or _module(seen)


def install(distribution: str, seen: Seen) -> Fault:
    return because(
        f"the package '{distribution}' is missing in {seen.python}",
        f"Install it: {seen.python} -m pip install {distribution}",
    )


def _plugin(seen: Seen) -> Fault | None:
    match = re.search(r"fixture '(\w+)' not found", f"{seen.message}\n{seen.failure.text}")
    if match and PLUGINS.get(match[1]):
        return install(PLUGINS[match[1]], seen)
    if "async def functions are not natively supported" in seen.message:
        return install("pytest-asyncio", seen)
    if match := re.search(r"'(\w+)' not found in `markers` configuration option", seen.message):
        if match[1] in MARKS:
            return install(MARKS[match[1]], seen)
        return because(
            f"pytest is told to take declared marks alone, and '{match[1]}' is not declared",
            f"Add '{match[1]}' to `markers` in pytest's configuration.",
        )
    return None


# -- binaries -------------------------------------------------------------------------------------------------------


def _library(seen: Seen) -> Fault | None:
    match = _LIBRARY.search(seen.message)
    if match is None:
        return None
    name = next(group for group in match.groups() if group)
    packaged = next((package for start, package in LIBRARIES.items() if name.startswith(start)), "")
    remedy = f"Install it: apt install {packaged}" if packaged else f"Find its package: apt-file search {name}"
    return because(f"the system library {name} is missing", f"{remedy} (other systems have it under a like name).")


def _binary(seen: Seen) -> Fault | None:
    match = _UNFIT.search(seen.message) or _TOO_NEW.search(seen.message)
    if match is None:
        return None
    about = _ABOUT.search(seen.message) or _ABOUT.search(seen.deepest)
    if about is None:
        file = re.search(r"[\w./+-]+\.so[\w.]*", seen.message)
        return because(
            f"the extension {file[0] if file else 'of this workspace'} cannot be loaded ({match[0]})",
            f"Build it again: {seen.python} -m pip install --force-reinstall -e .",
        )
    package = DISTRIBUTIONS.get(about[1], about[1])
    if _TOO_NEW.search(seen.message):
        clause = f"the package '{package}' was built for a newer system than this one (it wants {match[1]})"
        return because(
            clause, f"Build it here: {seen.python} -m pip install --force-reinstall --no-binary :all: {package}"
        )
    return because(f"the binary part of the package '{package}' does not fit ({match[0]})", _again(package, seen))


def _again(package: str, seen: Seen) -> str:
    return f"Install it again: {seen.python} -m pip install --force-reinstall --no-cache-dir {package}"


# -- versions -------------------------------------------------------------------------------------------------------


def _version(seen: Seen) -> Fault | None:
    if match := _CONFLICT.search(seen.message):
        return _other(seen, match[1], match[2], match[3])
    if match := _FOUND.search(seen.message):
        return _other(seen, re.split(r"[<>=!~]", match[1])[0], match[2], match[1])
    if match := _NOT_FOUND.search(seen.message):
        name = match[1] or match[2]
        if seen.root is not None and normal(name) == project(seen.root):
            return because(
                f"this project itself is not installed in {seen.python}, and asks for its own version",
                f"Install it: {seen.python} -m pip install -e .",
            )
        return install(name, seen)
    return None


def _other(seen: Seen, name: str, version: str, wanted: str) -> Fault:
    return because(
        f"{name} {version} is installed in {seen.python}, and {wanted} is required",
        f"Install it: {seen.python} -m pip install '{wanted}'",
    )


def _name(seen: Seen) -> Fault | None:
    """A name that the installed version of a package, or this Python, does not have."""
    if match := _CANNOT.search(seen.message):
        name, module, path = match.groups()
        return _late(seen, module, name) or _gone(seen, module, name, path)
    match = _NO_ATTRIBUTE.search(seen.message)
    if match is None or seen.failure.type != "AttributeError":
        return None
    if (seen.importing or seen.by_test) and (late := _late(seen, match[1], match[2])):
        return late
    if not is_installed_path(seen.deepest) or _is_local(match[1], seen):
        return None
    user = _ABOUT.search(seen.deepest)
    top = match[1].partition(".")[0]
    using = DISTRIBUTIONS.get(user[1], user[1]) if user else "a package"
    package = DISTRIBUTIONS.get(top, top)
    return because(
        f"the installed '{using}' does not fit the installed '{package}', which has no '{match[2]}'",
        f"Bring them together: {seen.python} -m pip install --upgrade {using} {package}",
    )


def _late(seen: Seen, module: str, name: str) -> Fault | None:
    since = ADDED.get(f"{module}.{name}")
    if since is None or seen.environment.version >= since:
        return None
    return because(
        f"'{name}' came into '{module}' with Python {'.'.join(map(str, since))}, and {seen.python} is {seen.version}",
        "Name a newer Python in the setting `interpreter`, or make .venv with it.",
    )


def _gone(seen: Seen, module: str, name: str, path: str) -> Fault | None:
    if not is_installed_path(path) or _is_local(module, seen):
        return None
    if difflib.get_close_matches(name, _names(path), n=1, cutoff=0.8):
        return None  # misspelt by the code
    top = module.partition(".")[0]
    package = DISTRIBUTIONS.get(top, top)
    version = seen.installed(package)
    return because(
        f"the installed '{package}'{' ' + version if version else ''} has no '{name}' in {module}",
        f"Install a version that has it: {seen.python} -m pip install --upgrade {package}",
    )


def _names(path: str) -> set[str]:
    try:
        return syntax.words(Path(path).read_text(encoding="utf-8", errors="replace")[:200_000])
    except OSError:
        return set()


def _is_local(module: str, seen: Seen) -> bool:
    where = seen.own.path if seen.own else ""
    return seen.root is not None and sources.find_module(module.partition(".")[0], seen.root, where) is not None


# -- Python itself --------------------------------------------------------------------------------------------------


def _syntax(seen: Seen) -> Fault | None:
    """Text that a newer Python reads: what greenloop's own Python can parse, or what a newer grammar looks like."""
    if seen.failure.type != "SyntaxError" or seen.own is None:
        return None
    text = seen.text(seen.own.path)
    line = text.splitlines()[seen.own.line - 1 : seen.own.line]
    since = _since(line[0] if line else "")
    if since is None and sys.version_info[:2] > seen.environment.version:
        try:
            ast.parse(text)
            since = sys.version_info[:2]
        except (SyntaxError, ValueError):
            return None
    if since is None or seen.environment.version >= since:
        return None
    return because(
        f"{seen.own.path}:{seen.own.line} is written for Python {'.'.join(map(str, since))} or newer, "
        f"and {seen.python} is {seen.version}",
        "Name a newer Python in the setting `interpreter`, or make .venv with it.",
    )


def _since(line: str) -> tuple[int, int] | None:
    grammar = (
        (r"\s*match\s+[^=:]+:\s*(#.*)?$", (3, 10)),
        (r"\s*except\s*\*", (3, 11)),
        (r"\s*type\s+\w+(\[[^\]]*\])?\s*=", (3, 12)),
        (r"\s*(?:async\s+)?(?:def|class)\s+\w+\[", (3, 12)),
        (r".*\bt(['\"])[^'\"]*\{", (3, 14)),
    )
    return next((version for pattern, version in grammar if re.match(pattern, line)), None)


# -- modules --------------------------------------------------------------------------------------------------------


def _module(seen: Seen) -> Fault | None:
    match = re.search(r"No module named '([^']+)'", seen.message)
    if match is None:
        return None
    top = match[1].partition(".")[0]
    root = seen.root
    if _is_local(top, seen):
        return None
    if top in sys.stdlib_module_names or top in REMOVED:
        return _standard(match[1], top, seen)
    if part := _part(match[1], top, seen):
        return part
    if root is None or is_third_party(top, root):
        return install(DISTRIBUTIONS.get(top, top), seen)
    where = seen.own.path if seen.own else ""
    if not where or sources.is_trusted(where):
        # Neither declared nor known, and `missing` saw nothing to write: only the user knows what was meant.
        return because(
            f"neither the workspace nor {seen.python} has a module '{top}'",
            f"Install its package ({seen.python} -m pip install ...), or write it.",
        )
    if difflib.get_close_matches(top, _modules(root, where), n=1, cutoff=0.75):
        return None  # misspelt by the code
    return install(DISTRIBUTIONS.get(top, top), seen)


def _standard(module: str, top: str, seen: Seen) -> Fault:
    clause = f"Python {seen.version} ({seen.python}) has no module '{module}'"
    if top in _TK:
        return because(clause, "Install it: apt install python3-tk (for that Python), or name another `interpreter`.")
    if package := REMOVED.get(top):
        return because(clause, f"{seen.python} -m pip install {package}, or name an older Python in `interpreter`.")
    return because(clause, "Name another Python in the setting `interpreter`.")


def _part(module: str, top: str, seen: Seen) -> Fault | None:
    """A package that is there without the module: built for another Python, or of another version."""
    if "." not in module:
        return None
    package = DISTRIBUTIONS.get(top, top)
    for site in seen.sites:
        if not (site / top).is_dir():
            continue
        *folders, name = module.split(".")
        built = [file.name for file in site.joinpath(*folders).glob(f"{name}.*") if file.suffix in {".so", ".pyd"}]
        if built:
            return because(
                f"the package '{package}' was built for another Python ({built[0]}) than {seen.version}",
                _again(package, seen),
            )
        version = seen.installed(package)
        return because(
            f"the installed '{package}'{' ' + version if version else ''} has no module '{module}'",
            f"Install a version that has it: {seen.python} -m pip install --upgrade {package}",
        )
    return None


def _modules(root: Path, where: str) -> set[str]:
    """Names of the workspace's own modules and packages that `where` could have meant."""
    found: set[str] = set()
    for base in sources.bases(root, where):
        folder = root / base
        found |= {file.stem for file in folder.glob("*.py")}
        found |= {file.parent.name for file in folder.glob("*/__init__.py")}
    return found
