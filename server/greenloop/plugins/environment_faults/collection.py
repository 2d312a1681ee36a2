"""Faults of runs that ended before collection, by pytest's output or by the limit that was hit."""

from __future__ import annotations

import re

from greenloop.plugins.environment_faults.rows import Row
from greenloop.plugins.environment_faults.tables import OPTIONS

_UNRECOGNIZED = r"error: unrecognized arguments: (?P<options>.+)"


def _option(_output: str, match: re.Match[str]) -> dict[str, str]:
    options = match["options"].split()
    return {"option": next((word for word in options if word.startswith("-")), options[0]).partition("=")[0]}


def _plugin_option(output: str, match: re.Match[str]) -> dict[str, str] | None:
    values = _option(output, match)
    prefix = max((start for start in OPTIONS if values["option"].startswith(start)), key=len, default=None)
    return {**values, "plugin": OPTIONS[prefix]} if prefix else None


# fmt: off
# Read with the reason for which the run was killed.
KILL_ROWS: list[Row[str]] = [
    Row("timeout", "importing the tests took longer than {seconds} s{location}",
        "Allow more time (sandbox.seconds and sandbox.longest), or move that work out of the import."),
    Row("memory", "importing the tests exceeds the memory limit{location}",
        "Allow more (in MiB), for example: sandbox.memory = 4096"),
    Row("processes", "importing the tests exceeds the limit of processes and threads{location}",
        "Allow more, for example: sandbox.processes = 256"),
    Row("disk", "importing the tests fills the sandbox's disk (64 MiB){location}", "Make them write less."),
]
# Read with pytest's output.
OUTPUT_ROWS: list[Row[str]] = [
    Row(_UNRECOGNIZED, "{config_file} gives pytest the option {option} of {plugin}, which is missing in {python}",
        "Install it: {python} -m pip install {plugin}", _plugin_option),
    Row(_UNRECOGNIZED, "{config_file} gives pytest the option {option}, which no plugin in {python} knows",
        "Install the plugin that has it, or remove {option} from `addopts`.", _option),
    Row(r"error: argument (?P<option>\S+): (?P<reason>.+)",
        "pytest rejects the option {option} of {config_file} ({reason})", "Correct `addopts` there."),
    Row(r"Missing required plugins: (?P<plugin>[\w.-]+[^\s,]*)",
        "pytest's configuration requires the plugin {plugin}, which is missing in {python}",
        "Install it: {python} -m pip install '{plugin}'"),
    Row(r"'minversion' requires pytest-(?P<required>[\w.]+), actual pytest-(?P<actual>[\w.]+)",
        "the project requires pytest {required} or newer, and {actual} runs here",
        "Install it: {python} -m pip install 'pytest>={required}'"),
    Row(r"Error importing plugin \"(?P<plugin>[\w.-]+)\": No module named '(?P<package>[\w-]*)[\w.-]*'",
        "pytest is configured to load the plugin {plugin}, which is missing in {python}",
        "Install its package ({python} -m pip install {package}), or remove `-p {plugin}`."),
    Row(r"ERROR: (?P<file>\S+\.(?:ini|cfg|toml)):(?P<reason>\d+: .+|.*[Pp]ars.+)",
        "pytest cannot read {file} ({reason})", "Correct that file.",
        lambda _output, match: {"reason": match["reason"].strip()}),
]
# fmt: on
