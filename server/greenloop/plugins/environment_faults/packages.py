"""Faults of packages (missing, wrong version, wrong build) and of a Python that is too old."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from packaging.utils import canonicalize_name

from greenloop.core.python.ast_source import UNPARSABLE, parse_module_strictly
from greenloop.core.text.similar import MEANT, closest
from greenloop.plugins.environment_faults.observation import ObservedFailure, is_installed_path
from greenloop.plugins.environment_faults.rows import Row
from greenloop.plugins.environment_faults.tables import ADDED, LIBRARIES, MARKS, PLUGINS, REMOVED, SYNTAX
from greenloop.project import sources
from greenloop.project.environment.declared_dependencies import (
    DISTRIBUTIONS,
    is_local_dependency,
    is_third_party,
    project_name,
)
from greenloop.project.syntax import definitions

_LIBRARY = (
    r"([\w.+-]+\.so[\w.]*): cannot open shared object file|Error loading shared library ([\w.+-]+):"
    r"|cannot load library '([^']+)'|no library called \"([^\"]+)\" was found"
)
_UNFIT = (
    r"wrong ELF class: \w+|invalid ELF header|file too short|incompatible architecture|undefined symbol: \w+"
    r"|dynamic module does not define [\w ]+|numpy\.\w+ size changed|_ARRAY_API not found"
    r"|compiled using NumPy [\w.]+ cannot be run|compiled against A[BP]I version"
)
_TOO_NEW = r"version `(?P<needed>(?:GLIBC|GLIBCXX|CXXABI)_[\d.]+)' not found"
_INSTALLED_PACKAGE = re.compile(r"(?:site|dist)-packages/([A-Za-z_]\w*)")
_MARK = r"'(?P<mark>\w+)' not found in `markers` configuration option"
_CANNOT = r"cannot import name '(?P<name>[^']+)' from '(?P<module>[^']+)' \((?P<path>[^)]+)\)"
_NO_ATTRIBUTE = r"module '(?P<module>[^']+)' has no attribute '(?P<name>[^']+)'"
_NO_METADATA = r"No package metadata was found for ([\w.-]+)|The '([\w.-]+)[^']*' distribution was not found"
_NO_MODULE = r"No module named '(?P<module>[^']+)'"

Values = dict[str, str]


def _group(match: re.Match[str]) -> str:
    return next(group for group in match.groups() if group)


def _distribution(module: str) -> str:
    top_level = module.partition(".")[0]
    return DISTRIBUTIONS.get(top_level, top_level)


def _installed_version(observed: ObservedFailure, module: str) -> Values:
    package = _distribution(module)
    version = observed.installed_version(package)
    return {"package": package, "installed": f" {version}" if version else ""}


def _is_local(module: str, observed: ObservedFailure) -> bool:
    from_path = observed.own_frame.path if observed.own_frame else ""
    top_level = module.partition(".")[0]
    return observed.root is not None and sources.find_module(top_level, observed.root, from_path) is not None


def _fixture(observed: ObservedFailure, _match: re.Match[str]) -> Values | None:
    name = _missing_fixture(observed)
    return {"package": PLUGINS[name]} if name in PLUGINS else None


def _unknown_fixture(observed: ObservedFailure, _match: re.Match[str]) -> Values | None:
    """The fixture, with the one that is meant if another has nearly its name."""
    name = _missing_fixture(observed)
    if not name:
        return None
    available = re.search(r"available fixtures: (.+)", observed.failure.text)
    close = closest(name, re.findall(r"\w+", available[1]) if available else ())
    return {"fixture": name, "meant": f"Did you mean '{close}'? " if close else ""}


def _missing_fixture(observed: ObservedFailure) -> str:
    match = re.search(r"fixture '(\w+)' not found", f"{observed.message}\n{observed.failure.text}")
    return match[1] if match else ""


def _debian_library(_observed: ObservedFailure, match: re.Match[str]) -> Values | None:
    name = _group(match)
    package = next((package for prefix, package in LIBRARIES.items() if name.startswith(prefix)), "")
    return {"library": name, "package": package} if package else None


def _binary(observed: ObservedFailure, _match: re.Match[str]) -> Values | None:
    match = _INSTALLED_PACKAGE.search(observed.message) or _INSTALLED_PACKAGE.search(observed.innermost_path)
    return {"package": _distribution(match[1])} if match else None


def _extension(observed: ObservedFailure, match: re.Match[str]) -> Values:
    extension = re.search(r"[\w./+-]+\.so[\w.]*", observed.message)
    return {"extension": extension[0] if extension else "of this workspace", "reason": match[0]}


def _is_project(observed: ObservedFailure, match: re.Match[str]) -> bool:
    return observed.root is not None and canonicalize_name(_group(match)) == project_name(observed.root)


def _added_later(observed: ObservedFailure, match: re.Match[str]) -> Values | None:
    since = ADDED.get(f"{match['module']}.{match['name']}")
    if since is None or observed.environment.version >= since:
        return None
    return {"since": ".".join(map(str, since))}


def _added_attribute(observed: ObservedFailure, match: re.Match[str]) -> Values | None:
    is_of_tests = observed.is_import or observed.is_in_tests
    return _added_later(observed, match) if observed.failure.type == "AttributeError" and is_of_tests else None


def _removed_attribute(observed: ObservedFailure, match: re.Match[str]) -> Values | None:
    """Another package looked for the attribute; the package's own `__getattr__` may have said that it has none."""
    top_level = match["module"].partition(".")[0]
    paths = [frame.path for frame in reversed(observed.failure.frames)]
    path = next((path for path in paths if f"-packages/{top_level}/" not in path), "")
    if observed.failure.type != "AttributeError" or not is_installed_path(path) or _is_local(top_level, observed):
        return None
    caller = _INSTALLED_PACKAGE.search(path)
    return {"caller": _distribution(caller[1]) if caller else "a package", "package": _distribution(match["module"])}


