"""What a machine has or has not: programs, locales, time zones, a display, a configured framework, downloaded data."""

from __future__ import annotations

import errno
import os
import re
import shutil
import zoneinfo

from greenloop.faults.seen import Fault, Seen, because

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


def check(seen: Seen) -> Fault | None:
    """What this machine lacks."""
    if seen.raised:
        return None
    if fault := _display(seen) or _framework(seen):
        return fault
    return None if seen.asserted else _program(seen) or _locale(seen) or _zone(seen) or _data(seen)


def _program(seen: Seen) -> Fault | None:
    started = any(frame.path.endswith("subprocess.py") for frame in seen.failure.frames)
    absent = re.search(r"\[Errno (\d+)\] [^:]+: '([^']+)'", seen.message)
    if absent and started and seen.failure.type in {"FileNotFoundError", "PermissionError"}:
        if int(absent[1]) == errno.ENOENT and ("/" not in absent[2] or shutil.which(absent[2])):
            return _missing(os.path.basename(absent[2]))  # noqa: PTH119 - a word, not a path of this machine
        return None
    # A shell found none: status 127 is what it says then.
    if shell := re.search(r"Command '\[?['\"]?(?:exec )?([\w./+-]+).*returned non-zero exit status 127", seen.message):
        return _missing(shell[1])
    return None


def _missing(name: str) -> Fault:
    if name in {"docker", "podman", "docker-compose"}:
        return because(f"the program '{name}' is not there, and tests have no container engine inside the sandbox",
                       "Mark the test to be skipped where there is none, or let it use a stand-in.")  # fmt: skip
    where = shutil.which(name)
    if where and not where.startswith(("/usr/", "/bin/", "/sbin/")):
        return because(
            f"the program '{name}' is missing inside the sandbox, which shows /usr and not {where}",
            f"Install it there: apt install {_DEBIAN.get(name, name)}",
        )
    return because(
        f"the program '{name}' is missing inside the sandbox",
        f"Install it on this machine: apt install {_DEBIAN.get(name, name)}",
    )


def _locale(seen: Seen) -> Fault | None:
    if "unsupported locale setting" not in seen.message:
        return None
    named = re.search(r"setlocale\([^)]*?['\"]([\w.@-]+)['\"]", seen.line() or seen.failure.text)
    name = named[1] if named else "that name"
    make = f"localedef -i {name.partition('.')[0]} -f UTF-8 {name}" if named else "dpkg-reconfigure locales"
    return because(f"this machine has no locale of {name}", f"Make it (as root): apt install locales && {make}")


def _zone(seen: Seen) -> Fault | None:
    match = re.search(r"No time zone found with key ([\w/+-]+)", seen.message)
    if match is None or match[1] not in zoneinfo.available_timezones():
        return None  # misspelt by the code, as far as this machine knows
    return because(
        f"{seen.python} finds no data of the time zone {match[1]}", f"Install it: {seen.python} -m pip install tzdata"
    )


def _display(seen: Seen) -> Fault | None:
    match = _DISPLAY.search(seen.message)
    if match is None:
        return None
    toolkits = (
        ("xcb", "QT_QPA_PLATFORM", "offscreen"),
        ("video device", "SDL_VIDEODRIVER", "dummy"),
        ("framework", "MPLBACKEND", "Agg"),
    )
    for word, name, value in toolkits:
        if word in match[0]:
            remedy = f'Do without: export {name}={value} and set sandbox.env = ["{name}"]'
            return because("the test needs a display, and there is none inside the sandbox", remedy)
    return because(
        "the test needs a display, and there is none inside the sandbox",
        "Let the test start one (pip install pyvirtualdisplay; apt install xvfb), or skip it where DISPLAY is not set.",
    )


def _framework(seen: Seen) -> Fault | None:
    if _DJANGO.search(seen.message) and seen.failure.type in {"ImproperlyConfigured", "AppRegistryNotReady"}:
        return because(
            "Django has no settings in this run",
            f"Install pytest-django ({seen.python} -m pip install pytest-django) and set "
            "`DJANGO_SETTINGS_MODULE` in pytest's configuration.",
        )
    unix = seen.failure.type in {"FileNotFoundError", "ConnectionRefusedError"} and "docker.sock" in seen.line()
    if unix or (_DOCKER.search(seen.message) and not seen.asserted):
        return because(
            "the test needs Docker, whose socket tests cannot reach inside the sandbox",
            "Mark the test to be skipped where there is no engine, or let it use a stand-in.",
        )
    return None


def _data(seen: Seen) -> Fault | None:
    """Models, corpora and browsers that a package fetches apart."""
    if match := re.search(r"Resource \W*(?:\x1b\[\d+m)?(\w+)(?:\x1b\[0m)? not found", seen.message):
        return because(f"NLTK's data '{match[1]}' is missing", f"Fetch it: {seen.python} -m nltk.downloader {match[1]}")
    if match := re.search(r"\[E050\] Can't find model '([\w-]+)'", seen.message):
        return because(
            f"spaCy's model '{match[1]}' is missing", f"Fetch it: {seen.python} -m spacy download {match[1]}"
        )
    if "Executable doesn't exist at" in seen.message and "playwright" in seen.message:
        return because("Playwright's browsers are missing", f"Fetch them: {seen.python} -m playwright install")
    return None
