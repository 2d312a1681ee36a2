"""Faults of the machine: programs, locales, time zones, displays, frameworks, downloaded data."""

from __future__ import annotations

import errno
import os
import re
import shutil
import zoneinfo

from greenloop.project.environment_faults.observation import Fault, ObservedFailure, make_fault

_DISPLAY = re.compile(
    r"no display name and no \$DISPLAY|couldn't connect to display|could not connect to display|NoSuchDisplayException"
    r"|Cannot connect to \"None\"|cannot open display|No available video device|platform plugin \"xcb\""
    r"|requires the '\w+' interactive framework|Unable to open display"
)
_DJANGO = re.compile(r"settings are not configured|Apps aren't loaded yet|DJANGO_SETTINGS_MODULE")
_DOCKER = re.compile(r"Error while fetching server API version|Cannot connect to the Docker daemon|docker\.sock")
_DEBIAN = {
    "cc": "build-essential",
    "chromedriver": "chromium-driver",
    "convert": "imagemagick",
    "dot": "graphviz",
    "g++": "build-essential",
    "gcc": "build-essential",
    "gs": "ghostscript",
    "java": "default-jre",
    "node": "nodejs",
    "pg_ctl": "postgresql",
    "pdftotext": "poppler-utils",
    "psql": "postgresql-client",
    "rg": "ripgrep",
    "soffice": "libreoffice",
    "tesseract": "tesseract-ocr",
}


def check(seen: ObservedFailure) -> Fault | None:
    """The fault if this machine lacks something."""
    if seen.is_raised_by_project:
        return None
    if fault := _display(seen) or _framework(seen):
        return fault
    return None if seen.is_assertion else _program(seen) or _locale(seen) or _zone(seen) or _data(seen)


def _program(observed: ObservedFailure) -> Fault | None:
    in_subprocess = any(frame.path.endswith("subprocess.py") for frame in observed.failure.frames)
    not_found = re.search(r"\[Errno (\d+)\] [^:]+: '([^']+)'", observed.message)
    if not_found and in_subprocess and observed.failure.type in {"FileNotFoundError", "PermissionError"}:
        if int(not_found[1]) == errno.ENOENT and ("/" not in not_found[2] or shutil.which(not_found[2])):
            return _missing(os.path.basename(not_found[2]))  # noqa: PTH119 - from a message, not a path of this machine
        return None
    # A shell exits with status 127 when it does not find a program.
    if shell_command := re.search(
        r"Command '\[?['\"]?(?:exec )?([\w./+-]+).*returned non-zero exit status 127", observed.message
    ):
        return _missing(shell_command[1])
    return None


def _missing(name: str) -> Fault:
    if name in {"docker", "podman", "docker-compose"}:
        return make_fault(f"the program '{name}' is missing, and there is no container engine inside the sandbox",
                       "Skip the test if there is none, or use a test double.")  # fmt: skip
    installed_at = shutil.which(name)
    if installed_at and not installed_at.startswith(("/usr/", "/bin/", "/sbin/")):
        return make_fault(
            f"the program '{name}' is missing inside the sandbox, which provides /usr but not {installed_at}",
            f"Install it there: apt install {_DEBIAN.get(name, name)}",
        )
    return make_fault(
        f"the program '{name}' is missing inside the sandbox",
        f"Install it on this machine: apt install {_DEBIAN.get(name, name)}",
    )


def _locale(observed: ObservedFailure) -> Fault | None:
    if "unsupported locale setting" not in observed.message:
        return None
    match = re.search(r"setlocale\([^)]*?['\"]([\w.@-]+)['\"]", observed.nearby_lines() or observed.failure.text)
    name = match[1] if match else "that name"
    command = f"localedef -i {name.partition('.')[0]} -f UTF-8 {name}" if match else "dpkg-reconfigure locales"
    return make_fault(
        f"this machine does not have the locale {name}", f"Create it (as root): apt install locales && {command}"
    )


def _zone(observed: ObservedFailure) -> Fault | None:
    match = re.search(r"No time zone found with key ([\w/+-]+)", observed.message)
    if match is None or match[1] not in zoneinfo.available_timezones():
        return None  # misspelt by the code, as far as this machine's data tells
    return make_fault(
        f"{observed.python} has no data for the time zone {match[1]}",
        f"Install it: {observed.python} -m pip install tzdata",
    )


def _display(observed: ObservedFailure) -> Fault | None:
    match = _DISPLAY.search(observed.message)
    if match is None:
        return None
    toolkits = (
        ("xcb", "QT_QPA_PLATFORM", "offscreen"),
        ("video device", "SDL_VIDEODRIVER", "dummy"),
        ("framework", "MPLBACKEND", "Agg"),
    )
    for word, name, value in toolkits:
        if word in match[0]:
            remedy = f'Run without one: export {name}={value} and set sandbox.env = ["{name}"]'
            return make_fault("the test needs a display, and the sandbox has none", remedy)
    return make_fault(
        "the test needs a display, and the sandbox has none",
        "Let the test start one (pip install pyvirtualdisplay; apt install xvfb), or skip it if DISPLAY is not set.",
    )


def _framework(observed: ObservedFailure) -> Fault | None:
    if _DJANGO.search(observed.message) and observed.failure.type in {"ImproperlyConfigured", "AppRegistryNotReady"}:
        return make_fault(
            "Django settings are not configured in this run",
            f"Install pytest-django ({observed.python} -m pip install pytest-django) and set "
            "`DJANGO_SETTINGS_MODULE` in pytest's configuration.",
        )
    unix = (
        observed.failure.type in {"FileNotFoundError", "ConnectionRefusedError"}
        and "docker.sock" in observed.nearby_lines()
    )
    if unix or (_DOCKER.search(observed.message) and not observed.is_assertion):
        return make_fault(
            "the test needs Docker, whose socket is not available inside the sandbox",
            "Skip the test if there is no engine, or use a test double.",
        )
    return None


def _data(observed: ObservedFailure) -> Fault | None:
    """Models, corpora and browsers that a package downloads separately."""
    if match := re.search(r"Resource \W*(?:\x1b\[\d+m)?(\w+)(?:\x1b\[0m)? not found", observed.message):
        return make_fault(
            f"NLTK's data '{match[1]}' is missing", f"Download it: {observed.python} -m nltk.downloader {match[1]}"
        )
    if match := re.search(r"\[E050\] Can't find model '([\w-]+)'", observed.message):
        return make_fault(
            f"spaCy's model '{match[1]}' is missing", f"Download it: {observed.python} -m spacy download {match[1]}"
        )
    if "Executable doesn't exist at" in observed.message and "playwright" in observed.message:
        return make_fault(
            "Playwright's browsers are missing", f"Download them: {observed.python} -m playwright install"
        )
    return None