def _removed_name(observed: ObservedFailure, match: re.Match[str]) -> Values | None:
    if not is_installed_path(match["path"]) or _is_local(match["module"], observed):
        return None
    try:
        text = Path(match["path"]).read_text(encoding="utf-8", errors="replace")[:200_000]
    except OSError:
        text = ""
    if closest(match["name"], definitions.identifiers(text), likeness=MEANT):
        return None  # misspelt by the code
    return _installed_version(observed, match["module"])


def _newer_syntax(observed: ObservedFailure, _match: re.Match[str]) -> Values | None:
    """Source for a newer Python: greenloop's own Python can parse it, or it looks like newer syntax."""
    frame = observed.own_frame
    if observed.failure.type != "SyntaxError" or frame is None:
        return None
    text = observed.text(frame.path)
    line = "".join(text.splitlines()[frame.line - 1 : frame.line])
    needed = next((since for pattern, since in SYNTAX.items() if re.match(pattern, line)), None)
    if needed is None:
        try:
            parse_module_strictly(text)
        except UNPARSABLE:
            return None
        needed = sys.version_info[:2]
    if observed.environment.version >= needed:
        return None
    return {"place": f"{frame.path}:{frame.line}", "needed": ".".join(map(str, needed))}


def _missing_module(observed: ObservedFailure, match: re.Match[str]) -> Values | None:
    reason, values = _explain_module(observed, match["module"])
    if reason in {"local", "misspelt"}:
        return None
    sentence, remedy = MODULES.get(reason, _MISSING)
    return {**values, "sentence": sentence, "remedy": remedy}


