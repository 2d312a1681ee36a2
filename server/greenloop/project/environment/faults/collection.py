"""Explains runs that ended before collection, by pytest's output or by the limit that was hit."""

from __future__ import annotations

import re
from importlib.metadata import metadata, version

from greenloop.project.environment.faults.rows import Fault, Row, first_fault
from greenloop.project.environment.faults.tables import OPTIONS
from greenloop_sandbox import Environment, Execution, collected_cases
from greenloop_sandbox.report.cases import last_stack

_MODULE = re.compile(r"(?:ModuleNotFoundError|ImportError): No module named '([\w.-]+)'")
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
_KILL_ROWS: list[Row[str]] = [
    Row("timeout", "importing the tests took longer than {seconds} s{location}",
        "Allow more time (sandbox.seconds and sandbox.longest), or move that work out of the import."),
    Row("memory", "importing the tests exceeds the memory limit{location}",
        "Allow more (in MiB), for example: sandbox.memory = 4096"),
    Row("processes", "importing the tests exceeds the limit of processes and threads{location}",
        "Allow more, for example: sandbox.processes = 256"),
    Row("disk", "importing the tests fills the sandbox's disk (64 MiB){location}", "Make them write less."),
]
# Read with pytest's output.
_OUTPUT_ROWS: list[Row[str]] = [
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


def explain_start(execution: Execution, environment: Environment) -> Fault | None:
    """The fault of a run that collected nothing, if its output or the limit that stopped it explains it."""
    if collected_cases(execution):
        return None
    frames = last_stack(execution)
    location = f" (at {frames[-1].path}:{frames[-1].line})" if frames else ""
    output = execution.output
    inifile = re.search(r"inifile: (\S+)", output)
    config_file = inifile[1].rpartition("/")[2] if inifile and inifile[1] != "None" else "pytest's configuration"
    return first_fault(
        _KILL_ROWS, execution.killed, output, seconds=f"{execution.seconds:.0f}", location=location
    ) or first_fault(_OUTPUT_ROWS, output, output, python=str(environment.executable), config_file=config_file)


def explain_broken_sandbox(reason: str, environment: Environment) -> Fault | None:
    """The fault behind a sandbox that could not start at all, if the interpreter lacks pytest."""
    if "pytest cannot be imported" not in reason:
        return None
    if not environment.has_pytest:
        python, own, needed = environment.executable, version("pytest"), metadata("pytest")["Requires-Python"]
        return Fault(
            sentence=f"{python} has no pytest, and greenloop's own ({own}) needs Python {needed}.",
            remedy=f"Install it there: {python} -m pip install pytest",
        )
    missing_module = _MODULE.search(reason)
    package = missing_module[1].partition(".")[0] if missing_module else "--force-reinstall pytest"
    return Fault(sentence=reason, remedy=f"Install it there: {environment.executable} -m pip install {package}")
