"""Explains runs that ended before collection, by pytest's output or by the limit that was hit."""

from __future__ import annotations

import re
from collections.abc import Sequence

from greenloop.core.records.sandbox import Environment, Execution
from greenloop.core.report import collected_cases, last_stack
from greenloop.project.environment_faults.observation import Fault, make_fault
from greenloop.project.environment_faults.tables import OPTIONS

_PLUGIN = re.compile(r"Error importing plugin \"([\w.-]+)\": No module named '([\w.-]+)'")
_MODULE = re.compile(r"(?:ModuleNotFoundError|ImportError): No module named '([\w.-]+)'")


def explain_start(execution: Execution, environment: Environment) -> Fault | None:
    """The fault of a run that collected nothing, if its output or the limit that stopped it explains it."""
    if collected_cases(execution):
        return None
    return _stopped(execution) or _printed(execution.output, str(environment.executable))


def _stopped(execution: Execution) -> Fault | None:
    frames = last_stack(execution)
    location = f" (at {frames[-1].path}:{frames[-1].line})" if frames else ""
    if execution.killed == "timeout":
        return make_fault(
            f"importing the tests took longer than {execution.seconds:.0f} s{location}",
            "Allow more time (sandbox.seconds and sandbox.longest), or move that work out of the import.",
        )
    if execution.killed == "memory":
        return make_fault(
            f"importing the tests exceeds the memory limit{location}",
            "Allow more (in MiB), for example: sandbox.memory = 4096",
        )
    if execution.killed == "processes":
        return make_fault(
            f"importing the tests exceeds the limit of processes and threads{location}",
            "Allow more, for example: sandbox.processes = 256",
        )
    if execution.killed == "disk":
        return make_fault(f"importing the tests fills the sandbox's disk (64 MiB){location}", "Make them write less.")
    return None


def _printed(output: str, python: str) -> Fault | None:
    if match := re.search(r"error: unrecognized arguments: (.+)", output):
        return _options(match[1].split(), _configured(output), python)
    if match := re.search(r"error: argument (\S+): (.+)", output):
        clause = f"pytest rejects the option {match[1]} of {_configured(output)} ({match[2]})"
        return make_fault(clause, "Correct `addopts` there.")
    if match := re.search(r"Missing required plugins: ([\w.-]+[^\s,]*)", output):
        return make_fault(
            f"pytest's configuration requires the plugin {match[1]}, which is missing in {python}",
            f"Install it: {python} -m pip install '{match[1]}'",
        )
    if match := re.search(r"'minversion' requires pytest-([\w.]+), actual pytest-([\w.]+)", output):
        return make_fault(
            f"the project requires pytest {match[1]} or newer, and {match[2]} runs here",
            f"Install it: {python} -m pip install 'pytest>={match[1].rstrip(chr(39))}'",
        )
    if match := _PLUGIN.search(output):
        return make_fault(
            f"pytest is configured to load the plugin {match[1]}, which is missing in {python}",
            f"Install its package ({python} -m pip install {match[2].partition('.')[0]}), or remove `-p {match[1]}`.",
        )
    if match := re.search(r"ERROR: (\S+\.(?:ini|cfg|toml)):(\d+: .+|.*[Pp]ars.+)", output):
        return make_fault(f"pytest cannot read {match[1]} ({match[2].strip()})", "Correct that file.")
    return None


def _options(options: Sequence[str], config_file: str, python: str) -> Fault:
    unknown = next((word for word in options if word.startswith("-")), options[0])
    name = unknown.partition("=")[0]
    prefixes = sorted((start for start in OPTIONS if name.startswith(start)), key=len, reverse=True)
    if prefixes:
        plugin = OPTIONS[prefixes[0]]
        return make_fault(
            f"{config_file} gives pytest the option {name} of {plugin}, which is missing in {python}",
            f"Install it: {python} -m pip install {plugin}",
        )
    return make_fault(
        f"{config_file} gives pytest the option {name}, which no plugin in {python} knows",
        f"Install the plugin that has it, or remove {name} from `addopts`.",
    )


def _configured(output: str) -> str:
    match = re.search(r"inifile: (\S+)", output)
    return "pytest's configuration" if match is None or match[1] == "None" else match[1].rpartition("/")[2]


def explain_broken_sandbox(reason: str, environment: Environment) -> Fault | None:
    """The fault behind a sandbox that could not start at all, if the interpreter lacks pytest."""
    if "pytest cannot be imported" in reason:
        python = environment.executable
        missing_module = _MODULE.search(reason)
        package = missing_module[1].partition(".")[0] if missing_module else "pytest"
        force = "" if missing_module else "--force-reinstall "
        return Fault(sentence=reason, remedy=f"Install it there: {python} -m pip install {force}{package}")
    return None