def _explain_module(observed: ObservedFailure, module: str) -> tuple[str, Values]:
    """The reason why a module is missing, and the values for its texts."""
    *folders, name = module.split(".")
    top_level = module.partition(".")[0]
    values = {"top_level": top_level, "package": REMOVED.get(top_level) or _distribution(module)}
    if module == top_level and (off_path := _off_path(module, observed)):
        return off_path
    if _is_local(module, observed):
        return "local", values
    if top_level in {"tkinter", "_tkinter", "turtle"}:
        return "tkinter", values
    if top_level in sys.stdlib_module_names or top_level in REMOVED:
        return "replaced" if REMOVED.get(top_level) else "standard", values
    for site in observed.sites if folders else ():
        if (site / top_level).is_dir():
            binaries = [file for file in site.joinpath(*folders).glob(f"{name}.*") if file.suffix in {".so", ".pyd"}]
            if binaries:
                return "other build", {**values, "binary": binaries[0].name}
            return "other version", _installed_version(observed, module)
    if observed.root is not None and is_local_dependency(top_level, observed.root):
        return "local project", values
    if observed.root is None or is_third_party(top_level, observed.root):
        return "not installed", values
    from_path = observed.own_frame.path if observed.own_frame else ""
    if not from_path or sources.is_trusted(from_path):
        # Neither declared nor well known, and not to be written either: only the user knows what was meant.
        return "unknown", values
    roots = [observed.root / import_root for import_root in sources.import_roots(observed.root, from_path)]
    modules = {file.stem for root in roots for file in root.glob("*.py")}
    modules |= {file.parent.name for root in roots for file in root.glob("*/__init__.py")}
    is_misspelt = closest(top_level, modules, likeness=MEANT)
    return "misspelt" if is_misspelt else "not installed", values


def _off_path(module: str, observed: ObservedFailure) -> tuple[str, Values] | None:
    """A module of the workspace that is in no folder from which the tests import, or a link out of the workspace."""
    from_path = observed.own_frame.path if observed.own_frame else ""
    for base in sources.import_roots(observed.root, from_path) if observed.root else ():
        file = Path(observed.root or "", base, f"{module}.py")
        if file.is_symlink():
            return "link", {"link": f"{base}/{file.name}".lstrip("/"), "target": str(file.resolve())}
    folder = sources.find_off_path(module, observed.root, from_path) if observed.root else None
    if observed.root is None or folder is None:
        return None
    project = sources.project_folder(observed.root, folder)
    if project is None and is_third_party(module, observed.root):
        return None
    return "of a project" if project else "off path", {"folder": folder, "project": project or ""}


_OFF_PATH = "'{module}' is in {folder}, from which the tests do not import"
_MISSING = ("the package '{package}' is missing in {python}", "Install it: {python} -m pip install {package}")
_REQUIRED = (
    "{name} {present} is installed in {python}, and {requirement} is required",
    "Install it: {python} -m pip install '{requirement}'",
)
_ADDED = (
    "'{name}' was added to '{module}' with Python {since}, and {python} is {version}",
    "Set `interpreter` to a newer Python, or create .venv with one.",
)
_IN_PROJECT = (
    "Install its project: `{python} -m pip install -e {project}`. Or name the folder in the setting `pythonpath` of "
    "pytest."
)
_INSTALL_PROJECT = (
    "Install it as the project does (`uv sync --all-packages`, `poetry install`), or begin in the folder of both "
    "(--root)."
)
_NO_STANDARD = "Python {version} ({python}) has no module '{module}'"
_UPGRADE = "Upgrade it ({python} -m pip install --upgrade {package}), or import what newer versions have in its place."
_REINSTALL = "Reinstall it: {python} -m pip install --force-reinstall --no-cache-dir {package}"

