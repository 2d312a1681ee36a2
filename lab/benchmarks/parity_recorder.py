"""A pytest plugin for lab/benchmarks/parity.py: records each phase in the form of greenloop's reports.

It is copied into a folder of its own before it is used, so that nothing else of this folder can be imported by tests.
"""

# It runs with the tests of other projects, as early as possible.
# ruff: noqa: PTH100, PTH120, PTH123

import json
import os
import sys

_FOLDER = os.path.dirname(os.path.abspath(__file__))
_OUT = open(os.environ.pop("GREENLOOP_PARITY_OUT", os.devnull), "w", encoding="utf-8")  # noqa: SIM115
os.environ.pop("PYTEST_PLUGINS", None)  # how this was found; pytest-xdist's processes do without
# Tests and what they start see the environment that they would see without this plugin.
sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry) != _FOLDER]
_rest = [entry for entry in os.environ.pop("PYTHONPATH", "").split(os.pathsep) if entry and entry != _FOLDER]
if _rest:
    os.environ["PYTHONPATH"] = os.pathsep.join(_rest)


def record(**fields):
    _OUT.write(json.dumps(fields) + "\n")
    _OUT.flush()


def phase(case, when, outcome, message="", wasxfail=None):
    record(kind="phase", id=case, when=when, outcome=outcome, wasxfail=wasxfail, message=message[-2000:])


def pytest_runtest_logstart(nodeid):
    record(kind="begin", id=nodeid)


def pytest_collectreport(report):
    if report.failed:
        record(kind="collect_error", id=report.nodeid, message=str(report.longrepr)[-500:])


def pytest_runtest_logreport(report):
    message = "" if report.passed else str(report.longrepr)
    phase(report.nodeid, report.when, report.outcome, message, getattr(report, "wasxfail", None))


def pytest_sessionfinish(exitstatus):
    record(kind="finished", status=int(exitstatus))


def pytest_unconfigure():
    _OUT.close()
