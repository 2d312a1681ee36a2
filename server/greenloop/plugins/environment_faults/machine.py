"""Faults of the machine: programs, locales, time zones, displays, frameworks, downloaded data."""

from __future__ import annotations

import re
import shutil
import zoneinfo

from greenloop.plugins.environment_faults.observation import ObservedFailure
from greenloop.plugins.environment_faults.rows import Row
from greenloop.plugins.environment_faults.tables import DEBIAN

_DISPLAY = (
    r"no display name and no \$DISPLAY|couldn't connect to display|could not connect to display|NoSuchDisplayException"
    r"|Cannot connect to \"None\"|cannot open display|No available video device|platform plugin \"xcb\""
    r"|requires the '\w+' interactive framework|Unable to open display"
)
# The variable that makes a toolkit run without a display, by a word of its message.
_TOOLKITS = {
    "xcb": ("QT_QPA_PLATFORM", "offscreen"),
    "video device": ("SDL_VIDEODRIVER", "dummy"),
    "framework": ("MPLBACKEND", "Agg"),
}
_DOCKER = r"Error while fetching server API version|Cannot connect to the Docker daemon|docker\.sock"


def _toolkit(_observed: ObservedFailure, match: re.Match[str]) -> dict[str, str] | None:
    return next(({"name": name, "value": value} for word, (name, value) in _TOOLKITS.items() if word in match[0]), None)


def _needs_docker(observed: ObservedFailure, _match: re.Match[str]) -> bool:
    is_unconnected = observed.failure.type in {"FileNotFoundError", "ConnectionRefusedError"}
    return (is_unconnected and "docker.sock" in observed.nearby_lines()) or (
        not observed.is_assertion and re.search(_DOCKER, observed.message) is not None
    )


def _missing_program(observed: ObservedFailure) -> str:
    """The program that was not found, or empty."""
    in_subprocess = any(frame.path.endswith("subprocess.py") for frame in observed.failure.frames)
    path = re.search(r"\[Errno 2\] [^:]+: '([^']+)'", observed.message)
    if path and in_subprocess and observed.failure.type in {"FileNotFoundError", "PermissionError"}:
        return path[1].rpartition("/")[2] if "/" not in path[1] or shutil.which(path[1]) else ""
    # A shell exits with status 127 when it does not find a program.
    command = r"Command '\[?['\"]?(?:exec )?([\w./+-]+).*returned non-zero exit status 127"
    return match[1] if (match := re.search(command, observed.message)) else ""


def _program(observed: ObservedFailure, _match: re.Match[str]) -> dict[str, str] | None:
    name = _missing_program(observed)
    location = shutil.which(name) or ""
    values = {"name": name, "location": location, "package": DEBIAN.get(name, name)}
    if name in {"docker", "podman", "docker-compose"}:
        sentence = "the program '{name}' is missing, and there is no container engine inside the sandbox"
        return {**values, "sentence": sentence, "remedy": "Skip the test if there is none, or use a test double."}
    if location and not location.startswith(("/usr/", "/bin/", "/sbin/")):
        sentence = "the program '{name}' is missing inside the sandbox, which provides /usr but not {location}"
        return {**values, "sentence": sentence, "remedy": "Install it there: apt install {package}"}
    return values if name else None


def _locale(observed: ObservedFailure, _match: re.Match[str]) -> dict[str, str]:
    match = re.search(r"setlocale\([^)]*?['\"]([\w.@-]+)['\"]", observed.nearby_lines() or observed.failure.text)
    if match is None:
        return {"name": "that name", "command": "dpkg-reconfigure locales"}
    return {"name": match[1], "command": f"localedef -i {match[1].partition('.')[0]} -f UTF-8 {match[1]}"}


def _migration(observed: ObservedFailure, _match: re.Match[str]) -> dict[str, str] | None:
    is_migrating = any("/django/db/migrations/" in frame.path for frame in observed.failure.frames)
    return {"type": observed.failure.type} if is_migrating and observed.own_frame is None else None


# fmt: off
DISPLAY_ROWS: list[Row[ObservedFailure]] = [
    Row(_DISPLAY, "the test needs a display, and the sandbox has none",
        'Run without one: export {name}={value} and set sandbox.env = ["{name}"]', _toolkit),
    Row(_DISPLAY, "the test needs a display, and the sandbox has none",
        "Let the test start one (pip install pyvirtualdisplay; apt install xvfb), or skip it if DISPLAY is not set."),
    Row("settings are not configured|Apps aren't loaded yet|DJANGO_SETTINGS_MODULE",
        "Django settings are not configured in this run",
        "Install pytest-django ({python} -m pip install pytest-django) and set "
        "`DJANGO_SETTINGS_MODULE` in pytest's configuration.",
        lambda observed, _match: observed.failure.type in {"ImproperlyConfigured", "AppRegistryNotReady"}),
    Row("^(?P<reason>.*)", "the migrations of Django fail ({type}: {reason})",
        "Correct the migration that this names: {python} manage.py migrate, with an empty database.", _migration),
    Row("", "the test needs Docker, whose socket is not available inside the sandbox",
        "Let greenloop start its containers, sandbox.services = ['docker:IMAGE'], and take their address from the "
        "environment; or skip the test if there is no engine.", _needs_docker),
]
ROWS: list[Row[ObservedFailure]] = [
    Row("", "the program '{name}' is missing inside the sandbox",
        "Install it on this machine: apt install {package}", _program),
    Row("unsupported locale setting", "this machine does not have the locale {name}",
        "Create it (as root): apt install locales && {command}", _locale),
    # A name that this machine's data does not have either was misspelt by the code.
    Row(r"No time zone found with key (?P<zone>[\w/+-]+)", "{python} has no data for the time zone {zone}",
        "Install it: {python} -m pip install tzdata",
        lambda _observed, match: match["zone"] in zoneinfo.available_timezones()),
    # Corpora, models and browsers, which a package downloads separately.
    Row(r"Resource \W*(?:\x1b\[\d+m)?(?P<name>\w+)(?:\x1b\[0m)? not found", "NLTK's data '{name}' is missing",
        "Download it: {python} -m nltk.downloader {name}"),
    Row(r"\[E050\] Can't find model '(?P<name>[\w-]+)'", "spaCy's model '{name}' is missing",
        "Download it: {python} -m spacy download {name}"),
    Row("Executable doesn't exist at", "Playwright's browsers are missing",
        "Download them: {python} -m playwright install",
        lambda observed, _match: "playwright" in observed.message),
]
# fmt: on