# fmt: off
# Sentence and remedy for a module that is missing for another reason than that its package is not installed.
MODULES = {
    "tkinter": (
        _NO_STANDARD, "Install it: apt install python3-tk (for that Python), or set `interpreter` to another Python."),
    "replaced": (_NO_STANDARD, "{python} -m pip install {package}, or set `interpreter` to an older Python."),
    "standard": (_NO_STANDARD, "Set `interpreter` to another Python."),
    "other build": ("the package '{package}' was built for another Python ({binary}) than {version}", _REINSTALL),
    "other version": ("the installed '{package}'{installed} has no module '{module}'", _UPGRADE),
    "link": (
        "{link} is a link to {target}, outside of the workspace, which the sandbox does not show",
        "Copy the file into the workspace, or begin in a folder that has both (--root)."),
    "of a project": (_OFF_PATH, _IN_PROJECT),
    "off path": (_OFF_PATH, "Name the folder in the setting `pythonpath` of pytest."),
    "local project": (
        "'{package}', which pyproject.toml names by its folder or workspace, is not installed in {python}",
        _INSTALL_PROJECT),
    "unknown": (
        "neither the workspace nor {python} has a module '{top_level}'",
        "Install its package ({python} -m pip install ...), or write it."),
}
PLUGIN_ROWS: list[Row[ObservedFailure]] = [
    Row("", *_MISSING, _fixture),
    Row("", "neither a conftest.py nor a plugin defines the fixture '{fixture}'",
        "{meant}Define it in the test's file or in a conftest.py, or install the plugin that brings it.",
        _unknown_fixture),
    Row(r"^name '(?P<name>\w+)' is not defined", "the test uses the name '{name}', which its file does not define",
        "Import or define it there: no candidate may change a test.",
        lambda observed, _match: observed.failure.type == "NameError" and observed.is_in_tests),
    Row("async def functions are not natively supported", *_MISSING,
        lambda _observed, _match: {"package": "pytest-asyncio"}),
    Row(_MARK, *_MISSING,
        lambda _observed, match: {"package": MARKS[match["mark"]]} if match["mark"] in MARKS else None),
    Row(_MARK, "pytest accepts only declared marks (--strict-markers), and '{mark}' is not declared",
        "Add '{mark}' to `markers` in pytest's configuration."),
]
ROWS: list[Row[ObservedFailure]] = [
    # binaries
    Row(_LIBRARY, "the system library {library} is missing",
        "Install it: apt install {package} (other systems use a similar name).", _debian_library),
    Row(_LIBRARY, "the system library {library} is missing",
        "Find its package: apt-file search {library} (other systems use a similar name).",
        lambda _observed, match: {"library": _group(match)}),
    Row(_TOO_NEW, "the package '{package}' was built for a newer system than this one (it needs {needed})",
        "Build it here: {python} -m pip install --force-reinstall --no-binary :all: {package}", _binary),
    Row(f"(?P<reason>{_UNFIT})", "the binary part of the package '{package}' is incompatible ({reason})",
        _REINSTALL, _binary),
    Row(f"{_UNFIT}|{_TOO_NEW}", "the extension {extension} cannot be loaded ({reason})",
        "Rebuild it: {python} -m pip install --force-reinstall -e .", _extension),
    # versions
    Row(r"\((?P<name>\S+) (?P<present>\S+) \([^)]*\), Requirement\.parse\('(?P<requirement>[^']+)'\)", *_REQUIRED),
    Row(r"(?P<requirement>(?P<name>[A-Za-z][\w.-]*)[<>=!~][^ ]*) is required "
        r".*but found [\w.-]+==(?P<present>\w+(?:\.\w+)*)", *_REQUIRED),
    Row(_NO_METADATA, "this project itself is not installed in {python}, but looks up its own version",
        "Install it: {python} -m pip install -e .", _is_project),
    Row(_NO_METADATA, *_MISSING, lambda _observed, match: {"package": _group(match)}),
    # names
    Row(_CANNOT, *_ADDED, _added_later),
    Row(_CANNOT, "the installed '{package}'{installed} has no '{name}' in {module}", _UPGRADE, _removed_name),
    Row(_NO_ATTRIBUTE, *_ADDED, _added_attribute),
    Row(_NO_ATTRIBUTE, "the installed '{caller}' is incompatible with the installed '{package}', which has no '{name}'",
        "Upgrade both: {python} -m pip install --upgrade {caller} {package}", _removed_attribute),
    # Python itself
    Row("", "{place} uses syntax of Python {needed} or newer, and {python} is {version}",
        "Set `interpreter` to a newer Python, or create .venv with one.", _newer_syntax),
    Row(_NO_MODULE, *_MISSING, _missing_module),
]
# fmt: on
