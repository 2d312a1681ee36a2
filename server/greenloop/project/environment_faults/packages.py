"""Faults of packages (missing, wrong version, wrong build) and of a Python that is too old."""

from __future__ import annotations

import ast
import difflib
import re
import sys
from pathlib import Path

from greenloop.project import sources
from greenloop.project.environment_faults.declared_dependencies import is_third_party, project_name
from greenloop.project.environment_faults.observation import (
    Fault,
    ObservedFailure,
    is_installed_path,
    make_fault,
    normalize_name,
)
from greenloop.project.environment_faults.tables import ADDED, DISTRIBUTIONS, LIBRARIES, MARKS, PLUGINS, REMOVED
from greenloop.project.syntax import definitions

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


def check(seen: ObservedFailure) -> Fault | None:
    """The fault if a package, a plugin or the Python version is to blame."""
    if (fault := _plugin(seen)) or seen.is_raised_by_project:
        return fault
    return _library(seen) or _binary(seen) or _version(seen) or _name(seen) or _syntax(seen) or _module(seen)


def install(distribution: str, seen: ObservedFailure) -> Fault:
    return make_fault(
        f"the package '{distribution}' is missing in {seen.python}",
        f"Install it: {seen.python} -m pip install {distribution}",
    )


def _plugin(observed: ObservedFailure) -> Fault | None:
    match = re.search(r"fixture '(\w+)' not found", f"{observed.message}\n{observed.failure.text}")
    if match and PLUGINS.get(match[1]):
        return install(PLUGINS[match[1]], observed)
    if "async def functions are not natively supported" in observed.message:
        return install("pytest-asyncio", observed)
    if match := re.search(r"'(\w+)' not found in `markers` configuration option", observed.message):
        if match[1] in MARKS:
            return install(MARKS[match[1]], observed)
        return make_fault(
            f"pytest accepts only declared marks (--strict-markers), and '{match[1]}' is not declared",
            f"Add '{match[1]}' to `markers` in pytest's configuration.",
        )
    return None


# -- binaries -------------------------------------------------------------------------------------------------------


def _library(observed: ObservedFailure) -> Fault | None:
    match = _LIBRARY.search(observed.message)
    if match is None:
        return None
    name = next(group for group in match.groups() if group)
    debian_package = next((package for prefix, package in LIBRARIES.items() if name.startswith(prefix)), "")
    remedy = (
        f"Install it: apt install {debian_package}" if debian_package else f"Find its package: apt-file search {name}"
    )
    return make_fault(f"the system library {name} is missing", f"{remedy} (other systems use a similar name).")


def _binary(observed: ObservedFailure) -> Fault | None:
    match = _UNFIT.search(observed.message) or _TOO_NEW.search(observed.message)
    if match is None:
        return None
    package_match = _ABOUT.search(observed.message) or _ABOUT.search(observed.innermost_path)
    if package_match is None:
        extension = re.search(r"[\w./+-]+\.so[\w.]*", observed.message)
        return make_fault(
            f"the extension {extension[0] if extension else 'of this workspace'} cannot be loaded ({match[0]})",
            f"Rebuild it: {observed.python} -m pip install --force-reinstall -e .",
        )
    package = DISTRIBUTIONS.get(package_match[1], package_match[1])
    if _TOO_NEW.search(observed.message):
        clause = f"the package '{package}' was built for a newer system than this one (it needs {match[1]})"
        return make_fault(
            clause, f"Build it here: {observed.python} -m pip install --force-reinstall --no-binary :all: {package}"
        )
    return make_fault(
        f"the binary part of the package '{package}' is incompatible ({match[0]})", _again(package, observed)
    )


def _again(package: str, observed: ObservedFailure) -> str:
    return f"Reinstall it: {observed.python} -m pip install --force-reinstall --no-cache-dir {package}"


# -- versions -------------------------------------------------------------------------------------------------------


def _version(observed: ObservedFailure) -> Fault | None:
    if match := _CONFLICT.search(observed.message):
        return _other(observed, match[1], match[2], match[3])
    if match := _FOUND.search(observed.message):
        return _other(observed, re.split(r"[<>=!~]", match[1])[0], match[2], match[1])
    if match := _NOT_FOUND.search(observed.message):
        name = match[1] or match[2]
        if observed.root is not None and normalize_name(name) == project_name(observed.root):
            return make_fault(
                f"this project itself is not installed in {observed.python}, but looks up its own version",
                f"Install it: {observed.python} -m pip install -e .",
            )
        return install(name, observed)
    return None


def _other(observed: ObservedFailure, name: str, version: str, requirement: str) -> Fault:
    return make_fault(
        f"{name} {version} is installed in {observed.python}, and {requirement} is required",
        f"Install it: {observed.python} -m pip install '{requirement}'",
    )


def _name(observed: ObservedFailure) -> Fault | None:
    """A name that the installed version of a package, or this Python version, lacks."""
    if match := _CANNOT.search(observed.message):
        name, module, path = match.groups()
        return _late(observed, module, name) or _gone(observed, module, name, path)
    match = _NO_ATTRIBUTE.search(observed.message)
    if match is None or observed.failure.type != "AttributeError":
        return None
    if (observed.is_import or observed.is_in_tests) and (newer := _late(observed, match[1], match[2])):
        return newer
    if not is_installed_path(observed.innermost_path) or _is_local(match[1], observed):
        return None
    calling_package = _ABOUT.search(observed.innermost_path)
    top_level = match[1].partition(".")[0]
    caller = DISTRIBUTIONS.get(calling_package[1], calling_package[1]) if calling_package else "a package"
    package = DISTRIBUTIONS.get(top_level, top_level)
    return make_fault(
        f"the installed '{caller}' is incompatible with the installed '{package}', which has no '{match[2]}'",
        f"Upgrade both: {observed.python} -m pip install --upgrade {caller} {package}",
    )


def _late(observed: ObservedFailure, module: str, name: str) -> Fault | None:
    since = ADDED.get(f"{module}.{name}")
    if since is None or observed.environment.version >= since:
        return None
    return make_fault(
        f"'{name}' was added to '{module}' with Python {'.'.join(map(str, since))}, "
        f"and {observed.python} is {observed.version}",
        "Set `interpreter` to a newer Python, or create .venv with one.",
    )


def _gone(observed: ObservedFailure, module: str, name: str, path: str) -> Fault | None:
    if not is_installed_path(path) or _is_local(module, observed):
        return None
    if difflib.get_close_matches(name, _names(path), n=1, cutoff=0.8):
        return None  # misspelt by the code
    top_level = module.partition(".")[0]
    package = DISTRIBUTIONS.get(top_level, top_level)
    version = observed.installed_version(package)
    return make_fault(
        f"the installed '{package}'{' ' + version if version else ''} has no '{name}' in {module}",
        f"Install a version that has it: {observed.python} -m pip install --upgrade {package}",
    )


def _names(path: str) -> set[str]:
    try:
        return definitions.identifiers(Path(path).read_text(encoding="utf-8", errors="replace")[:200_000])
    except OSError:
        return set()


def _is_local(module: str, observed: ObservedFailure) -> bool:
    from_path = observed.own_frame.path if observed.own_frame else ""
    return (
        observed.root is not None
        and sources.find_module(module.partition(".")[0], observed.root, from_path) is not None
    )


# -- Python itself --------------------------------------------------------------------------------------------------


def _syntax(observed: ObservedFailure) -> Fault | None:
    """Source for a newer Python: greenloop's own Python can parse it, or it looks like newer syntax."""
    if observed.failure.type != "SyntaxError" or observed.own_frame is None:
        return None
    text = observed.text(observed.own_frame.path)
    source_line = text.splitlines()[observed.own_frame.line - 1 : observed.own_frame.line]
    needed_version = _since(source_line[0] if source_line else "")
    if needed_version is None and sys.version_info[:2] > observed.environment.version:
        try:
            ast.parse(text)
            needed_version = sys.version_info[:2]
        except (SyntaxError, ValueError):
            return None
    if needed_version is None or observed.environment.version >= needed_version:
        return None
    return make_fault(
        f"{observed.own_frame.path}:{observed.own_frame.line} uses syntax of "
        f"Python {'.'.join(map(str, needed_version))} or newer, "
        f"and {observed.python} is {observed.version}",
        "Set `interpreter` to a newer Python, or create .venv with one.",
    )


def _since(line: str) -> tuple[int, int] | None:
    patterns = (
        (r"\s*match\s+[^=:]+:\s*(#.*)?$", (3, 10)),
        (r"\s*except\s*\*", (3, 11)),
        (r"\s*type\s+\w+(\[[^\]]*\])?\s*=", (3, 12)),
        (r"\s*(?:async\s+)?(?:def|class)\s+\w+\[", (3, 12)),
        (r".*\bt(['\"])[^'\"]*\{", (3, 14)),
    )
    return next((since for pattern, since in patterns if re.match(pattern, line)), None)


# -- modules --------------------------------------------------------------------------------------------------------


def _module(observed: ObservedFailure) -> Fault | None:
    match = re.search(r"No module named '([^']+)'", observed.message)
    if match is None:
        return None
    top_level = match[1].partition(".")[0]
    root = observed.root
    if _is_local(top_level, observed):
        return None
    if top_level in sys.stdlib_module_names or top_level in REMOVED:
        return _standard(match[1], top_level, observed)
    if submodule := _part(match[1], top_level, observed):
        return submodule
    if root is None or is_third_party(top_level, root):
        return install(DISTRIBUTIONS.get(top_level, top_level), observed)
    from_path = observed.own_frame.path if observed.own_frame else ""
    if not from_path or sources.is_trusted(from_path):
        # Neither declared nor well known, and not to be written either: only the user knows what was meant.
        return make_fault(
            f"neither the workspace nor {observed.python} has a module '{top_level}'",
            f"Install its package ({observed.python} -m pip install ...), or write it.",
        )
    if difflib.get_close_matches(top_level, _modules(root, from_path), n=1, cutoff=0.75):
        return None  # misspelt by the code
    return install(DISTRIBUTIONS.get(top_level, top_level), observed)


def _standard(module: str, top_level: str, observed: ObservedFailure) -> Fault:
    clause = f"Python {observed.version} ({observed.python}) has no module '{module}'"
    if top_level in _TK:
        return make_fault(
            clause, "Install it: apt install python3-tk (for that Python), or set `interpreter` to another Python."
        )
    if package := REMOVED.get(top_level):
        return make_fault(
            clause, f"{observed.python} -m pip install {package}, or set `interpreter` to an older Python."
        )
    return make_fault(clause, "Set `interpreter` to another Python.")


def _part(module: str, top_level: str, observed: ObservedFailure) -> Fault | None:
    """A package that is installed but lacks the module: built for another Python, or of another version."""
    if "." not in module:
        return None
    package = DISTRIBUTIONS.get(top_level, top_level)
    for site in observed.sites:
        if not (site / top_level).is_dir():
            continue
        *folders, name = module.split(".")
        binaries = [file.name for file in site.joinpath(*folders).glob(f"{name}.*") if file.suffix in {".so", ".pyd"}]
        if binaries:
            return make_fault(
                f"the package '{package}' was built for another Python ({binaries[0]}) than {observed.version}",
                _again(package, observed),
            )
        version = observed.installed_version(package)
        return make_fault(
            f"the installed '{package}'{' ' + version if version else ''} has no module '{module}'",
            f"Install a version that has it: {observed.python} -m pip install --upgrade {package}",
        )
    return None


def _modules(root: Path, from_path: str) -> set[str]:
    """Names of the workspace's own modules and packages that the file could have meant."""
    names: set[str] = set()
    for import_root in sources.import_roots(root, from_path):
        folder = root / import_root
        names |= {file.stem for file in folder.glob("*.py")}
        names |= {file.parent.name for file in folder.glob("*/__init__.py")}
    return names
